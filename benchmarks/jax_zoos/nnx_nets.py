"""Flax NNX: networks of its tutorials and examples, in small configurations."""

from __future__ import annotations

from typing import Any

from autoinit import Input

from ..zoos.entry import Entry
from .declare import BATCH, LENGTH, VOCABULARY, entry, tokens


def cnn() -> Any:
    """The CNN of the MNIST tutorial."""
    from functools import partial

    from flax import nnx

    class CNN(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.conv1 = nnx.Conv(1, 32, kernel_size=(3, 3), rngs=rngs)
            self.batch_norm1 = nnx.BatchNorm(32, rngs=rngs)
            self.dropout1 = nnx.Dropout(rate=0.025, rngs=rngs)
            self.conv2 = nnx.Conv(32, 64, kernel_size=(3, 3), rngs=rngs)
            self.batch_norm2 = nnx.BatchNorm(64, rngs=rngs)
            self.avg_pool = partial(nnx.avg_pool, window_shape=(2, 2), strides=(2, 2))
            self.linear1 = nnx.Linear(3136, 256, rngs=rngs)
            self.dropout2 = nnx.Dropout(rate=0.025, rngs=rngs)
            self.linear2 = nnx.Linear(256, 10, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = self.avg_pool(nnx.relu(self.batch_norm1(self.dropout1(self.conv1(x)))))
            x = self.avg_pool(nnx.relu(self.batch_norm2(self.conv2(x))))
            x = x.reshape(x.shape[0], -1)
            return self.linear2(nnx.relu(self.dropout2(self.linear1(x))))

    return CNN(nnx.Rngs(0))


def minigpt() -> Any:
    """The transformer of the miniGPT tutorial: norms after the branches, learned places."""
    from flax import nnx
    from jax import numpy as jnp

    width, heads, hidden = 128, 4, 256

    class Block(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.mha = nnx.MultiHeadAttention(num_heads=heads, in_features=width, decode=False, rngs=rngs)
            self.dropout1, self.dropout2 = nnx.Dropout(0.1, rngs=rngs), nnx.Dropout(0.1, rngs=rngs)
            self.norm1 = nnx.LayerNorm(width, epsilon=1e-6, rngs=rngs)
            self.norm2 = nnx.LayerNorm(width, epsilon=1e-6, rngs=rngs)
            self.linear1, self.linear2 = nnx.Linear(width, hidden, rngs=rngs), nnx.Linear(hidden, width, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
            x = self.norm1(x + self.dropout1(self.mha(x, mask=mask)))
            return self.norm2(x + self.dropout2(self.linear2(nnx.relu(self.linear1(x)))))

    class MiniGPT(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.words, self.places = nnx.Embed(VOCABULARY, width, rngs=rngs), nnx.Embed(LENGTH, width, rngs=rngs)
            self.blocks = nnx.List([Block(rngs) for _ in range(4)])
            self.head = nnx.Linear(width, VOCABULARY, use_bias=False, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = self.words(x) + self.places(jnp.arange(x.shape[1])[None, :])
            for block in self.blocks:
                x = block(x)
            return self.head(x)

    return MiniGPT(nnx.Rngs(0))


def vae() -> Any:
    """The variational autoencoder of the examples."""
    import jax
    from flax import nnx
    from jax import numpy as jnp

    class VAE(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.encoder, self.mean = nnx.Linear(784, 256, rngs=rngs), nnx.Linear(256, 32, rngs=rngs)
            self.spread = nnx.Linear(256, 32, rngs=rngs)
            self.decoder, self.head = nnx.Linear(32, 256, rngs=rngs), nnx.Linear(256, 784, rngs=rngs)

        def __call__(self, x: Any, key: Any) -> Any:
            x = nnx.relu(self.encoder(x))
            mean, std = self.mean(x), jnp.exp(self.spread(x))
            z = mean + std * jax.random.normal(key, mean.shape)
            return self.head(nnx.relu(self.decoder(z))), mean, std

    return VAE(nnx.Rngs(0))


ENTRIES: list[Entry] = [
    entry("nnx", "mnist-cnn", "CNN", cnn, (16, 28, 28, 1)),
    entry("nnx", "minigpt", "decoder", minigpt, tokens()),
    entry("nnx", "vae", "autoencoder", vae, Input((16 * BATCH, 784), 0.13, 0.095)),
]
