"""Measured gradients of models of JAX, beside those that a plan predicts."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import autoinit
from autoinit.errors import ModelError

from .libraries import INPUTS, SHAPES, InEquinox, InLinen, InNnx, function

KERNELS = {"linen": ["Dense_0.kernel", "Dense_1.kernel"], "nnx": ["first.kernel", "last.kernel"],
           "equinox": ["first.weight", "last.weight"], "function": ["first.kernel", "last.kernel"]}  # fmt: skip


def initialized(library: str) -> tuple[Any, dict[str, Any]]:
    if library == "nnx":
        model = InNnx(nnx.Rngs(0))
        autoinit.initialize(model, INPUTS)
        return model, {}
    if library == "equinox":
        return autoinit.initialize(InEquinox(jax.random.key(0)), INPUTS)[0], {}
    if library == "linen":
        return InLinen(), {"params": autoinit.initialize(InLinen(), INPUTS)[0]}
    return function, {"params": autoinit.initialize(function, INPUTS, params=SHAPES)[0]}


@pytest.mark.parametrize("library", KERNELS)
def test_what_is_measured_is_what_was_predicted(library: str) -> None:
    """Mean squares over 2560 and 512 entries, 4 draws of noise: within a factor of 1.5, seven standard errors."""
    model, given = initialized(library)
    gradients = autoinit.measure(model, INPUTS, gradients=True, repeats=4, warn=False, **given).gradients
    found = {row.parameter: row for row in gradients}
    for name in KERNELS[library]:
        assert found[name].measured / found[name].second == pytest.approx(1.0, abs=0.5)


def test_gradients_are_those_of_jax() -> None:
    """Of a product they are x^T g: their mean square is that of the inputs, over all outputs."""
    params = {"w": jnp.ones((4, 64))}
    x = np.random.default_rng(0).standard_normal((1, 4)).astype(np.float32)
    found = autoinit.measure(lambda p, x: x @ p["w"], x, params=params, gradients=True, repeats=8, warn=False)
    (row,) = found.gradients
    # E[g^2] = 1 over 8 draws of 64: a standard error of (2 / 512)^(1/2) = 0.06
    assert row.measured == pytest.approx(float(np.square(x).mean()), rel=0.3)


def test_an_abstract_model_has_none() -> None:
    model = eqx.filter_eval_shape(InEquinox, jax.random.key(0))
    with pytest.raises(ModelError, match="no values"):
        autoinit.measure(model, INPUTS, gradients=True, warn=False)
