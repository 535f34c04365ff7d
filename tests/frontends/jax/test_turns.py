"""Loops whose turns are alike are worked out once; those that depend on the turn's number are not taken for alike."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from autoinit.frontends.jax.flatten import Flattener

from .programs import noise, plan_of, program, traced


def deep(p: Any, x: Any, key: Any) -> Any:
    """Layers with a rotation that is a constant, made anew in every one."""

    def layer(x: Any, weights: Any) -> Any:
        turned = x * jnp.cos(jnp.arange(x.shape[-1]) * 0.1)
        return x + jax.nn.gelu(turned @ weights[0]) @ weights[1], None

    return lax.scan(layer, x @ p["stem.w"], (p["layers.up"], p["layers.down"]))[0]


def shapes(layers: int) -> dict[str, tuple[int, ...]]:
    return {"stem.w": (24, 32), "layers.up": (layers, 32, 48), "layers.down": (layers, 48, 32)}


def test_equations_are_read_as_often_as_they_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    equation = Flattener.equation

    def counted(self: Flattener, eqn: Any, *rest: Any) -> Any:
        seen.append(eqn)
        return equation(self, eqn, *rest)

    monkeypatch.setattr(Flattener, "equation", counted)
    counts = []
    for layers in (4, 40):
        seen.clear()
        followed = traced(program(deep, shapes(layers)), noise(16, 24))
        counts.append(len(seen))
        assert sum(node.op == "linear" for node in followed.graph.nodes) == 1 + 2 * layers
    assert counts[0] == counts[1]


def test_every_layer_has_a_scale_of_its_own() -> None:
    parts = plan_of(program(deep, shapes(12)), noise(16, 24)).parameter("layers.down").parts
    assert [part.offset for part in parts] == [k * 48 * 32 for k in range(12)]


def test_turns_that_know_their_number_differ() -> None:
    def run(p: Any, x: Any, key: Any) -> Any:
        def layer(x: Any, row: Any) -> Any:
            k, w = row
            return lax.cond(k % 2 == 0, jnp.tanh, jnp.sin, x @ w), None

        return lax.scan(layer, x, (jnp.arange(6), p["layers.w"]))[0]

    nodes = traced(program(run, {"layers.w": (6, 24, 24)}), noise(16, 24)).graph.nodes
    assert [node.attrs["fn"] for node in nodes if node.op == "elementwise"] == ["tanh", "sin"] * 3
