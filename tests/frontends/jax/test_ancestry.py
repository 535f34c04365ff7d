"""Where formulas end, the real primitives are run on samples of what weights made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from autoinit.core.options import read_options
from autoinit.core.plan.measured import key_of
from autoinit.frontends.jax.measure import record

from .programs import drawn, noise, plan_of, program

CHOOSING: dict[str, Callable[[Any], Any]] = {
    "its own divisor": lambda x: x / (1.0 + jnp.abs(x).max(axis=-1, keepdims=True)),
    "top values": lambda x: jnp.where(x >= lax.top_k(x, 8)[0][:, -1:], x, 0.0),
    "quotient": lambda x: x / (0.5 + jnp.square(x[:, ::-1])),
}


@pytest.mark.parametrize("name", CHOOSING)
def test_what_is_sampled_agrees_with_what_is_measured(name: str) -> None:
    shapes = {"one.w": (64, 96), "two.w": (96, 48)}
    made = program(lambda p, x, key: CHOOSING[name](x @ p["one.w"]) @ p["two.w"], shapes)
    plan = plan_of(made, noise(64, 64))
    last = plan.tensors[plan.outputs[0]]
    ratios = []
    for seed in range(5):
        moments = record(drawn(made, plan, seed), noise(64, 64), read_options({}), seed)
        ratios.append(moments[key_of(last)][1] / last.tensor_variance)
    # 48 columns of normal weights: each ratio is known up to sqrt(2/48) = 0.2, the mean of five up to 0.1
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.3)


def test_routing_by_the_strongest_expert() -> None:
    """Top-2 of 4 experts, mixed by their shares: nothing is passed on without being looked at."""

    def function(p: Any, x: Any, key: Any) -> Any:
        x = x @ p["stem.w"]
        shares, chosen = lax.top_k(jax.nn.softmax(x @ p["gate.w"]), 2)
        gates = jnp.sum(jax.nn.one_hot(chosen, 4) * shares[..., None], axis=-2)
        hidden = jax.nn.silu(jnp.einsum("bi,eio->beo", x, p["up.w"]))
        return jnp.einsum("beo,eoi,be->bi", hidden, p["down.w"], gates)

    shapes = {"stem.w": (32, 64), "gate.w": (64, 4), "up.w": (4, 64, 96), "down.w": (4, 96, 64)}
    plan = plan_of(program(function, shapes), noise(64, 32))
    assert {p.name for p in plan.parameters if p.action == "set"} == set(shapes)
    assert not [n for n in plan.notes if n.kind == "passed"]


def test_both_parts_of_a_complex_number_are_sampled() -> None:
    """|exp(a + ib)| = exp(a): the variance of a constant that samples tell is that of the array itself."""
    re, im = np.linspace(-2, 0, 16, dtype=np.float32), np.linspace(0.3, 3, 16, dtype=np.float32)

    def function(p: Any, x: Any, key: Any) -> Any:
        e = jnp.exp(lax.complex(re + 0.0 * p["gain"], im))
        return ((x @ p["one.w"]) * e).real

    plan = plan_of(program(function, {"one.w": (32, 16), "gain": (16,)}), noise(64, 32))
    (row,) = [t for t in plan.tensors if t.op == "exp"]
    values = np.exp(re + 1j * im)
    assert row.tensor_variance == pytest.approx(np.square(np.abs(values - values.mean())).mean(), rel=1e-4)
