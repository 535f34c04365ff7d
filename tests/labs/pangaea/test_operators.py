"""The operators' own values: known ones, and the safe definitions where plain ones break."""

import math

import numpy as np
import pytest

from autoinit.labs.pangaea import Function
from autoinit.labs.pangaea.operators import BINARY, BY_ALIAS, EPSILON, NAMES, OPERATORS, UNARY

KNOWN = {
    "zero": (0.7, 0.0),
    "one": (0.7, 1.0),
    "identity": (0.7, 0.7),
    "negative": (0.7, -0.7),
    "abs": (-0.7, 0.7),
    "reciprocal": (-0.5, -2.0),
    "square": (-0.5, 0.25),
    "exp": (1.0, math.e),
    "expm1": (1e-12, 1e-12 + 0.5e-24),
    "log": (-math.e, 1.0 + EPSILON / math.e),
    "erf": (0.5, math.erf(0.5)),
    "erfc": (5.0, math.erfc(5.0)),
    "sinh": (1.0, math.sinh(1.0)),
    "cosh": (1.0, math.cosh(1.0)),
    "tanh": (1.0, math.tanh(1.0)),
    "arcsinh": (1.0, math.asinh(1.0)),
    "arctan": (1.0, math.pi / 4),
    "sigmoid": (math.log(3.0), 0.75),
    "log_sigmoid": (-800.0, -800.0),
    "hard_sigmoid": (1.5, 0.75),
    "softplus": (math.log(3.0), math.log(4.0)),
    "softsign": (-3.0, -0.75),
    "relu": (-0.7, 0.0),
    "elu": (-1.0, math.exp(-1.0) - 1.0),
    "selu": (-1.0, 1.0507009873554805 * 1.6732632423543772 * (math.exp(-1.0) - 1.0)),
    "swish": (math.log(3.0), 0.75 * math.log(3.0)),
    "i0e": (1.0, 1.2660658777520084 * math.exp(-1.0)),
    "i1e": (-1.0, -0.5651591039924851 * math.exp(-1.0)),
    "add": (2.0, 3.0, 5.0),
    "subtract": (2.0, 3.0, -1.0),
    "multiply": (2.0, 3.0, 6.0),
    "divide": (2.0, 4.0, 0.5),
    "power": (-2.0, 3.0, (2.0 + EPSILON) ** 3),
    "max": (2.0, 3.0, 3.0),
    "min": (2.0, 3.0, 2.0),
}
"""Operands and value, written with the standard library or by hand; the Bessel functions from printed tables."""


def test_every_operator_has_a_known_value():
    assert tuple(KNOWN) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_value(name):
    *operands, expected = KNOWN[name]
    assert len(operands) == OPERATORS[name].arity
    value = OPERATORS[name].value(*(np.array([operand]) for operand in operands))
    np.testing.assert_allclose(value, [expected], rtol=1e-12)


def test_arities_and_names():
    assert set(UNARY) | set(BINARY) == set(NAMES) and not set(UNARY) & set(BINARY)
    assert len(BY_ALIAS) == sum(1 + len(operator.aliases) for operator in OPERATORS.values())


def test_nothing_breaks_at_zero():
    zero = np.zeros(3)
    for name in UNARY:
        assert np.all(np.isfinite(Function.parse(f"{name}(x)")(zero))), name
    assert np.all(Function.parse("reciprocal(x)")(zero) == 0)
    assert np.all(Function.parse("1 / x")(zero) == 0)
    assert np.all(Function.parse("x / x")(zero) == 0)
    np.testing.assert_allclose(Function.parse("log(x)")(zero), math.log(EPSILON), rtol=1e-12)
    np.testing.assert_allclose(Function.parse("power(x, -1)")(zero), 1 / EPSILON, rtol=1e-9)
    np.testing.assert_allclose(Function.parse("power(x, x)")(zero), 1.0)


def test_overflow_is_silent_and_infinite():
    """Warnings inside the library are errors in these tests."""
    assert Function.parse("exp(x)")(1e4) == np.inf
    assert np.isnan(Function.parse("exp(x) - exp(x)")(1e4))
