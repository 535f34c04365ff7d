"""A function of the search space as a JAX function of its parameters and x; channels come last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special

from ...errors import OptionError
from .function import Function
from .graph import evaluate
from .operators import EPSILON

Parameters = dict[str, jax.Array]
Apply = Callable[[Parameters, jax.Array], jax.Array]


def divide(a: Any, b: Any) -> Any:
    nothing = b == 0
    return jnp.where(nothing, 0.0, a / jnp.where(nothing, 1.0, b))


def absolute(x: Any) -> Any:
    """|x| with the derivative 0 at 0, where JAX has 1."""
    return jnp.where(x == 0, 0.0, jnp.abs(x))


def safe_log(x: Any) -> Any:
    return jnp.log(absolute(x) + EPSILON)


OPERATORS: dict[str, Callable[..., Any]] = {
    "zero": jnp.zeros_like,
    "one": jnp.ones_like,
    "identity": lambda x: x,
    "negative": jnp.negative,
    "abs": absolute,
    "reciprocal": lambda x: divide(1.0, x),
    "square": jnp.square,
    "exp": jnp.exp,
    "expm1": jnp.expm1,
    "log": safe_log,
    "erf": special.erf,
    "erfc": special.erfc,
    "sinh": jnp.sinh,
    "cosh": jnp.cosh,
    "tanh": jnp.tanh,
    "arcsinh": jnp.arcsinh,
    "arctan": jnp.arctan,
    "sigmoid": jax.nn.sigmoid,
    "log_sigmoid": jax.nn.log_sigmoid,
    "hard_sigmoid": lambda x: jax.nn.relu6(x + 3) / 6,
    "softplus": jax.nn.softplus,
    "softsign": jax.nn.soft_sign,
    "relu": jax.nn.relu,
    "elu": jax.nn.elu,
    "selu": jax.nn.selu,
    "swish": jax.nn.silu,
    "i0e": special.i0e,
    "i1e": special.i1e,
    "add": jnp.add,
    "subtract": jnp.subtract,
    "multiply": jnp.multiply,
    "divide": divide,
    "power": lambda a, b: jnp.exp(b * safe_log(a)),
    "max": jnp.maximum,
    "min": jnp.minimum,
}


def compiled(function: Function, channels: int) -> tuple[Parameters, Apply]:
    """(parameters, fn): `fn(parameters, x)` can be jitted and differentiated; all parameters are ones at first."""
    if isinstance(channels, bool) or not isinstance(channels, int) or channels < 1:
        raise OptionError("'channels' takes a positive integer", where="Function.jax", received=repr(channels),
                          fix="the size of the last axis")  # fmt: skip

    def apply(parameters: Parameters, x: jax.Array) -> jax.Array:
        made: jax.Array = evaluate(function.graph, x, OPERATORS, parameters)
        return made

    return {name: jnp.ones(channels) for name in function.parameters}, apply
