"""Attention is one op, however it is written out; the same numbers as PyTorch's."""

from __future__ import annotations

from typing import Any

import flax.linen
import jax
import jax.numpy as jnp
import pytest
import torch
from torch import nn

import autoinit
from autoinit.frontends.jax.lowering import attention as lowering

from .programs import noise, plan_of, program, traced

BATCH, TOKENS, HEADS, WIDTH = 8, 16, 4, 32
NAMES = ("embed", "q", "k", "v", "out")


class Twin(nn.Module):
    """A residual attention block of PyTorch."""

    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.causal = causal
        for name in NAMES:
            setattr(self, name, nn.Linear(WIDTH, WIDTH, bias=False))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x)
        q, k, v = (
            layer(x).view(BATCH, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2) for layer in (self.q, self.k, self.v)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return x + self.out(y.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH))


def of_jax(q: Any, k: Any, v: Any, causal: bool) -> Any:
    return jax.nn.dot_product_attention(q, k, v, is_causal=causal)


def of_linen(q: Any, k: Any, v: Any, causal: bool) -> Any:
    mask = flax.linen.make_causal_mask(jnp.ones((BATCH, TOKENS))) if causal else None
    return flax.linen.dot_product_attention(q, k, v, mask=mask)


def by_hand(q: Any, k: Any, v: Any, causal: bool) -> Any:
    logits = jnp.einsum("bthd,bshd->bhts", q, k) * q.shape[-1] ** -0.5
    if causal:
        logits = jnp.where(jnp.tri(TOKENS, dtype=bool), logits, -1e9)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(logits), v)


def one_head_at_a_time(q: Any, k: Any, v: Any, causal: bool) -> Any:
    def head(q: Any, k: Any, v: Any) -> Any:
        logits = q @ k.T / jnp.sqrt(q.shape[-1])
        return jax.nn.softmax(jnp.where(jnp.tri(TOKENS, dtype=bool), logits, -jnp.inf) if causal else logits) @ v

    return jax.vmap(jax.vmap(head, in_axes=1, out_axes=1))(q, k, v)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("written", [of_jax, of_linen, by_hand, one_head_at_a_time])
def test_the_same_as_fused(written: Any, causal: bool) -> None:
    def function(p: Any, x: Any, key: Any) -> Any:
        x = x @ p["embed.weight"]
        q, k, v = ((x @ p[f"{n}.weight"]).reshape(BATCH, TOKENS, HEADS, -1) for n in "qkv")
        return x + written(q, k, v, causal).reshape(BATCH, TOKENS, WIDTH) @ p["out.weight"]

    made = program(function, {f"{name}.weight": (WIDTH, WIDTH) for name in NAMES})
    plan = plan_of(made, noise(BATCH, TOKENS, WIDTH))
    twin = autoinit.plan(Twin(causal), (BATCH, TOKENS, WIDTH))
    for name in NAMES:
        assert plan[f"{name}.weight"].std == pytest.approx(twin[f"{name}.weight"].std, rel=1e-6)
    nodes = traced(made, noise(BATCH, TOKENS, WIDTH)).graph.nodes
    assert [node.attrs["causal"] for node in nodes if node.op == "attention"] == [causal]


@pytest.mark.parametrize("written", [of_jax, of_linen, by_hand, one_head_at_a_time])
def test_a_large_causal_mask_is_known_by_some_of_its_entries(written: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is never worked out; a band, and a triangle with a hole, are none."""
    monkeypatch.setattr(lowering, "LARGEST_MASK", TOKENS)
    shown: list[bool] = []
    seen = lowering._seen
    monkeypatch.setattr(lowering, "_seen", lambda *a: (shown.append(seen(*a)), shown[-1])[1])

    def function(p: Any, x: Any, key: Any) -> Any:
        q, k, v = ((x @ p[n]).reshape(BATCH, TOKENS, HEADS, -1) for n in "qkv")
        return written(q, k, v, True)

    def banded(p: Any, x: Any, key: Any) -> Any:
        q, k, v = ((x @ p[n]).reshape(BATCH, TOKENS, HEADS, -1) for n in "qkv")
        row, column = jnp.arange(TOKENS)[:, None], jnp.arange(TOKENS)
        mask = (column <= row) & (column > row - 4)
        logits = jnp.where(mask, jnp.einsum("bthd,bshd->bhts", q, k), -1e9)
        return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(logits), v)

    for one, causal in ((function, True), (banded, False)):
        made = program(one, dict.fromkeys("qkv", (WIDTH, WIDTH)))
        nodes = traced(made, noise(BATCH, TOKENS, WIDTH)).graph.nodes
        assert [node.attrs["causal"] for node in nodes if node.op == "attention"] == [causal]
    assert shown == [True, False]


def test_tokens_of_a_table_are_as_good_as_a_signal() -> None:
    """Attention, and a convolution with its bias, on what words chose."""
    shapes = {"table.w": (50, WIDTH), **{f"{n}.weight": (WIDTH, WIDTH) for n in "qkv"}, "conv.w": (3, WIDTH, WIDTH),
              "conv.shift": (WIDTH,)}  # fmt: skip

    def function(p: Any, words: Any, key: Any) -> Any:
        x = p["table.w"][words]
        q, k, v = ((x @ p[f"{n}.weight"]).reshape(BATCH, TOKENS, HEADS, -1) for n in "qkv")
        x = of_jax(q, k, v, True).reshape(BATCH, TOKENS, WIDTH)
        y = jax.lax.conv_general_dilated(x, p["conv.w"], (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC"))
        return y + p["conv.shift"]

    made = program(function, shapes)
    nodes = traced(made, autoinit.Input((BATCH, TOKENS), vocabulary=50)).graph.nodes
    assert [node.attrs["causal"] for node in nodes if node.op == "attention"] == [True]
    assert [len([r for r in node.inputs if r is not None]) for node in nodes if node.op == "conv"] == [3]
