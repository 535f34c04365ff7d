"""Moments of the maximum against exact values, one-dimensional integrals and sampling."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from autoinit.core.gaussian.expression import Expr, X, apply, evaluate
from autoinit.core.gaussian.integrals import analyse
from autoinit.core.gaussian.maximum import extreme_correlation, extreme_moments, max_moments, max_pair

RELU, ABS, TANH, GELU = (apply(name, X) for name in ("relu", "abs", "tanh", "gelu"))


def test_known_extremes() -> None:
    assert extreme_moments(1) == pytest.approx((0.0, 1.0), abs=1e-12)
    assert extreme_moments(2) == pytest.approx((1.0 / math.sqrt(math.pi), 1.0 - 1.0 / math.pi), rel=1e-10)
    assert extreme_moments(3)[0] == pytest.approx(1.5 / math.sqrt(math.pi), rel=1e-10)
    # Order statistics of the normal distribution (tables of Teichroew): n = 10.
    assert extreme_moments(10)[0] == pytest.approx(1.5387527308, rel=1e-9)
    # Global max pooling of 16 × 16 standard normal entries.
    assert extreme_moments(256)[0] == pytest.approx(2.82, abs=0.01)
    assert extreme_moments(256)[1] == pytest.approx(0.155, abs=0.005)


@pytest.mark.parametrize("k", [1, 2, 49, 3136])
def test_largest_by_numerical_integration(k: int) -> None:
    """E[M²] = ∫ x² d(Φ^k)."""
    exact = integrate.quad(lambda x: x * x * k * stats.norm.pdf(x) * stats.norm.cdf(x) ** (k - 1), -9, 9, limit=300)[0]
    mean, second = max_moments(X, 0.0, 1.0, 0.0, k)
    assert second == pytest.approx(exact, rel=1e-7)
    assert mean == pytest.approx(extreme_moments(k)[0], abs=1e-12)


def test_relu_of_negative_extremes_keeps_its_digits() -> None:
    """min of nine relu(x): E[m²] = ∫ 2t P(x > t)⁹ dt, a rare event."""
    exact = integrate.quad(lambda t: 2.0 * t * stats.norm.sf(t) ** 9, 0, 8)[0]
    assert max_moments(apply("neg", RELU), 0.0, 1.0, 0.0, 9)[1] == pytest.approx(exact, rel=1e-6)


def test_non_monotone_by_its_distribution() -> None:
    """P(max |x| < t) = (2Φ(t) − 1)^k."""
    for k in (2, 9, 49):
        exact = integrate.quad(lambda t, k=k: 1.0 - (2.0 * stats.norm.cdf(t) - 1.0) ** k, 0, 9, limit=200)[0]
        assert max_moments(ABS, 0.0, 1.0, 0.0, k)[0] == pytest.approx(exact, rel=1e-3)


def test_common_factor_only_shifts_a_linear_maximum() -> None:
    mean, second = max_moments(X, 0.5, 2.0, 0.6, 9)
    e, v = extreme_moments(9)
    assert mean == pytest.approx(0.5 + math.sqrt(1.4) * e, rel=1e-9)
    assert second - mean**2 == pytest.approx(0.6 + 1.4 * v, rel=1e-8)
    # Negative covariance: the same formula, down to the least that nine entries can have.
    mean, second = max_moments(X, 0.0, 1.0, -0.1, 9)
    assert mean == pytest.approx(math.sqrt(1.1) * e, rel=1e-9)
    assert second - mean**2 == pytest.approx(-0.1 + 1.1 * v, rel=1e-6)
    assert max_moments(X, 0.0, 1.0, -5.0, 9) == pytest.approx(max_moments(X, 0.0, 1.0, -1.0 / 8.0, 9))


def test_degenerate_windows() -> None:
    for expr in (RELU, GELU):
        one = analyse(expr, 0.2, 1.5)
        assert max_moments(expr, 0.2, 1.5, 0.3, 1) == pytest.approx((one.mean, one.second))
        assert max_moments(expr, 0.2, 1.5, 1.5, 9) == pytest.approx((one.mean, one.second))
        assert max_pair(expr, 0.2, 1.5, 0.3, 1, 0.7, 0.0) == pytest.approx(one.pair(np.array([0.7]))[0])
    assert max_moments(RELU, 2.0, 0.0, 0.0, 9) == (2.0, 4.0)
    with pytest.raises(ValueError, match="at least one"):
        max_moments(RELU, 0.0, 1.0, 0.0, 0)


@pytest.mark.parametrize("expr", [X, RELU, TANH, GELU, ABS, apply("neg", X)])
@pytest.mark.parametrize("k", [4, 49, 3136])
def test_pair_is_exact_at_its_ends(expr: Expr, k: int) -> None:
    mean, second = max_moments(expr, 0.1, 1.2, 0.4, k)
    assert max_pair(expr, 0.1, 1.2, 0.4, k, 1.2, 0.4) == pytest.approx(second, rel=1e-9)
    assert max_pair(expr, 0.1, 1.2, 0.4, k, 0.0, 0.0) == pytest.approx(mean**2, rel=1e-6)


def test_shared_factor_pair_is_exact() -> None:
    """same = across = within: only the common factor is shared, with all of its variance for linear f."""
    mean, _ = max_moments(X, 0.0, 1.0, 0.3, 9)
    assert max_pair(X, 0.0, 1.0, 0.3, 9, 0.3, 0.3) == pytest.approx(mean**2 + 0.3, rel=1e-8)


def test_correlation_of_extremes_of_two() -> None:
    """max(a, b) = (a + b)/2 + |a − b|/2, so the covariance is τ/2 + Cov(|d|, |d'|)/4 with Var d = 2."""
    for tau in (-0.5, 0.1, 0.5, 0.9, 0.99):
        folded = 2.0 * (2.0 / math.pi) * (math.sqrt(1.0 - tau**2) + tau * math.asin(tau) - 1.0)
        exact = (tau / 2.0 + folded / 4.0) / (1.0 - 1.0 / math.pi)
        assert extreme_correlation(2, tau) == pytest.approx(exact, abs=3e-3)


CASES = [(0.0, 1.0, 0.0, 9, 0.5, 0.0), (0.5, 2.0, 0.6, 4, 1.2, 0.2), (0.0, 1.0, 0.2, 49, 0.6, 0.1)]


@pytest.mark.parametrize("expr", [X, RELU, TANH, GELU, ABS])
@pytest.mark.parametrize("case", CASES)
def test_sampling_agrees(expr: Expr, case: tuple[float, float, float, int, float, float]) -> None:
    """The mean of N samples scatters by sd/√N (five are allowed); the pair may be off by 2 % of E[M²]."""
    mean, var, within, k, same, across = case
    rng = np.random.default_rng(7)
    count = 400_000 // k
    common, left, right = rng.standard_normal((3, count, 1))
    place, one, two = rng.standard_normal((3, count, k))
    w, s, a = within / var, same / var, across / var
    own = math.sqrt(1.0 - w - s + a)
    copies = []
    for factor, rest in ((left, one), (right, two)):
        u = math.sqrt(a) * common + math.sqrt(w - a) * factor + math.sqrt(s - a) * place + own * rest
        copies.append(evaluate(expr, mean + math.sqrt(var) * u).max(axis=1))
    first, second = copies
    got = max_moments(expr, mean, var, within, k)
    for sample, value, slack in (
        (first, got[0], 0.0),
        (first**2, got[1], 0.0),
        (first * second, max_pair(expr, mean, var, within, k, same, across), 0.02 * got[1]),
    ):
        assert abs(sample.mean() - value) < 5.0 * sample.std() / math.sqrt(count) + slack + 1e-3 * abs(value)
