"""Gradients of the real model by automatic differentiation."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from ...core.options import Options
from .inputs import given_inputs, with_arrays
from .measure import given_leaves
from .program import Program


def gradients(program: Program, inputs: Any, options: Options, seed: int) -> dict[str, float]:
    """The mean square of every parameter's gradient for N(0, 1) gradients at the floating outputs, on noise (or the
    user's batch)."""
    given, structure, leaves = given_inputs(inputs)
    values, rng = given_leaves(program), np.random.default_rng(seed)
    arrays = [jnp.asarray(value) for value in values]
    wanted = {
        k: arrays[k] for k, leaf in enumerate(program.leaves)
        if leaf.parameter and leaf.trainable and jnp.issubdtype(arrays[k].dtype, np.floating) and arrays[k].size
    }  # fmt: skip
    samples = [item.sample(rng) for item in given]

    def outputs(trained: dict[int, Any]) -> list[Any]:
        every = [trained.get(k, array) for k, array in enumerate(arrays)]
        made = program.call(every, with_arrays(structure, leaves, samples), jax.random.key(seed))
        found = [a for a in jax.tree_util.tree_leaves(made) if hasattr(a, "dtype") and a.size]
        return [a for a in found if jnp.issubdtype(a.dtype, np.floating)]

    def back(trained: dict[int, Any], noise: list[Any]) -> dict[int, Any]:
        made, pulled = jax.vjp(outputs, trained)
        (seen,) = pulled([n.astype(a.dtype) for n, a in zip(noise, made, strict=True)])
        return {k: jnp.mean(jnp.square(g.astype(jnp.float32))) for k, g in seen.items()}

    noise = [jnp.asarray(rng.standard_normal(a.shape), jnp.float32) for a in jax.eval_shape(outputs, wanted)]
    if not noise or not wanted:
        return {}
    return {program.leaves[k].name: float(mean) for k, mean in jax.jit(back)(wanted, noise).items()}
