"""The statistics of discovery: against hand counts, against SciPy on raw arrays, and under the null hypothesis."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb, sqrt

import numpy as np
import pytest
from scipy import stats

from autoinit.errors import OptionError
from autoinit.labs.pangaea.statistics import DRAWS, Edf, Gap, compare
from autoinit.labs.pangaea.trials import Chance, Trial


def trials(initialization: str, accuracies, *, first: int = 0) -> list[Trial]:
    return [Trial(f"f{k}", f"k{k}", initialization, float(a)) for k, a in enumerate(accuracies, first)]


def pair(x, y, *, shared: bool = True, size: int = 5000):
    """The contrast default → AutoInit of accuracies x and y."""
    second = trials("autoinit", y, first=0 if shared else len(x))
    return compare([*trials("default", x), *second], 10, size, 0.8).contrast("default", "autoinit")


# --- distributions ---------------------------------------------------------------------------------------


def test_the_edf_counts_strictly_smaller_errors() -> None:
    edf = Edf.of([0.9, 0.8, 0.8, 0.7])
    assert [edf(e) for e in (0.1, 0.2, 0.2001, 0.3, 0.31)] == [0, 0.25, 0.75, 0.75, 1]
    assert list(edf(np.array([0.0, 1.0]))) == [0, 1]


@pytest.mark.parametrize("seed", range(20))
def test_the_gap_is_the_kolmogorov_smirnov_statistic_and_is_attained(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = (np.round(rng.normal(0.5, 0.1, n).clip(0, 1), rng.integers(1, 4)) for n in rng.integers(5, 60, 2))
    one, two = Edf.of(x), Edf.of(y)
    gap = Gap.between(one, two)
    assert gap.size == pytest.approx(stats.ks_2samp(x, y).statistic, abs=1e-12)
    for e in (gap.upto, (gap.above + gap.upto) / 2):
        assert abs(one(e) - two(e)) == pytest.approx(gap.size) or gap.size == 0


# --- failures --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("classes", "size"), [(10, 300), (10, 1000), (2, 100), (3, 50)])
def test_the_threshold_is_the_first_count_that_guessing_reaches_less_than_once_in_a_thousand(classes, size) -> None:
    def tail(k: int) -> Fraction:
        return sum(Fraction(comb(size, j) * (classes - 1) ** (size - j), classes**size) for j in range(k, size + 1))

    k = round(Chance(classes, size).threshold * size)
    assert tail(k) < Fraction(1, 1000) <= tail(k - 1)


def test_guessing_is_hardly_ever_taken_for_learning() -> None:
    chance, n = Chance(10, 5000), 20_000
    hits = np.random.default_rng(0).binomial(5000, 0.1, n)
    learned = sum(chance.cause(Trial("f", "k", "default", float(h / 5000))) is None for h in hits)
    assert learned <= n * 1e-3 + 5 * sqrt(n * 1e-3)
    assert chance.cause(Trial("f", "k", "default", 0.12)) is None  # 4.7 standard deviations above chance


def test_a_set_too_small_to_tell_has_no_successes() -> None:
    chance = Chance(2, 5)  # even five of five happen once in 32
    assert chance.threshold > 1 and chance.cause(Trial("f", "k", "default", 1.0)) == "chance"


@pytest.mark.parametrize(
    ("trial", "cause"),
    [
        (Trial("f", "k", "default", None, "time"), "time"),
        (Trial("f", "k", "default", None, "memory"), "memory"),
        (Trial("f", "k", "default", None, "crashed"), "crashed"),
        (Trial("f", "k", "default", None, "error"), "error"),
        (Trial("f", "k", "default", 0.9, diverged=True), "diverged"),
        (Trial("f", "k", "default", float("nan")), "diverged"),
        (Trial("f", "k", "default", None), "diverged"),
        (Trial("f", "k", "default", 0.1), "chance"),
        (Trial("f", "k", "default", 0.11), "chance"),
        (Trial("f", "k", "default", 0.5), None),
    ],
)
def test_causes_and_what_counts(trial: Trial, cause: str | None) -> None:
    chance = Chance(10, 5000)
    assert chance.cause(trial) == cause
    assert chance.counted(trial) == (0.1 if cause else 0.5)


def test_single_precision_makes_no_difference() -> None:
    found = pair(np.float32([0.7, 0.3, 0.1]).astype(float), [0.7, 0.3, 0.1])
    assert found.gap.size == 0 and found.wilcoxon.p is None and found.better == 0.5


def test_counts() -> None:
    given = [
        *trials("default", [0.9, 0.8001, 0.8, 0.12, 0.11, 0.1, 0.09]),
        Trial("g", "g", "default", None, "time"),
        Trial("h", "h", "default", 0.95, diverged=True),
    ]
    only = compare(given, 10, 5000, 0.8).summary("default")
    assert (only.functions, only.failures, only.at_chance, only.above_baseline) == (9, 5, 4, 2)
    assert only.causes == {"chance": 3, "time": 1, "diverged": 1}
    assert (only.median, only.best, only.best_formula) == (0.1, 0.9, "f0")


# --- tests -----------------------------------------------------------------------------------------------


def test_they_are_the_tests_of_scipy_on_the_accuracies() -> None:
    rng = np.random.default_rng(1)
    x, y = (np.round(rng.uniform(low, 0.9, 80), 4) for low in (0.2, 0.3))
    found = pair(x, y)
    assert found.kolmogorov_smirnov.p == pytest.approx(stats.ks_2samp(x, y).pvalue)
    assert found.epps_singleton.p == pytest.approx(stats.epps_singleton_2samp(x, y).pvalue)
    assert found.mann_whitney.p == pytest.approx(stats.mannwhitneyu(x, y, alternative="less").pvalue)
    assert found.wilcoxon.p == pytest.approx(stats.wilcoxon(y, x, alternative="greater").pvalue, rel=1e-6)


def test_better_is_a_probability_with_ties_as_halves() -> None:
    assert pair([0.2, 0.3], [0.4, 0.5]).better == 1
    assert pair([0.2, 0.3], [0.2, 0.5]).better == pytest.approx((0.5 + 1 + 0 + 1) / 4)


def test_dominates_looks_at_every_level() -> None:
    assert pair([0.2, 0.3, 0.4], [0.2, 0.3, 0.5]).dominates
    assert not pair([0.2, 0.3, 0.4], [0.19, 0.6, 0.7]).dominates


def test_one_sided_tests_have_a_direction() -> None:
    x = np.linspace(0.2, 0.6, 40)
    up, down = pair(x, x + 0.1), pair(x + 0.1, x)
    assert up.mann_whitney.p < 0.01 < 0.99 < down.mann_whitney.p
    assert up.wilcoxon.p < 1e-6 < 1 - 1e-6 < down.wilcoxon.p


def test_pairs_see_what_independent_samples_do_not() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0.2, 0.9, 100)
    y = x + rng.normal(0.01, 0.01, 100)  # z of the mean difference: 10; beside a scatter of 0.2 between functions: 0.35
    found, apart = pair(x, y), pair(x, y, shared=False)
    assert found.wilcoxon.p < 1e-6 and found.mann_whitney.p > 0.05
    assert apart.wilcoxon.p is None and "trained with both" in apart.wilcoxon.note
    assert apart.mann_whitney.p == found.mann_whitney.p
    assert apart.failures.shared == 0 and apart.failures.mcnemar.p is None


def test_few_shared_functions_do_not_make_pairs() -> None:
    x, y = trials("default", [0.5] * 10), trials("autoinit", [0.6] * 10, first=8)
    assert compare([*x, *y], 10, 5000, 0.8).contrasts[0].failures.shared == 0
    y = trials("autoinit", [0.6] * 10, first=5)
    assert compare([*x, *y], 10, 5000, 0.8).contrasts[0].failures.shared == 5


def test_p_values_are_right_under_the_null_hypothesis() -> None:
    """Both initializations equal but for noise, a third of the functions failing: p < 0.2 in a fifth of the cases."""
    rng, level, repeats = np.random.default_rng(3), 0.2, 120
    ranks, independent = 0, 0
    for _ in range(repeats):
        level_of = np.where(rng.random(60) < 1 / 3, 0.1, rng.uniform(0.3, 0.9, 60))
        x, y = (np.where(level_of > 0.1, level_of + rng.normal(0, 0.02, 60), 0.1) for _ in range(2))
        ranks += pair(x, y).wilcoxon.p < level
        x, y = (np.where(rng.random(60) < 1 / 3, 0.1, rng.uniform(0.3, 0.9, 60)) for _ in range(2))
        independent += pair(x, y, shared=False).mann_whitney.p < level
    bound = 4 * sqrt(repeats * level * (1 - level))
    assert abs(ranks - repeats * level) < bound
    assert abs(independent - repeats * level) < bound


def test_what_cannot_be_computed_says_why() -> None:
    mostly_failed = [0.1] * 18 + [0.5, 0.6]
    found = pair(mostly_failed, mostly_failed[::-1])
    assert found.epps_singleton.p is None and "no scale" in found.epps_singleton.note
    assert found.kolmogorov_smirnov.p == 1
    same = pair([0.1] * 10, [0.1] * 10)
    assert same.mann_whitney.p is None and same.mann_whitney.note == "all accuracies are equal"
    assert same.wilcoxon.p is None and "same accuracy" in same.wilcoxon.note
    assert same.failures.mcnemar.p is None and "same functions failed" in same.failures.mcnemar.note
    few = pair([0.5, 0.6, 0.7], [0.2, 0.3, 0.4])
    assert few.epps_singleton.p is None and few.epps_singleton.note


# --- failures of two initializations ---------------------------------------------------------------------


def test_mcnemar_by_hand() -> None:
    change = pair([0.1] * 5 + [0.5] + [0.1, 0.5], [0.5] * 5 + [0.1] + [0.1, 0.5]).failures
    assert (change.difference, change.avoided, change.added, change.shared) == (4, 5, 1, 8)
    assert change.mcnemar.p == pytest.approx(2 * (comb(6, 5) + comb(6, 6)) / 2**6)


def test_the_bootstrap_of_pairs_is_that_of_resampled_functions() -> None:
    x, y = [0.1] * 30 + [0.5] * 10 + [0.1] * 60, [0.5] * 30 + [0.1] * 10 + [0.1] * 60
    change = pair(x, y).failures
    steps = np.array([1] * 30 + [-1] * 10 + [0] * 60)
    drawn = np.random.default_rng(5).choice(steps, (DRAWS, 100)).sum(1)
    # A quantile of DRAWS draws scatters by √(q(1−q)/DRAWS)/density: 0.16 here; counts are whole numbers.
    assert [change.low, change.high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=1.01)
    wide = pair(x, y, shared=False).failures
    assert wide.difference == change.difference == 20
    assert wide.high - wide.low == pytest.approx(2 * 1.96 * sqrt(30), abs=2.01)  # 90 and 70 of 100: σ² = 9 + 21


def test_the_seed_decides_the_bootstrap() -> None:
    given = [*trials("default", [0.1] * 20 + [0.5] * 21), *trials("autoinit", [0.5] * 20 + [0.1] * 2 + [0.5] * 19)]
    assert compare(given, 10, 5000, 0.8) == compare(given, 10, 5000, 0.8)


# --- the whole -------------------------------------------------------------------------------------------


def like_the_paper() -> list[Trial]:
    """Failures and functions above the baseline as in the paper, of nested sets of functions."""
    found = []
    for name, failed, above in (("default", 149, 22), ("autoinit", 130, 26), ("autoinit++", 117, 50)):
        found += trials(name, [0.9] * above + list(np.linspace(0.85, 0.3, 200 - failed - above)) + [0.1] * failed)
    return found


def test_the_papers_counts_and_conclusions() -> None:
    result = compare(like_the_paper(), 10, 5000, 0.891)
    assert [(s.failures, s.above_baseline) for s in result.summaries] == [(149, 22), (130, 26), (117, 50)]
    assert [(c.first, c.second) for c in result.contrasts] == [
        ("default", "autoinit"), ("default", "autoinit++"), ("autoinit", "autoinit++"),
    ]  # fmt: skip
    last = result.contrast("default", "autoinit++")
    assert last.gap.size >= (149 - 117) / 200 and last.dominates
    assert last.mann_whitney.p < 0.01 and last.failures.low > 0
    assert result.contrast("autoinit++", "default") is None


def test_everything_is_plain_data() -> None:
    result = compare(like_the_paper(), 10, 5000, 0.891)
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert json.loads(text)["contrasts"][1]["failures"]["mcnemar"]["p"] == result.contrasts[1].failures.mcnemar.p
    assert json.loads(text)["summaries"][0] == result.summaries[0].to_dict()
    assert json.dumps([c.to_dict() for c in result.contrasts]) and like_the_paper()[0].to_dict()["accuracy"] == 0.9


def test_one_initialization_alone_has_no_contrasts() -> None:
    result = compare(trials("autoinit", [0.5]), 10, 5000, 0.8)
    assert not result.contrasts and result.summary("default") is None and result.summary("autoinit").functions == 1


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Trial("f", "k", "he", 0.5), "unknown initialization"),
        (lambda: Trial("f", "k", "default", 0.5, "finished"), "unknown status"),
        (lambda: Trial("f", "k", "default", 89.1), "divide percentages by 100"),
        (lambda: compare([], 10, 5000, 0.8), "there are no trials"),
        (lambda: compare(trials("default", [0.5]), 1, 5000, 0.8), "'classes' takes an integer of at least 2"),
        (lambda: compare(trials("default", [0.5]), 10, 0.2, 0.8), "'validation_size' takes an integer"),
        (lambda: compare(trials("default", [0.5]), 10, 5000, 89.1), "between 0 and 1"),
        (lambda: compare(trials("default", [0.5]) * 2, 10, 5000, 0.8), "two trials of one function"),
    ],
)
def test_what_is_refused(make, text: str) -> None:
    with pytest.raises(OptionError, match=text):
        make()
