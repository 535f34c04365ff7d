"""Expressions: one object per structure, light algebra, deep chains, nothing kept alive."""

from __future__ import annotations

import gc
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoinit.core.gaussian import expression
from autoinit.core.gaussian.expression import Expr, X, apply, constant, evaluate
from autoinit.core.gaussian.ranges import bounds


def test_equal_structures_are_the_same_object() -> None:
    first = apply("mul", X, apply("sigmoid", X))
    again = apply("mul", X, apply("sigmoid", X))
    assert first is again
    assert first.key == again.key
    assert first.depth == 2
    assert apply("leaky_relu", X, params=(0.1,)) is not apply("leaky_relu", X, params=(0.2,))


def test_algebra() -> None:
    assert apply("add", X, 0.0) is X
    assert apply("mul", X, 1.0) is X
    assert apply("identity", X) is X
    assert apply("neg", apply("neg", X)) is X
    assert apply("add", apply("mul", apply("sub", X, 1.0), 3.0), 5.0).line == (3.0, 2.0)
    assert apply("add", X, apply("mul", X, 2.0)).line == (3.0, 0.0)
    assert apply("sub", X, X).line == (0.0, 0.0)
    assert apply("div", X, 5.0).line == (0.2, 0.0)
    assert constant(4.0).line == (0.0, 4.0)
    assert apply("tanh", X).line is None
    assert apply("mul", X, X) is apply("square", X)
    assert apply("maximum", 0.0, X) is apply("relu", X)
    assert apply("gt", X, 2.0) is apply("lt", 2.0, X)
    assert apply("exp", 0.0) is constant(1.0)
    assert apply("pow", X, 0.5) is apply("sqrt", X)


@pytest.mark.parametrize(("a", "b", "r", "offset"), [(1.0, 1.0, 1.0, 0.0), (3.0, 0.5, -2.0, 0.0), (0.5, 2.0, 1.0, 4.0)])
def test_softsign_that_is_written_as_a_quotient(a: float, b: float, r: float, offset: float) -> None:
    x = apply("affine", X, params=(1.5, offset))
    made = apply("div", x, apply("affine", apply("abs", apply("mul", x, r)), params=(a, b)))
    core, factor, shift = expression.split(made)
    assert (core.name, shift, made.monotone) == ("softsign", 0.0, 1)
    assert bounds(made) == (-1.0 / abs(a * r), 1.0 / abs(a * r)) == (-factor, factor)
    u = np.linspace(-5.0, 5.0, 101)
    w = 1.5 * u + offset
    np.testing.assert_allclose(evaluate(made, u), w / (a * np.abs(r * w) + b), rtol=1e-14, atol=1e-15)


def test_quotients_that_are_no_softsign() -> None:
    size = apply("abs", X)
    for divisor in (
        apply("sub", size, 1.0),  # zero at 1
        apply("sub", 1.0, size),
        apply("add", apply("abs", apply("add", X, 1.0)), 1.0),  # of another line
        apply("add", apply("abs", apply("tanh", X)), 1.0),
        size,
    ):
        assert apply("div", X, divisor).name == "div"


def test_monotone() -> None:
    assert apply("relu", apply("neg", X)).monotone == -1
    assert apply("add", X, apply("tanh", X)).monotone == 1
    assert apply("sub", X, apply("neg", apply("relu", X))).monotone == 1
    assert apply("abs", X).monotone == 0
    assert apply("leaky_relu", X, params=(-0.5,)).monotone == 0


def test_constant_expression_fills_the_array() -> None:
    np.testing.assert_array_equal(evaluate(constant(2.0), np.zeros((2, 3))), np.full((2, 3), 2.0))


def test_three_arguments() -> None:
    x = np.linspace(-2.0, 2.0, 9)
    chosen = apply("where", apply("gt", X, 0.0), X, apply("square", X))
    np.testing.assert_allclose(evaluate(chosen, x), np.where(x > 0.0, x, x * x))
    mixed = apply("lerp", X, apply("square", X), 0.25)
    np.testing.assert_allclose(evaluate(mixed, x), x + 0.25 * (x * x - x))


def test_wrong_use_is_refused() -> None:
    with pytest.raises(KeyError, match="no elementwise function"):
        apply("no such thing", X)
    with pytest.raises(ValueError, match="takes 2 arguments"):
        apply("add", X)


def test_ten_thousand_deep() -> None:
    deep = X
    for _ in range(10_000):
        deep = apply("tanh", apply("add", deep, 0.1))
    assert deep.depth == 20_000
    value = 0.5
    for _ in range(10_000):
        value = math.tanh(value + 0.1)
    assert evaluate(deep, np.array([0.5]))[0] == pytest.approx(value, rel=1e-12)
    assert "depth" in repr(deep)
    assert pickle.loads(pickle.dumps(deep)) is deep


def test_shared_parts_are_evaluated_once() -> None:
    doubling = X
    for _ in range(60):  # a tree of 2^60 leaves, a graph of 60 nodes
        doubling = apply("hypot", doubling, apply("sin", doubling))
    assert np.isfinite(evaluate(doubling, np.array([0.3]))).all()


def test_interning_does_not_leak() -> None:
    gc.collect()
    before = len(expression._interned)
    for i in range(500):
        apply("tanh", apply("mul", X, 1.0 + i / 7.0))
    gc.collect()
    assert len(expression._interned) <= before + 5


CHAIN = st.lists(
    st.tuples(
        st.sampled_from(["add", "sub", "mul", "div", "neg", "relu", "tanh", "abs", "maximum", "minimum", "rsub"]),
        st.floats(-3.0, 3.0, allow_nan=False).filter(lambda c: abs(c) > 1e-3),
    ),
    max_size=12,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(CHAIN)
def test_simplified_is_the_same_function(chain: list[tuple[str, float]]) -> None:
    x = np.linspace(-5.0, 5.0, 41)
    expr: Expr = X
    plain = x.copy()
    rules = {
        "add": lambda y, c: y + c,
        "sub": lambda y, c: y - c,
        "mul": lambda y, c: y * c,
        "div": lambda y, c: y / c,
        "maximum": np.maximum,
        "minimum": np.minimum,
    }
    for name, c in chain:
        if name == "rsub":
            expr, plain = apply("sub", c, expr), c - plain
        elif name in rules:
            expr, plain = apply(name, expr, c), rules[name](plain, c)
        else:
            direct = {
                "neg": np.negative,
                "relu": lambda y: np.maximum(y, 0.0),
                "tanh": np.tanh,
                "abs": np.abs,
            }
            expr, plain = apply(name, expr), direct[name](plain)
    got = evaluate(expr, x)
    np.testing.assert_allclose(got, plain, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(plain).max()))
    sign = expr.monotone
    if sign:
        assert (np.diff(got) * sign >= -1e-9 * (1.0 + np.abs(got).max())).all()
    line = expr.line
    if line is not None:
        np.testing.assert_allclose(line[0] * x + line[1], plain, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(plain).max()))
