"""The budget of a walk."""

import math

import pytest

from autoinit.core.options import read_options
from autoinit.errors import OptionError, TraceError
from autoinit.frontends.budget import Budget


def test_ops_run_out():
    budget = Budget.start(read_options({"max_ops": 3}))
    for _ in range(3):
        budget.spend()
    with pytest.raises(TraceError, match="after 3 ops") as error:
        budget.spend("layer 'solver'")
    assert error.value.where == "layer 'solver'" and "max_ops" in error.value.fix


def test_seconds_run_out():
    budget = Budget.start(read_options({"max_seconds": 1e-9}))
    with pytest.raises(TraceError, match="seconds") as error:
        budget.spend()
    assert "max_seconds" in error.value.fix


def test_without_limits():
    budget = Budget.start(read_options({"max_ops": math.inf, "max_seconds": math.inf}))
    for _ in range(1000):
        budget.spend()
    assert budget.spent == 1000


@pytest.mark.parametrize("name", ["max_ops", "max_seconds"])
@pytest.mark.parametrize("value", [0, -1, math.nan, True, "10", None, [1]])
def test_limits_are_positive_numbers(name, value):
    with pytest.raises(OptionError, match="a positive number") as error:
        read_options({name: value})
    assert error.value.where == f"option '{name}'"
