"""One network in every library of JAX: a dense layer of 40 to 64, relu, and one of 64 to 8."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import numpy as np
from flax import nnx

INPUTS = (32, 40)


class InNnx(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(40, 64, rngs=rngs)
        self.drop = nnx.Dropout(0.25, rngs=rngs)
        self.last = nnx.Linear(64, 8, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.last(self.drop(nnx.relu(self.first(x))))


class InLinen(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        x = nn.relu(nn.BatchNorm(use_running_average=not train)(nn.Dense(64)(x)))
        return nn.Dense(8)(nn.Dropout(0.25, deterministic=not train)(x))


class InEquinox(eqx.Module):
    first: eqx.nn.Linear
    drop: eqx.nn.Dropout
    last: eqx.nn.Linear

    def __init__(self, key: Any) -> None:
        one, two = jax.random.split(key)
        self.first, self.last = eqx.nn.Linear(40, 64, key=one), eqx.nn.Linear(64, 8, key=two)
        self.drop = eqx.nn.Dropout(0.25)

    def __call__(self, x: Any, key: Any = None) -> Any:
        return self.last(self.drop(jax.nn.relu(self.first(x)), key=key))


def in_haiku(x: Any) -> Any:
    return hk.nets.MLP([64, 8])(x)


def function(params: Any, x: Any) -> Any:
    return jax.nn.relu(x @ params["first"]["kernel"]) @ params["last"]["kernel"]


SHAPES = {
    "first": {"kernel": jax.ShapeDtypeStruct((40, 64), "float32")},
    "last": {"kernel": jax.ShapeDtypeStruct((64, 8), "float32")},
}


def same(one: Any, two: Any) -> bool:
    """Whether two structures have the same bits."""
    alike = jax.tree_util.tree_map(
        lambda a, b: a.dtype == b.dtype and np.array_equal(np.asarray(a), np.asarray(b)), one, two
    )
    return all(jax.tree_util.tree_leaves(alike))
