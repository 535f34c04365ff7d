"""Llama as a function of JAX: layers one after the other, or one body that is scanned over stacked weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

VOCABULARY, KEYS = 128_256, 8


@dataclass(frozen=True)
class Size:
    """Widths as the configurations of `benchmarks.scaling.models` say."""

    width: int
    hidden: int
    layers: int
    heads: int


SIZES = {"Llama 70B": Size(8192, 28672, 80, 64), "Llama 405B": Size(16384, 53248, 126, 128)}


def shapes(size: Size, scanned: bool) -> dict[str, Any]:
    """bfloat16, without memory; gains are ones."""
    d, h = size.width, size.width * KEYS // size.heads
    one = {"q": (d, d), "k": (d, h), "v": (d, h), "o": (d, d), "gate": (d, size.hidden), "up": (d, size.hidden),
           "down": (size.hidden, d)}  # fmt: skip
    lead = (size.layers,) if scanned else ()
    block: dict[str, Any] = {n: jax.ShapeDtypeStruct((*lead, *s), jnp.bfloat16) for n, s in one.items()}
    block |= {n: np.ones((*lead, d), jnp.bfloat16) for n in ("norm1", "norm2")}
    return {
        "table": jax.ShapeDtypeStruct((VOCABULARY, d), jnp.bfloat16), "norm": np.ones(d, jnp.bfloat16),
        "head": jax.ShapeDtypeStruct((d, VOCABULARY), jnp.bfloat16),
        "blocks": block if scanned else [dict(block) for _ in range(size.layers)],
    }  # fmt: skip


def rms(x: Any, gain: Any) -> Any:
    wide = x.astype(jnp.float32)
    return (wide * lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype) * gain


def turned(x: Any) -> Any:
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[1])[:, None] * 500_000.0 ** -(np.arange(half) / half)
    cos, sin = (jnp.asarray(np.tile(f(angle), 2)[:, None, :], x.dtype) for f in (np.cos, np.sin))
    return x * cos + jnp.concatenate([-x[..., half:], x[..., :half]], -1) * sin


def block(p: Any, x: Any, size: Size) -> Any:
    y = rms(x, p["norm1"])
    q, k, v = ((y @ p[n]).reshape(*x.shape[:2], -1, size.width // size.heads) for n in "qkv")
    y = jax.nn.dot_product_attention(turned(q), turned(k), v, is_causal=True).reshape(x.shape)
    x = x + y @ p["o"]
    y = rms(x, p["norm2"])
    return x + (jax.nn.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"]


def network(size: Size, scanned: bool) -> Callable[[Any, Any], Any]:
    def function(p: Any, words: Any) -> Any:
        x = jnp.take(p["table"], words, axis=0)
        if scanned:
            x, _ = lax.scan(lambda x, one: (block(one, x, size), None), x, p["blocks"])
        else:
            for one in p["blocks"]:
                x = block(one, x, size)
        return rms(x, p["norm"]) @ p["head"]

    return function
