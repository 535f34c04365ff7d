"""Weights born on eight virtual devices: the same bits as on one, and what the program costs on each of them."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import autoinit.linen

WIDTH, LAYERS = 512, 4


class Net(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        for _ in range(LAYERS):
            x = x + nn.Dense(WIDTH)(nn.gelu(nn.Dense(4 * WIDTH)(nn.LayerNorm()(x))))
        return nn.Dense(10)(x)


def costs(compiled: Any) -> dict[str, float]:
    """Floating point operations, and bytes of what is made and of what is needed in between, per device."""
    found, memory = compiled.cost_analysis(), compiled.memory_analysis()
    found = found[0] if isinstance(found, list) else found
    return {"flops": max(float(found.get("flops", 0.0)), 0.0), "made": memory.output_size_in_bytes,
            "between": memory.temp_size_in_bytes}  # fmt: skip


def main() -> None:
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto, AxisType.Auto))
    key, x = jax.random.key(0), jnp.ones((1, WIDTH))
    init = partial(autoinit.linen.init, Net())

    def place(a: Any) -> NamedSharding:
        fits = a.ndim == 2 and a.shape[1] % 2 == 0
        return NamedSharding(mesh, PartitionSpec("x", "y") if fits else PartitionSpec())

    whole = init(key, x)
    one = jax.jit(init).lower(key, x).compile()
    many = jax.jit(init, out_shardings=jax.tree_util.tree_map(place, whole)).lower(key, x).compile()
    sharded = many(key, x)
    plain = jax.jit(Net().init).lower(key, x).compile()
    pairs = zip(jax.tree_util.tree_leaves(whole), jax.tree_util.tree_leaves(sharded), strict=True)
    same = all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)
    weights = sum(a.size for a in jax.tree_util.tree_leaves(whole))
    print(json.dumps({"same": same, "weights": weights, "devices": jax.device_count(), "one": costs(one),
                      "many": costs(many), "plain": costs(plain)}))  # fmt: skip


if __name__ == "__main__":
    main()
