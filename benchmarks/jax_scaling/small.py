"""Planning against PyTorch on the same networks, and drawing against `jax.random`: seconds of one processor."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp
import torch
from torch import nn

import autoinit
from autoinit.frontends.jax.front import bound

from ..models import MODELS
from ..scaling import models as large
from ..timing import Result, best
from .llama import SIZES, network, shapes

PER_OP, DRAWN = 2.0, 1.0
ROWS, COLUMNS = 2048, 4096


@dataclass(frozen=True)
class Pair:
    """A plan of JAX and a plan of PyTorch."""

    name: str
    in_jax: Callable[[], autoinit.Plan]
    in_torch: Callable[[], autoinit.Plan]


def resnet50() -> Pair:
    model = hk.transform_with_state(lambda x, is_training=True: hk.nets.ResNet50(1000)(x, is_training))
    images = (2, 224, 224, 3)
    ready = bound(model, images, values=False)
    twin = MODELS["resnet50"].build()
    return Pair("ResNet-50", partial(autoinit.plan, ready, images, warn=False),
                partial(autoinit.plan, twin, (2, 3, 224, 224), warn=False))  # fmt: skip


def llama(layers: int = 8) -> Pair:
    size = replace(SIZES["Llama 70B"], layers=layers)
    with autoinit.meta():
        twin = large.build("Llama 70B", num_hidden_layers=layers)
    words = large.tokens(128)
    return Pair(f"Llama, {layers} layers",
                partial(autoinit.plan, network(size, False), words.numpy().astype("int32"), params=shapes(size, False),
                        warn=False), partial(autoinit.plan, twin, words, warn=False))  # fmt: skip


def mlp(layers: int = 100) -> Pair:
    def function(p: Any, x: Any) -> Any:
        for one in p:
            x = jnp.tanh(x @ one["w"] + one["b"])
        return x

    params = [{"w": jax.ShapeDtypeStruct((64, 64), jnp.float32), "b": jax.ShapeDtypeStruct((64,), jnp.float32)}
              for _ in range(layers)]  # fmt: skip
    twin = nn.Sequential(*(m for _ in range(layers) for m in (nn.Linear(64, 64), nn.Tanh())))
    return Pair(f"MLP, {layers} layers", partial(autoinit.plan, function, (32, 64), params=params, warn=False),
                partial(autoinit.plan, twin, (32, 64), warn=False))  # fmt: skip


def per_op(pair: Pair, repeats: int) -> Result:
    """Microseconds per tensor of the plan."""
    counts = [len(pair.in_jax().tensors), len(pair.in_torch().tensors)]
    times = best(repeats, pair.in_jax, pair.in_torch, clock=time.process_time)
    ours, theirs = (1e6 * t / n for t, n in zip(times, counts, strict=True))
    what = f"plan, per tensor: {pair.name}, JAX ({counts[0]}) / PyTorch ({counts[1]})"
    return Result(what, ours, theirs, PER_OP, "µs")


def drawing(repeats: int) -> Result:
    """Milliseconds of the processor per million weights."""
    shape = jax.ShapeDtypeStruct((COLUMNS, ROWS), jnp.float32)
    plan = autoinit.plan(lambda p, x: x @ p["w"], (8, COLUMNS), params={"w": shape}, warn=False)
    theirs = jax.jit(lambda key: jax.random.truncated_normal(key, -2.0, 2.0, shape.shape))
    times = best(repeats, lambda: jax.block_until_ready(plan.apply({"w": shape}, warn=False)),
                 lambda: jax.block_until_ready(theirs(jax.random.key(0))), clock=time.process_time)  # fmt: skip
    ours, drawn = (1e9 * t / (ROWS * COLUMNS) for t in times)
    return Result("drawing a million / jitted jax.random.truncated_normal", ours, drawn, DRAWN)


def results(repeats: int) -> list[Result]:
    torch.set_num_threads(1)
    return [*(per_op(make(), repeats) for make in (mlp, resnet50, llama)), drawing(repeats)]
