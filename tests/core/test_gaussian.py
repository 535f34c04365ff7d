"""Gaussian moments against exact formulas, dense integration and sampling."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from autoinit.core.gaussian.expression import Expr, X, apply, constant, evaluate
from autoinit.core.gaussian.integrals import Analysis, analyse, analyse_callable, cross_moments
from autoinit.core.gaussian.quadrature import integrate


def test_cases_where_naive_quadrature_fails() -> None:
    assert analyse(apply("relu", X), 100.0, 1.0).variance == pytest.approx(1.0, rel=1e-9)
    assert analyse(apply("sigmoid", X), 50.0, 1.0).mean == pytest.approx(1.0, rel=1e-12)
    saturated = analyse(apply("tanh", X), 30.0, 1.0)
    assert saturated.mean == pytest.approx(1.0, rel=1e-12)
    assert 0.0 <= saturated.variance < 1e-20
    assert analyse(apply("relu", X), 0.0, 1e12).variance == pytest.approx(3.408450569e11, rel=1e-9)
    wide = analyse(apply("tanh", X), 0.0, 1e12)
    # 1 − E tanh² = E sech² → 2 φ(0)/σ for wide u.
    assert 1.0 - wide.second == pytest.approx(2.0 / math.sqrt(2.0 * math.pi) / 1e6, rel=1e-6)
    narrow = analyse(apply("exp", apply("neg", apply("square", X))), 0.0, 1e12)
    assert narrow.mean == pytest.approx(1.0 / math.sqrt(1.0 + 2e12), rel=1e-8)


@pytest.mark.parametrize(
    ("expr", "variance"),
    [
        (apply("leaky_relu", X, params=(0.5,)), 0.585),
        (apply("clamp", X, params=(0.0, 0.5)), 0.052),
        (apply("elu", X, params=(3.0,)), 1.71),
        (apply("prelu", X, params=(1.0,)), 1.0),
        (apply("add", X, apply("relu", X)), 2.34),
        (apply("mul", apply("relu", X), apply("relu", X)), 1.25),
        (apply("sub", X, X), 0.0),
        (apply("mul", X, 5.0), 25.0),
    ],
)
def test_measured_variances(expr: Expr, variance: float) -> None:
    assert analyse(expr, 0.0, 1.0).variance == pytest.approx(variance, rel=0.02, abs=1e-12)


RHO = np.array([-1.0, -0.95, -0.4, 0.0, 0.3, 0.8, 0.95, 0.99, 0.999, 1.0])


def test_relu_pair_is_the_arc_cosine_kernel() -> None:
    exact = (np.sqrt(1.0 - RHO**2) + RHO * (math.pi - np.arccos(RHO))) / (2.0 * math.pi)
    closed = analyse(apply("relu", X), 0.0, 1.0)
    np.testing.assert_allclose(closed.pair(RHO), exact, atol=1e-14)
    np.testing.assert_allclose(Analysis.pair(closed, RHO)[1:], exact[1:], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("mean", [0.0, 0.4, -1.3])
def test_step_pair_is_the_bivariate_normal(mean: float) -> None:
    step = analyse(apply("gt", X, 0.0), mean, 1.0)
    inner = RHO[1:-1]
    exact = [multivariate_normal.cdf([mean, mean], cov=[[1.0, r], [r, 1.0]], abseps=1e-12) for r in inner]
    np.testing.assert_allclose(step.pair(inner), exact, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(Analysis.pair(step, inner), exact, rtol=1e-4, atol=1e-6)


def _dense_pair(expr: Expr, mean: float, std: float, rho: float) -> float:
    """E[(E[f | common part])²] on dense grids: exact for smooth f, to about 1e-5 with kinks."""
    common, own = np.linspace(-8.5, 8.5, 401), np.linspace(-8.5, 8.5, 1201)
    w, v = np.exp(-0.5 * common**2), np.exp(-0.5 * own**2)
    inner = evaluate(expr, mean + std * (math.sqrt(rho) * common[:, None] + math.sqrt(1.0 - rho) * own))
    return float(w @ (inner @ v / v.sum()) ** 2 / w.sum())


PAIRED = [
    "relu",
    "leaky_relu",
    "relu6",
    "hardtanh",
    "hardsigmoid",
    "abs",
    "softshrink",
    "square",
    "sin",
    "cos",
    "erf",
    "gelu",
    "elu",
    "selu",
    "celu",
    "gelu_tanh",
    "silu",
    "mish",
    "sigmoid",
    "softplus",
    "softsign",
    "hardswish",
    "tanh",
    "tanhshrink",
    "atan",
]


@pytest.mark.parametrize("name", PAIRED)
def test_pair_against_two_dimensional_integral(name: str) -> None:
    expr = apply(name, X)
    for mean, std in ((0.0, 1.0), (0.4, 0.7), (-1.3, 2.0)):
        got = analyse(expr, mean, std * std)
        rho = np.array([0.5, 0.9, 0.97])
        exact = np.array([_dense_pair(expr, mean, std, r) for r in rho])
        np.testing.assert_allclose(got.pair(rho * std * std), exact, rtol=1e-4)
        assert got.pair(np.array([std * std]))[0] == pytest.approx(got.second, rel=1e-12)
        assert got.pair(np.array([0.0]))[0] == pytest.approx(got.mean**2, rel=1e-7, abs=1e-12)


def test_pair_of_a_composite_with_kinks() -> None:
    expr = apply("mul", apply("relu", apply("sub", apply("tanh", X), 0.3)), apply("abs", X))
    got = analyse(expr, 0.2, 1.5)
    for rho in (0.5, 0.9, 0.97):
        assert got.pair(np.array([rho * 1.5]))[0] == pytest.approx(
            _dense_pair(expr, 0.2, math.sqrt(1.5), rho), rel=1e-4
        )


@pytest.mark.parametrize("name", ["relu", "tanh", "silu", "square", "hardshrink", "exp", "elu", "gelu", "sign"])
def test_cross_and_slope(name: str) -> None:
    """E[u f(v)] at cov = var is E[u f(u)]; the slope is a finite difference of log E f²."""
    expr = apply(name, X)
    mean, var = 0.3, 0.8
    got = analyse(expr, mean, var)
    product = analyse(apply("mul", X, expr), mean, var).mean
    assert got.cross(np.array([var]))[0] == pytest.approx(product, rel=1e-7)
    assert got.cross(np.array([0.0]))[0] == pytest.approx(mean * got.mean, rel=1e-12)
    up, down = analyse(expr, mean, var * 1.001).second, analyse(expr, mean, var / 1.001).second
    assert got.slope == pytest.approx(math.log(up / down) / (2.0 * math.log(1.001)), abs=1e-5)


def test_cross_analysis_of_two_functions() -> None:
    f, g = apply("relu", X), apply("tanh", X)
    cov = np.array([0.0, 0.6, 1.3])
    got = cross_moments(f, g, 0.2, 1.3, cov)
    assert got[0] == pytest.approx(analyse(f, 0.2, 1.3).mean * analyse(g, 0.2, 1.3).mean, rel=1e-9)
    assert got[2] == pytest.approx(analyse(apply("mul", f, g), 0.2, 1.3).mean, rel=1e-9)
    # E[fg] from the polarisation identity at the same covariance.
    total = analyse(apply("add", f, g), 0.2, 1.3).pair(cov)
    single = analyse(f, 0.2, 1.3).pair(cov) + analyse(g, 0.2, 1.3).pair(cov)
    np.testing.assert_allclose(got, 0.5 * (total - single), rtol=1e-5)
    np.testing.assert_allclose(cross_moments(f, f, 0.2, 1.3, cov), analyse(f, 0.2, 1.3).pair(cov))
    np.testing.assert_allclose(cross_moments(X, g, 0.2, 1.3, cov), analyse(g, 0.2, 1.3).cross(cov))
    assert cross_moments(f, g, 0.5, 0.0, np.array([0.0]))[0] == pytest.approx(0.5 * math.tanh(0.5))


@pytest.mark.parametrize(
    ("expr", "mean", "var"),
    [
        (apply("log", X), 0.0, 1.0),
        (apply("reciprocal", X), 0.0, 1.0),
        (apply("rsqrt", X), 1.0, 1.0),
        (apply("exp", apply("exp", X)), 0.0, 4.0),
        (apply("exp", X), 0.0, 1e4),
        (apply("sqrt", X), -50.0, 1.0),
        (apply("tan", X), 0.0, 1.0),
        (apply("log", X), -1.0, 0.0),
    ],
)
def test_problems_are_told_and_numbers_stay_finite(expr: Expr, mean: float, var: float) -> None:
    got = analyse(expr, mean, var)
    assert got.problem
    assert math.isfinite(got.mean)
    assert math.isfinite(got.second)
    assert np.isfinite(got.pair(np.array([0.0, 0.5 * var, var]))).all()


def test_no_problem_where_there_is_none() -> None:
    assert analyse(apply("log", X), 10.0, 1.0).problem is None
    assert analyse(apply("log", apply("abs", X)), 0.0, 1.0).problem is None
    assert analyse(apply("log", apply("abs", X)), 0.0, 1.0).mean == pytest.approx(
        -0.5 * (np.euler_gamma + math.log(2.0)), rel=1e-8
    )
    assert analyse(apply("mul", X, apply("exp", X)), 0.0, 16.0).mean == pytest.approx(16.0 * math.exp(8.0), rel=1e-8)


def test_point_mass_and_constants() -> None:
    point = analyse(apply("tanh", X), 0.7, 0.0)
    assert point.mean == pytest.approx(math.tanh(0.7))
    assert point.variance == 0.0
    np.testing.assert_allclose(point.pair(np.zeros(3)), math.tanh(0.7) ** 2)
    assert analyse(constant(3.0), 0.0, 1.0).second == 9.0
    with pytest.raises(ValueError, match="variance"):
        analyse(X, 0.0, -1.0)


def test_results_are_cached() -> None:
    expr = apply("mul", X, apply("tanh", X))
    assert analyse(expr, 0.1, 0.9) is analyse(expr, 0.1, 0.9)


def test_any_callable() -> None:
    got = analyse_callable(lambda x: np.where(x > 0.3, x, -1.0), 0.0, 1.0, kinks=(0.3,))
    same = analyse(apply("threshold", X, params=(0.3, -1.0)), 0.0, 1.0)
    assert got.mean == pytest.approx(same.mean, rel=1e-9)
    assert got.second == pytest.approx(same.second, rel=1e-9)
    unknown = analyse_callable(lambda x: np.maximum(np.sin(3.0 * x), 0.1), 0.5, 2.0)
    z = np.linspace(-9.0, 9.0, 200_001)
    dense = np.average(np.maximum(np.sin(3.0 * (0.5 + math.sqrt(2.0) * z)), 0.1), weights=np.exp(-0.5 * z * z))
    assert unknown.mean == pytest.approx(dense, rel=1e-7)


def test_sampling_agrees() -> None:
    """A mean over N samples scatters by sd/√N; five of those is a chance of 6e-7 per comparison."""
    rng = np.random.default_rng(0)
    count = 200_000
    z, own = rng.standard_normal((2, count))
    for expr in (apply("mish", X), apply("mul", apply("sin", X), apply("relu", X))):
        got = analyse(expr, 0.5, 2.0)
        u = 0.5 + math.sqrt(2.0) * z
        v = 0.5 + math.sqrt(2.0) * (0.6 * z + 0.8 * own)
        fu, fv = evaluate(expr, u), evaluate(expr, v)
        for sample, value in ((fu, got.mean), (fu * fu, got.second), (fu * fv, got.pair(np.array([1.2]))[0])):
            assert abs(sample.mean() - value) < 5.0 * sample.std() / math.sqrt(count)


def test_two_functions_at_once() -> None:
    both = integrate(lambda z: np.stack([z, np.maximum(z, 0.0)]))
    np.testing.assert_allclose(both.products(), [[1.0, 0.5], [0.5, 0.5]], rtol=1e-10)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> Expr:
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return apply(
            "affine",
            X,
            params=(draw(st.sampled_from([1.0, -0.5, 2.0])), draw(st.sampled_from([0.0, 0.7, -1.0]))),
        )
    kind = draw(st.sampled_from(["unary", "unary", "binary", "choice"]))
    first = draw(expressions(depth=depth - 1))
    if kind == "unary":
        names = [
            "relu",
            "tanh",
            "sigmoid",
            "abs",
            "sin",
            "softplus",
            "square",
            "gelu",
            "elu",
            "hardtanh",
            "sign",
            "atan",
        ]
        return apply(draw(st.sampled_from(names)), first)
    second = draw(expressions(depth=depth - 1))
    if kind == "choice":
        return apply("where", apply("gt", first, 0.2), second, first)
    return apply(draw(st.sampled_from(["add", "sub", "mul", "maximum", "minimum", "hypot"])), first, second)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(expressions(), st.sampled_from([0.0, 0.6, -3.0]), st.sampled_from([1e-6, 0.3, 1.0, 9.0]))
def test_random_expressions_agree_with_a_dense_integral(expr: Expr, mean: float, var: float) -> None:
    """A midpoint rule of step h has an error of h per jump; two steps tell how far it can be trusted."""
    got = analyse(expr, mean, var)
    assert math.isfinite(got.mean)
    assert math.isfinite(got.second)
    assert np.isfinite(got.pair(var * RHO)).all()
    assert got.problem is None
    results = []
    for count in (20_000, 31_000):
        z = (np.arange(count) + 0.5) * (22.0 / count) - 11.0
        value = evaluate(expr, mean + math.sqrt(var) * z)
        weight = np.exp(-0.5 * z * z) * (22.0 / count) / math.sqrt(2.0 * math.pi)
        results.append((float(weight @ value), float(weight @ (value * value))))
    (first, second), (again, second_again) = results
    size = math.sqrt(second) + 1e-12
    assert abs(got.mean - again) <= 1e-6 * size + 10.0 * abs(first - again) + 2e-3 * size * _has_jump(expr)
    assert abs(got.second - second_again) <= 1e-6 * second + 10.0 * abs(second - second_again) + (
        4e-3 * second * _has_jump(expr) + 1e-24
    )


def _has_jump(expr: Expr) -> bool:
    text = repr(expr)
    return "sign" in text or "where" in text
