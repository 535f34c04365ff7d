"""Equinox: networks of its own layers, as its examples write them."""

from __future__ import annotations

from typing import Any

from ..zoos.entry import Entry
from .declare import entry


def mlp() -> Any:
    import equinox as eqx
    import jax

    return eqx.nn.MLP(64, 10, 128, 4, key=jax.random.key(0))


def cnn() -> Any:
    """The CNN of the documentation's MNIST example."""
    import equinox as eqx
    import jax
    from jax import numpy as jnp

    one, two, three, four = jax.random.split(jax.random.key(0), 4)
    return eqx.nn.Sequential([
        eqx.nn.Conv2d(1, 3, kernel_size=4, key=one), eqx.nn.MaxPool2d(kernel_size=2), eqx.nn.Lambda(jax.nn.relu),
        eqx.nn.Lambda(jnp.ravel), eqx.nn.Linear(1728, 512, key=two), eqx.nn.Lambda(jax.nn.sigmoid),
        eqx.nn.Linear(512, 64, key=three), eqx.nn.Lambda(jax.nn.relu), eqx.nn.Linear(64, 10, key=four),
        eqx.nn.Lambda(jax.nn.log_softmax),
    ])  # fmt: skip


ENTRIES: list[Entry] = [
    entry("equinox", "mlp", "MLP", mlp, (64, 64)),
    entry("equinox", "mnist-cnn", "CNN", cnn, (16, 1, 28, 28)),
]
