"""Activations of JAX are functions: what takes the mean off one is a function again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jax import numpy as jnp


def centred_activation(activation: Any, mean: float, variance: float) -> Any:
    """None: `autoinit.centered` makes the function f(x) - shift, which JAX takes as it is."""
    return None


def on_arrays(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """A function of JAX's arrays, as one of NumPy's (in single precision: JAX may know no other)."""
    return lambda x: np.asarray(function(jnp.asarray(x, jnp.float32)), np.float64)
