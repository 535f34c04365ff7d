"""Each lowering through a real small model, against what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from autoinit import Input

from .programs import assert_as_planned, noise, plan_of, program, traced

Function = Callable[..., Any]
NHWC = ("NHWC", "HWIO", "NHWC")
DENSE = {"one.w": (64, 96), "two.w": (96, 48)}


def between(function: Function) -> tuple[Any, Any]:
    """A dense layer, the function, another dense layer."""
    made = program(lambda p, x, key: function(x @ p["one.w"]) @ p["two.w"], DENSE)
    return made, noise(64, 64)


ACTIVATIONS: dict[str, Function] = {
    name: getattr(jax.nn, name)
    for name in (
        "relu", "relu6", "elu", "selu", "celu", "silu", "softplus", "tanh", "sigmoid", "leaky_relu", "soft_sign",
        "hard_tanh", "hard_sigmoid", "hard_swish", "gelu", "log_sigmoid", "squareplus", "mish",
    )
}  # fmt: skip
ENTRIES: dict[str, Function] = ACTIVATIONS | {
    "exact gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "cube": lambda x: x**3, "root": lambda x: jnp.sqrt(jnp.abs(x)), "cube root": jnp.cbrt,
    "clip": lambda x: jnp.clip(x, -0.5, 1.0), "sinus": jnp.sin, "where": lambda x: jnp.where(x > 0.3, x, 0.1 * x),
    "norm": lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True) * 8.0,
    "logsumexp": lambda x: x - jax.nn.logsumexp(x, axis=-1, keepdims=True),
    "softmax": lambda x: 40.0 * jax.nn.softmax(x, axis=-1), "log softmax": jax.nn.log_softmax,
    "standardize": lambda x: jax.nn.standardize(x, axis=-1),
}  # fmt: skip
MOVES: dict[str, Function] = {
    "transposed twice": lambda x: x.T.T, "reshaped": lambda x: x.reshape(8, 8, 96).reshape(64, 96),
    "flipped": lambda x: x[:, ::-1], "rolled": lambda x: jnp.roll(x, 3, axis=1),
    "cut": lambda x: jnp.concatenate([x[:, 10:], x[:, :10]], axis=1),
    "split": lambda x: jnp.concatenate(jnp.split(x, 4, axis=1)[::-1], axis=1),
    "picked": lambda x: x[:, np.arange(96)[::-1].copy()], "sorted": lambda x: jnp.sort(x, axis=-1),
    "taken": lambda x: jnp.take(x, jnp.arange(96) // 2, axis=1),
    "padded": lambda x: jnp.pad(x, ((0, 0), (2, 3)))[:, 2:-3], "running": lambda x: jnp.cumsum(x, axis=1) / 10,
    "tiled": lambda x: jnp.tile(x[:, :32], (1, 3)), "repeated": lambda x: jnp.repeat(x[:, :48], 2, axis=1),
    "swapped": lambda x: jnp.swapaxes(x.reshape(64, 12, 8), 1, 2).reshape(64, 96),
    "updated": lambda x: x.at[:, 10:20].set(0.0), "added": lambda x: x.at[:, 3].add(1.0),
    "updated slice": lambda x: lax.dynamic_update_slice(x, x[:, :8], (0, 4)),
    "along": lambda x: jnp.take_along_axis(x, jnp.argsort(x, axis=-1), axis=-1),
    "as one half": lambda x: x.astype(jnp.bfloat16).astype(jnp.float32),
    "called": jax.jit(lambda x: jax.checkpoint(jnp.tanh)(x)),
    "reduced": lambda x: x - x.max(axis=1, keepdims=True) + jnp.mean(x),
}  # fmt: skip


@pytest.mark.parametrize("name", ENTRIES)
def test_functions_of_entries(name: str) -> None:
    assert_as_planned(*between(ENTRIES[name]))


@pytest.mark.parametrize("name", MOVES)
def test_moves(name: str) -> None:
    assert_as_planned(*between(MOVES[name]), allowed=0.4 if name == "running" else 0.15)  # few independent entries


@pytest.mark.parametrize("equation, shape", [
    ("bi,io->bo", (64, 96)), ("bi,oi->bo", (96, 64)), ("bi,iho->bho", (64, 8, 12)), ("bi,hoi->bho", (8, 12, 64)),
    ("bi,hio->bho", (8, 64, 12)),
])  # fmt: skip
def test_dense_layers_in_any_layout(equation: str, shape: tuple[int, ...]) -> None:
    """The same standard deviation, and one node of a layer with its bias."""
    bias = {"bo": (96,), "bho": (8, 12)}[equation.split("->")[1]]

    def function(p: Any, x: Any, key: Any) -> Any:
        return jnp.tanh(jnp.einsum(equation, x, p["one.w"]) + p["one.b"]).reshape(64, 96) @ p["two.w"]

    made = program(function, {"one.w": shape, "one.b": bias, "two.w": (96, 48)})
    plan = assert_as_planned(made, noise(64, 64))
    assert plan["one.w"].parts[0].std == pytest.approx(1 / 8, rel=1e-9)
    assert plan["one.b"].action == "zero"


@pytest.mark.parametrize("turn", [False, True])
def test_a_bias_behind_a_transpose(turn: bool) -> None:
    def function(p: Any, x: Any, key: Any) -> Any:
        one = lambda row: p["one.w"] @ row + p["one.b"]  # noqa: E731
        y = jax.vmap(one)(x) if not turn else (p["one.w"] @ x.T).T + p["one.b"]
        return jnp.tanh(y) @ p["two.w"]

    made = program(function, {"one.w": (96, 64), "one.b": (96,), "two.w": (96, 48)})
    plan = assert_as_planned(made, noise(64, 64))
    assert plan["one.b"].action == "zero" and len(plan.weight_layers) == 2


CONVOLUTIONS: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "same": ((3, 3, 8, 12), {"padding": "SAME"}), "valid": ((3, 3, 8, 12), {"padding": "VALID"}),
    "strided": ((3, 3, 8, 12), {"padding": "SAME", "window_strides": (2, 2)}),
    "dilated": ((3, 3, 8, 12), {"padding": "SAME", "rhs_dilation": (2, 2)}),
    "grouped": ((3, 3, 2, 12), {"padding": "SAME", "feature_group_count": 4}),
    "depthwise": ((3, 3, 1, 8), {"padding": "SAME", "feature_group_count": 8}),
    "transposed": ((4, 4, 8, 12), {"padding": ((2, 2), (2, 2)), "lhs_dilation": (2, 2)}),
    "transposed, stride 3": ((3, 3, 8, 12), {"padding": ((2, 2), (2, 2)), "lhs_dilation": (3, 3)}),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name: str) -> None:
    shape, options = CONVOLUTIONS[name]
    options = {"window_strides": (1, 1)} | options

    def function(p: Any, x: Any, key: Any) -> Any:
        x = lax.conv_general_dilated(x, p["stem.w"], (1, 1), "SAME", dimension_numbers=NHWC)
        x = lax.conv_general_dilated(jnp.tanh(x), p["conv.w"], dimension_numbers=NHWC, **options) + p["conv.b"]
        return jax.nn.relu(x).reshape(x.shape[0], -1, x.shape[-1]).mean(1) @ p["head.w"]

    shapes = {"stem.w": (3, 3, 3, 8), "conv.w": shape, "conv.b": shape[-1:], "head.w": (shape[-1], 16)}
    plan = assert_as_planned(program(function, shapes), noise(8, 12, 12, 3))
    assert plan["conv.b"].action == "zero"


def test_pooling() -> None:
    def function(p: Any, x: Any, key: Any) -> Any:
        window = ((1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        wide = ((1, 3, 3, 1), (1, 1, 1, 1), "SAME")
        x = lax.conv_general_dilated(x, p["stem.w"], (1, 1), "SAME", dimension_numbers=NHWC)
        x = lax.reduce_window(x, -jnp.inf, lax.max, *window)
        x = lax.reduce_window(x, 0.0, lax.add, *wide) / lax.reduce_window(jnp.ones_like(x), 0.0, lax.add, *wide)
        x = lax.reduce_window(x, 0.0, lax.add, *window) / 4
        return x.mean((1, 2)) @ p["head.w"]

    made = program(function, {"stem.w": (3, 3, 3, 16), "head.w": (16, 16)})
    plan = assert_as_planned(made, noise(16, 16, 16, 3))
    kinds = [node.op for node in traced(made, noise(16, 16, 16, 3)).graph.nodes]
    assert kinds == ["conv", "max_pool", "average_pool", "average_pool", "reduce", "linear"] and plan.outputs


NORMS: dict[str, Function] = {
    "layer": lambda x, g, b: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + b,
    "inverse first": lambda x, g, b: (x - x.mean(-1, keepdims=True)) * (
        lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g) + b,
    "by squares": lambda x, g, b: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(
        jnp.maximum((x * x).mean(-1, keepdims=True) - jnp.square(x.mean(-1, keepdims=True)), 0.0) + 1e-5) * g + b,
    "batch": lambda x, g, b: (x - x.mean(0)) * lax.rsqrt(x.var(0) + 1e-5) * g + b,
    "rms": lambda x, g, b: g * (x * lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-6)) + b,
    "rms by a root": lambda x, g, b: x / jnp.sqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6) * g + b,
    "group": lambda x, g, b: _grouped(x) * g + b,
    "folded": lambda x, g, b: _folded(x, g, lambda y, m, r: y * r + (b - m * r)),
    "folded with a minus": lambda x, g, b: _folded(x, g, lambda y, m, r: y * r + (-m * r + b)),
    "folded with a minus in front": lambda x, g, b: _folded(x, g, lambda y, m, r: (b + -(r * m)) + r * y),
}  # fmt: skip


def _folded(x: Any, gain: Any, made: Function) -> Any:
    """As Keras and TensorFlow write it: one product and one sum of all entries."""
    return made(x, x.mean(-1, keepdims=True), lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * gain)


def _grouped(x: Any) -> Any:
    """Statistics of 8 groups, repeated for their features."""
    parts = x.reshape(x.shape[0], 8, -1)
    mean, variance = parts.mean(-1), parts.var(-1)
    repeated = lambda s: jnp.repeat(s, x.shape[-1] // 8, axis=-1)  # noqa: E731
    return (x - repeated(mean)) * lax.rsqrt(repeated(variance) + 1e-5)


@pytest.mark.parametrize("name", NORMS)
def test_norms_are_recognised(name: str) -> None:
    """One node with gain and shift, which stay as they are."""

    def function(p: Any, x: Any, key: Any) -> Any:
        return NORMS[name](x @ p["one.w"], p["norm.gain"], p["norm.shift"]) @ p["two.w"]

    made = program(function, DENSE | {"norm.gain": (96,), "norm.shift": (96,)})
    plan = assert_as_planned(made, Input((64, 64), mean=0.5, variance=4.0))
    assert [node.op for node in traced(made, noise(64, 64)).graph.nodes] == ["linear", "normalize", "linear"]
    assert plan["norm.gain"].reason == "norm scale: left as it is"


@pytest.mark.parametrize(
    "made",
    [lambda y, m, r: y * r + m * r, lambda y, m, r: y * r - -m * r, lambda y, m, r: y * r + -(-m * r),
     lambda y, m, r: y * r - 2.0 * m * r],
)  # fmt: skip
def test_what_only_looks_like_a_folded_norm_is_none(made: Function) -> None:
    function = lambda p, x, key: _folded(x @ p["one.w"], p["norm.gain"], made) @ p["two.w"]  # noqa: E731
    followed = traced(program(function, DENSE | {"norm.gain": (96,)}), noise(64, 64))
    assert "normalize" not in [node.op for node in followed.graph.nodes]


@pytest.mark.parametrize("written", ["where", "product", "scaled later", "by axis"])
def test_dropout_is_recognised(written: str) -> None:
    def function(p: Any, x: Any, key: Any) -> Any:
        y = jnp.tanh(x @ p["one.w"])
        kept = jax.random.bernoulli(key, 0.7, y.shape if written != "by axis" else (64, 1))
        if written == "product":
            y = y * kept / 0.7
        elif written == "scaled later":
            y = jnp.where(kept, y, 0.0) / 0.7
        else:
            y = jnp.where(kept, y / 0.7, 0.0)
        return y @ p["two.w"]

    made = program(function, DENSE)
    assert_as_planned(made, noise(64, 64))
    node = next(node for node in traced(made, noise(64, 64)).graph.nodes if node.op == "dropout")
    shared = (1,) if written == "by axis" else ()
    assert node.attrs == {"rate": pytest.approx(0.3), "shared": shared, "kind": "inverted"}


@pytest.mark.parametrize("draw", [jax.random.normal, jax.random.uniform, jax.random.gumbel, jax.random.exponential])
def test_noise_is_drawn_by_its_law(draw: Function) -> None:
    def function(p: Any, x: Any, key: Any) -> Any:
        return (x @ p["one.w"] + draw(key, (64, 96))) @ p["two.w"]

    assert_as_planned(program(function, DENSE), noise(64, 64))


def test_embeddings_and_positions() -> None:
    def function(p: Any, words: Any, key: Any) -> Any:
        x = jnp.take(p["table.w"], words, axis=0) + p["place.w"][: words.shape[1]]
        return jnp.tanh(x) @ p["head.w"]

    made = program(function, {"table.w": (100, 32), "place.w": (20, 32), "head.w": (32, 16)})
    plan = assert_as_planned(made, Input((16, 10), vocabulary=100))
    assert plan["table.w"].action == "set" and plan["place.w"].reason.startswith("used as data")


def test_what_has_no_rule_is_run_on_samples() -> None:
    made, inputs = between(lambda x: x / lax.linalg.svd(x, compute_uv=False)[:, None])
    plan = plan_of(made, inputs)
    assert "one: svd" in [n.place for n in plan.notes if n.kind == "simulated"]
