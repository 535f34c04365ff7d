"""Which steps are looked at."""

from __future__ import annotations

import pytest

from autoinit.errors import OptionError
from autoinit.watching.schedule import schedule


def looked_at(given, upto=25, stride=1):
    when = schedule(**given)
    before, found = -1, []
    for step in range(0, upto, stride):
        if when.due(step, before):
            found.append(step)
        before = step
    return found


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [0, 1, 10]),
        ({"steps": (0, 3)}, [0, 3]),
        ({"steps": 4}, [4]),
        ({"first": 3}, [0, 1, 2]),
        ({"every": 10}, [0, 10, 20]),
        ({"first": 2, "every": 10}, [0, 1, 10, 20]),
        ({"steps": (7,), "first": 2, "every": 20}, [0, 1, 7, 20]),
    ],
)
def test_chosen_steps(given, expected):
    assert looked_at(given) == expected


def test_a_loop_that_reports_several_steps_at_once_misses_none():
    assert looked_at({"steps": (0, 1, 10)}, stride=8) == [0, 8, 16]


def test_the_end_is_known():
    assert not schedule(steps=(0, 5)).over(4) and schedule(steps=(0, 5)).over(5)
    assert not schedule(every=10).over(10**9)


@pytest.mark.parametrize(
    "given", [{"steps": (-1,)}, {"steps": (0.5,)}, {"first": 0}, {"every": "ten"}, {"first": True}]
)
def test_what_makes_no_sense_is_refused(given):
    with pytest.raises(OptionError, match="takes"):
        schedule(**given)
