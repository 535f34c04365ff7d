"""Arms against each other, on histories with known answers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from scipy import stats

from autoinit.errors import OptionError
from autoinit.labs.codeepneat.results import Course, compare
from autoinit.labs.codeepneat.results.comparison import effect
from autoinit.labs.codeepneat.results.tables import text
from tests.labs.codeepneat.made_up import course


def finals(arm: str, *values: float, task: str = "toy") -> list[Course]:
    """One search of one generation per seed, with this best fitness."""
    return [course(arm, seed, [[value, value / 2]], task=task, test=value) for seed, value in enumerate(values)]


def test_the_course_of_a_search() -> None:
    one = course("evolved", 0, [[0.2, 0.6], [0.5, 0.9], [0.3, 0.7], [0.4, 0.4]])
    assert one.best_so_far == (0.6, 0.9, 0.9, 0.9)
    assert one.means == pytest.approx((0.4, 0.7, 0.5, 0.4))
    assert one.drops == pytest.approx((0.0, 0.2, 0.1)) and one.mean_drop == pytest.approx(0.1)
    assert one.upto(2).drops == pytest.approx((0.0,)) and one.upto(9) is one
    assert course("evolved", 0, [[0.2]]).mean_drop is None
    assert course("evolved", 0, [[0.5, 0.3], [0.7, 0.1]]).drops == (0.0,), "what rounding leaves is no fall"


def test_a_clear_win() -> None:
    (found,) = compare([*finals("evolved", 0.80, 0.81, 0.82), *finals("autoinit", 0.83, 0.84, 0.85)]).contrasts
    best = found.best
    assert (found.first, found.second, best.verdict, best.better) == ("evolved", "autoinit", "better", 1.0)
    assert best.difference == pytest.approx(0.03)
    assert best.mann_whitney.p == pytest.approx(1 / 20), "one of the 20 orders of three and three"
    assert best.wilcoxon.p == pytest.approx(1 / 8), "one of the 8 signs of three pairs"
    assert best.hedges == pytest.approx(3 * (1 - 3 / 15)), "three deviations of 0.01, corrected for six runs"
    assert (best.shared, best.ahead, best.behind) == (3, 3, 0)
    assert found.test is not None and found.test.verdict == "better"
    assert (found.higher, found.lower, found.generations) == (1, 0, 1) and found.drop is None


@pytest.mark.parametrize(
    ("second", "better", "verdict"),
    [
        ((0.7, 0.8, 0.9), 0.5, "equal"),
        ((0.6, 0.65, 0.69), 0.0, "worse"),
        ((0.75, 0.85, 0.95), 6 / 9, "equal"),
        ((0.85, 0.85, 0.95), 7 / 9, "better"),
    ],
)
def test_verdicts_follow_from_the_effect_size(second: tuple[float, ...], better: float, verdict: str) -> None:
    first = dict(enumerate((0.7, 0.8, 0.9)))
    found = effect("best fitness", first, dict(enumerate(second)))
    assert found.better == pytest.approx(better) and found.verdict == verdict
    u = stats.mannwhitneyu(second, list(first.values())).statistic
    assert found.better == pytest.approx(u / 9)


def test_lower_is_better_where_it_is() -> None:
    found = effect("mean drop", {0: 0.3, 1: 0.2}, {0: 0.1, 1: 0.15}, higher=False)
    assert found.verdict == "better" and found.difference == pytest.approx(-0.125)
    assert found.hedges is not None and found.hedges > 0 and (found.ahead, found.behind) == (2, 0)


def test_populations_that_fall() -> None:
    steady = [course("autoinit", seed, [[0.3], [0.4], [0.5]]) for seed in range(3)]
    shaky = [course("evolved", seed, [[0.3], [0.5], [0.1 * seed]]) for seed in range(3)]
    (found,) = compare([*steady, *shaky]).contrasts
    assert found.drop is not None and found.drop.verdict == "better"
    assert found.drop.first == pytest.approx((0.25, 0.2, 0.15)) and found.drop.second == (0, 0, 0)


def test_the_same_first_networks_are_compared_in_pairs() -> None:
    low, high = [[0.1 * k for k in range(8)]], [[0.1 * k + 0.01 + 0.001 * k for k in range(8)]]
    (found,) = compare([course("evolved", 0, low), course("autoinit", 0, high)]).contrasts
    assert found.same is not None and (found.same.networks, found.same.ahead, found.same.behind) == (8, 8, 0)
    assert found.same.wilcoxon.p == pytest.approx(1 / 2**8)
    (found,) = compare([course("evolved", 0, low), course("autoinit", 1, high)]).contrasts
    assert found.same is None and found.best.wilcoxon.note == "no seed is in both arms"


def test_searches_of_unlike_length_are_compared_where_both_are() -> None:
    long = course("evolved", 0, [[0.3], [0.4], [0.9]], test=0.9)
    short = course("autoinit", 0, [[0.3], [0.5]], test=0.5)
    (found,) = compare([long, short]).contrasts
    assert (found.generations, found.best.first, found.best.second) == (2, (0.4,), (0.5,))
    assert (found.higher, found.lower) == (1, 0)
    assert found.test is None, "the test of the longer one belongs to what comes later"


def test_all_tasks_together() -> None:
    ups = [one for task in ("a", "b") for arm, more in (("evolved", 0.0), ("autoinit", 0.01))
           for one in finals(arm, 0.5 + more, 0.6 + more, 0.7 + more, task=task)]  # fmt: skip
    found = compare(ups)
    assert [one.task for one in found.contrasts] == ["a", "b"]
    ((arm, overall),) = found.overall
    assert arm == "autoinit" and overall.p == pytest.approx(2 / 2**6)
    told = text(found)
    assert "higher best fitness in 6 pairs of runs, lower in 0; p = 0.0312" in told and "a (cpu): evolved" in told
    assert json.loads(json.dumps(found.to_dict()))["contrasts"][0]["best"]["verdict"] == "equal"


def test_several_arms_against_the_evolved() -> None:
    runs = [*finals("autoinit", 0.5), *finals("lsuv", 0.6), *finals("evolved", 0.4)]
    assert [(one.first, one.second) for one in compare(runs).contrasts] == [
        ("evolved", "autoinit"), ("evolved", "lsuv"),
    ]  # fmt: skip


def test_equal_runs_have_no_p() -> None:
    (found,) = compare([*finals("evolved", 0.5, 0.5), *finals("autoinit", 0.5, 0.5)]).contrasts
    assert found.best.mann_whitney.p is None and found.best.hedges is None and found.best.verdict == "equal"
    assert "every seed has the same best fitness with both" in found.best.wilcoxon.note


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        ([], "no runs"),
        (finals("evolved", 0.5), "toy: evolved"),
        (finals("evolved", 0.5) + finals("autoinit", 0.5, task="other"), "toy: evolved; other: autoinit"),
        (finals("evolved", 0.5) * 2, "two runs are of the same task.*seed 0"),
        ([*finals("evolved", 0.5), replace(finals("autoinit", 0.5)[0], preset="smoke")], "compared within a task"),
    ],
)
def test_what_cannot_be_compared(runs: list[Course], why: str) -> None:
    with pytest.raises(OptionError, match=f"(?s){why}"):
        compare(runs)
