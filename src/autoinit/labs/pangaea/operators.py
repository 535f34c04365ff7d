"""The operators of the search space: the one table of their names, arities and NumPy definitions.

Every operator is defined for all real numbers, the same in NumPy, PyTorch, Keras and JAX:

    log(x)         log(|x| + ε), ε = 1e-7
    reciprocal(x)  1/x, and 0 at x = 0
    divide(a, b)   a/b, and 0 where b = 0; so are both derivatives there
    power(a, b)    (|a| + ε)ᵇ = exp(b·log(|a| + ε)): a finite derivative at a = 0
    hard_sigmoid   max(0, min(1, x/6 + 1/2))
    i0e, i1e       e^(−|x|)·I₀(x) and e^(−|x|)·I₁(x), with the modified Bessel functions I
    softsign       x/(1 + |x|), not a number at ±∞, as frameworks have it
    max, min       where both operands are equal, each gets half of the derivative

To add an operator, add a line here and one to the table of each compiler (`compiled_torch`, `compiled_keras`,
`compiled_jax`); a test compares the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from ...core.gaussian import functions as ew

EPSILON = 1e-7
"""What keeps logarithms and powers away from zero."""


@dataclass(frozen=True)
class Operator:
    """One operator. `symbol` is set where formulas write it between its operands; `aliases` are for typed formulas."""

    name: str
    arity: int
    value: Callable[..., Any]
    symbol: str = ""
    aliases: tuple[str, ...] = ()


def divide(a: Any, b: Any) -> Any:
    nothing = b == 0
    return np.where(nothing, 0.0, a / np.where(nothing, 1.0, b))


def safe_log(x: Any) -> Any:
    return np.log(np.abs(x) + EPSILON)


def softsign(x: Any) -> Any:
    return x / (1.0 + np.abs(x))


OPERATORS: dict[str, Operator] = {
    operator.name: operator
    for operator in (
        Operator("zero", 1, np.zeros_like),
        Operator("one", 1, np.ones_like),
        Operator("identity", 1, ew.identity),
        Operator("negative", 1, np.negative),
        Operator("abs", 1, np.abs),
        Operator("reciprocal", 1, lambda x: divide(1.0, x)),
        Operator("square", 1, np.square),
        Operator("exp", 1, np.exp),
        Operator("expm1", 1, np.expm1),
        Operator("log", 1, safe_log),
        Operator("erf", 1, special.erf),
        Operator("erfc", 1, special.erfc),
        Operator("sinh", 1, np.sinh),
        Operator("cosh", 1, np.cosh),
        Operator("tanh", 1, np.tanh),
        Operator("arcsinh", 1, np.arcsinh, aliases=("asinh",)),
        Operator("arctan", 1, np.arctan, aliases=("atan",)),
        Operator("sigmoid", 1, special.expit),
        Operator("log_sigmoid", 1, special.log_expit, aliases=("logsigmoid",)),
        Operator("hard_sigmoid", 1, ew.hardsigmoid, aliases=("hardsigmoid",)),
        Operator("softplus", 1, lambda x: np.logaddexp(x, 0.0)),
        Operator("softsign", 1, softsign),
        Operator("relu", 1, ew.relu),
        Operator("elu", 1, lambda x: ew.elu(x, 1.0, 1.0, 1.0)),
        Operator("selu", 1, lambda x: ew.elu(x, ew.SELU_ALPHA, ew.SELU_SCALE, 1.0)),
        Operator("swish", 1, lambda x: x * special.expit(x), aliases=("silu",)),
        Operator("i0e", 1, special.i0e),
        Operator("i1e", 1, special.i1e),
        Operator("add", 2, np.add, "+"),
        Operator("subtract", 2, np.subtract, "-"),
        Operator("multiply", 2, np.multiply, "*"),
        Operator("divide", 2, divide, "/"),
        Operator("power", 2, lambda a, b: np.exp(b * safe_log(a)), aliases=("pow",)),
        Operator("max", 2, np.maximum, aliases=("maximum",)),
        Operator("min", 2, np.minimum, aliases=("minimum",)),
    )
}

NAMES: tuple[str, ...] = tuple(OPERATORS)
UNARY: tuple[str, ...] = tuple(name for name in NAMES if OPERATORS[name].arity == 1)
BINARY: tuple[str, ...] = tuple(name for name in NAMES if OPERATORS[name].arity == 2)
BY_ALIAS: dict[str, str] = {alias: o.name for o in OPERATORS.values() for alias in (o.name, *o.aliases)}


def of_arity(arity: int) -> tuple[str, ...]:
    """The names of the operators that take so many operands."""
    return UNARY if arity == 1 else BINARY
