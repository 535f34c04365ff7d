"""Softmax moments against the two-entry case (a sigmoid), limits, and sampling."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from autoinit.core.gaussian.expression import X, apply
from autoinit.core.gaussian.integrals import analyse
from autoinit.core.gaussian.softmax_moments import logsumexp_moments, pair_moments

SIGMOID = apply("sigmoid", X)


def sum_of_squares(n: float, variance: float) -> float:
    """P₂ = E[Σp²]: n E[p_i p'_i] of a row with itself."""
    return n * float(pair_moments(n, variance, np.array([variance]))[0])


@pytest.mark.parametrize("variance", [1e-12, 1e-4, 0.01, 0.2, 0.26, 1.0, 4.0, 100.0, 1e4, 1e6])
def test_two_entries_are_a_sigmoid(variance: float) -> None:
    """p = sigmoid(x₁ − x₂), so E[Σp²] = 2 E[sigmoid²] with twice the variance."""
    exact = 2.0 * analyse(SIGMOID, 0.0, 2.0 * variance).second
    assert sum_of_squares(2, variance) == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("variance", [0.1, 1.0, 4.0, 64.0, 1e4])
def test_two_entries_in_two_rows(variance: float) -> None:
    covs = np.array([-0.5, 0.0, 0.2, 0.7, 0.95, 1.0]) * variance
    exact = analyse(SIGMOID, 0.0, 2.0 * variance).pair(2.0 * covs)
    np.testing.assert_allclose(pair_moments(2, variance, covs), exact, rtol=5e-3)


@pytest.mark.parametrize("n", [1, 2, 10, 1000, 1e6])
def test_limits(n: float) -> None:
    assert sum_of_squares(n, 0.0) == 1.0 / n
    small = 1e-7
    assert n * sum_of_squares(n, small) - 1.0 == pytest.approx(small * (1.0 - 1.0 / n), rel=1e-5, abs=1e-15)
    values = [sum_of_squares(n, v) for v in (1e-12, 1e-5, 1.01e-5, 1e-3, 0.1, 0.249, 0.251, 1.0, 10.0, 1e3, 1e6)]
    assert all(a <= b * (1.0 + 1e-9) for a, b in pairwise(values))
    assert values[-1] > 0.99


def test_many_small_logits_are_lognormal() -> None:
    """For n → ∞, Σp² → e^s / n."""
    assert 1e6 * sum_of_squares(1e6, 0.5) == pytest.approx(math.exp(0.5), rel=1e-5)


@pytest.mark.parametrize("variance", [0.1, 1.0, 4.0, 16.0, 64.0])
@pytest.mark.parametrize("n", [10, 64, 512])
def test_sampling_agrees(n: int, variance: float) -> None:
    """Five standard errors of the sample mean, and 1 % for the interpolation between exact ends."""
    rng = np.random.default_rng(3)
    count = 300_000 // n
    std = math.sqrt(variance)
    common, one, two = rng.standard_normal((3, count, n))

    def softmax(x: np.ndarray) -> np.ndarray:
        x = np.exp(x - x.max(axis=1, keepdims=True))
        return x / x.sum(axis=1, keepdims=True)

    rho = np.array([0.0, 0.3, 0.6, 0.9, 1.0])
    got = n * pair_moments(n, variance, rho * variance)
    assert got[0] == pytest.approx(1.0 / n, rel=1e-12)
    assert got[-1] == pytest.approx(sum_of_squares(n, variance), rel=1e-12)
    for r, value in zip(rho, got, strict=True):
        p = softmax(std * (math.sqrt(r) * common + math.sqrt(1.0 - r) * one))
        q = softmax(std * (math.sqrt(r) * common + math.sqrt(1.0 - r) * two))
        sample = (p * q).sum(axis=1)
        assert abs(sample.mean() - value) < 5.0 * sample.std() / math.sqrt(count) + 0.01 * value


@pytest.mark.parametrize(("n", "variance"), [(2, 0.01), (10, 1e-4), (10, 1.0), (64, 16.0), (512, 64.0)])
def test_logsumexp(n: int, variance: float) -> None:
    """Mean within five standard errors; a sample variance scatters by √(2/N) of itself (ten are allowed)."""
    rng = np.random.default_rng(5)
    count = 400_000 // n
    sample = np.log(np.exp(math.sqrt(variance) * rng.standard_normal((count, n))).sum(axis=1))
    mean, spread = logsumexp_moments(n, variance)
    assert abs(sample.mean() - mean) < 5.0 * sample.std() / math.sqrt(count) + 1e-6
    assert spread == pytest.approx(sample.var(), rel=10.0 * math.sqrt(2.0 / count), abs=1e-7)
    assert logsumexp_moments(1, variance) == (0.0, variance)


def test_wrong_use_is_refused() -> None:
    with pytest.raises(ValueError, match="entries"):
        sum_of_squares(0, 1.0)
    with pytest.raises(ValueError, match="variance"):
        pair_moments(4, -1.0, np.zeros(1))
