"""The architectures of the Keras front end's parity tests as plain functions of JAX: fn(params, *inputs, key)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Twin = tuple[Callable[..., Any], dict[str, Any]]
SHAPES = {1: ("NHC", "HIO", "NHC"), 2: ("NHWC", "HWIO", "NHWC")}


def parameters(**shapes: tuple[int, ...]) -> dict[str, Any]:
    """Shapes; gains and shifts with their values."""
    return {name: np.full(s, 1.0 if name.startswith("g") else 0.0, np.float32) if name[0] in "gt"
            else jax.ShapeDtypeStruct(s, jnp.float32) for name, s in shapes.items()}  # fmt: skip


def layers(**sizes: tuple[int, ...]) -> dict[str, Any]:
    """A weight `w_name` and a bias `b_name` of each layer."""
    found = {f"w_{n}": s for n, s in sizes.items()} | {f"b_{n}": s[-1:] for n, s in sizes.items()}
    return parameters(**found)


def norms(**sizes: int) -> dict[str, Any]:
    """A gain `g_name` and a shift `t_name` of each norm."""
    return parameters(**{f"{kind}_{n}": (s,) for n, s in sizes.items() for kind in "gt"})


def dense(p: Any, name: str, x: Any) -> Any:
    return x @ p[f"w_{name}"] + p[f"b_{name}"]


def conv(p: Any, name: str, x: Any, stride: int = 1, padding: str = "SAME", groups: int = 1, dilation: int = 1) -> Any:
    n = x.ndim - 2
    y = lax.conv_general_dilated(x, p[f"w_{name}"], (stride,) * n, padding, rhs_dilation=(dilation,) * n,
                                 dimension_numbers=SHAPES[n], feature_group_count=groups)  # fmt: skip
    return y + p[f"b_{name}"] if f"b_{name}" in p else y


def norm(p: Any, name: str, x: Any, axes: Any, eps: float = 1e-3) -> Any:
    centred = x - x.mean(axes, keepdims=True)
    return centred * lax.rsqrt(x.var(axes, keepdims=True) + eps) * p[f"g_{name}"] + p[f"t_{name}"]


def batch_norm(p: Any, name: str, x: Any) -> Any:
    return norm(p, name, x, tuple(range(x.ndim - 1)))


def layer_norm(p: Any, name: str, x: Any) -> Any:
    return norm(p, name, x, -1)


def rms_norm(p: Any, name: str, x: Any) -> Any:
    return x * lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6) * p[f"g_{name}"]


def group_norm(p: Any, name: str, x: Any, groups: int) -> Any:
    split = x.reshape(*x.shape[:-1], groups, -1)
    axes = (*range(1, x.ndim - 1), x.ndim)
    centred = (split - split.mean(axes, keepdims=True)) * lax.rsqrt(split.var(axes, keepdims=True) + 1e-3)
    return centred.reshape(x.shape) * p[f"g_{name}"] + p[f"t_{name}"]


def dropout(x: Any, rate: float, key: Any) -> Any:
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0.0)


def pool(x: Any, size: int, stride: int, kind: str) -> Any:
    window, strides = (1, size, size, 1), (1, stride, stride, 1)
    if kind == "max":
        return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, "VALID")
    return lax.reduce_window(x, 0.0, lax.add, window, strides, "VALID") / size**2


def gelu(x: Any) -> Any:
    return jax.nn.gelu(x, approximate=False)


def mlp() -> Twin:
    def function(p: Any, x: Any) -> Any:
        return dense(p, "c", gelu(dense(p, "b", jax.nn.relu(dense(p, "a", x)))))

    return function, layers(a=(40, 96), b=(96, 96), c=(96, 10))


def all_convolutional() -> Twin:
    def function(p: Any, x: Any, key: Any) -> Any:
        for k, (stride, drop) in enumerate(((1, False), (1, True), (2, False), (1, False))):
            x = conv(p, f"{k}", jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), stride, "VALID")
            x = jax.nn.relu(batch_norm(p, f"{k}", x))
            x = dropout(x, 0.5, key) if drop else x
        return conv(p, "last", x).mean((1, 2))

    sizes = {"0": (3, 3, 3, 24), "1": (3, 3, 24, 24), "2": (3, 3, 24, 48), "3": (3, 3, 48, 48), "last": (1, 1, 48, 10)}
    return function, layers(**sizes) | norms(**{"0": 24, "1": 24, "2": 48, "3": 48})


def pre_activation_resnet() -> Twin:
    def function(p: Any, x: Any) -> Any:
        x = conv(p, "stem", x)
        for k in range(4):
            x = x + conv(p, f"{k}", jax.nn.relu(batch_norm(p, f"{k}", x)))
        return dense(p, "head", jax.nn.relu(x).mean((1, 2)))

    convs = layers(stem=(3, 3, 3, 24), **{f"{k}": (3, 3, 24, 24) for k in range(4)})
    return function, convs | norms(**{f"{k}": 24 for k in range(4)}) | layers(head=(24, 10))


def pooled_vgg() -> Twin:
    def function(p: Any, x: Any) -> Any:
        x = pool(jax.nn.elu(conv(p, "a", x)), 2, 2, "max")
        x = pool(jax.nn.leaky_relu(conv(p, "b", x, padding="VALID"), 0.2), 2, 2, "mean")
        return dense(p, "d", jax.nn.softplus(dense(p, "c", x.reshape(x.shape[0], -1))))

    return function, layers(a=(3, 3, 3, 16), b=(3, 3, 16, 32), c=(288, 50), d=(50, 10))


def separable() -> Twin:
    def function(p: Any, x: Any) -> Any:
        x = jax.nn.silu(conv(p, "b", conv(p, "a", x, groups=8)))
        x = jax.nn.hard_silu(conv(p, "c", x, padding="VALID", groups=32))
        return conv(p, "d", x, padding="VALID", groups=4, dilation=2)

    made = layers(a=(3, 3, 1, 8), b=(1, 1, 8, 32), c=(3, 3, 1, 64), d=(3, 3, 16, 32))
    return function, made


def squeeze_excite() -> Twin:
    def function(p: Any, x: Any) -> Any:
        x = jax.nn.silu(conv(p, "a", x))
        gate = jax.nn.sigmoid(dense(p, "up", jax.nn.relu(dense(p, "down", x.mean(1)))))
        return conv(p, "b", x * gate[:, None, :])

    return function, layers(a=(5, 6, 32), b=(3, 32, 16), down=(32, 8), up=(8, 32))


def attended(p: Any, x: Any, heads: int, names: str = "qkvo", turn: Any = None, **options: Any) -> Any:
    q, k, v = (dense(p, n, x) if f"b_{n}" in p else x @ p[f"w_{n}"] for n in names[:3])
    q, k, v = (a.reshape(*x.shape[:2], heads, -1) for a in (q, k, v))
    q, k = (q, k) if turn is None else (turn(q), turn(k))
    y = jax.nn.dot_product_attention(q, k, v, **options).reshape(x.shape)
    return dense(p, names[3], y) if f"b_{names[3]}" in p else y @ p[f"w_{names[3]}"]


def encoder() -> Twin:
    def function(p: Any, x: Any) -> Any:
        x = x + attended(p, layer_norm(p, "one", x), 4)
        y = layer_norm(p, "two", x)
        return x + dense(p, "down", jax.nn.silu(dense(p, "gate", y)) * dense(p, "up", y))

    squares = dict.fromkeys("qkvo", (48, 48))
    return function, layers(**squares, gate=(48, 96), up=(48, 96), down=(96, 48)) | norms(one=48, two=48)


def group_norm_and_prelu() -> Twin:
    def function(p: Any, x: Any) -> Any:
        x = group_norm(p, "a", conv(p, "a", x), 8)
        x = group_norm(p, "b", conv(p, "b", jnp.where(x >= 0, x, p["slope"] * x)), 1)
        return conv(p, "c", jax.nn.mish(x))

    made = layers(a=(3, 3, 4, 32), b=(3, 3, 32, 32), c=(3, 3, 32, 4)) | norms(a=32, b=32)
    return function, made | {"slope": np.full((32,), 0.1, np.float32)}


def unet() -> Twin:
    def function(p: Any, x: Any) -> Any:
        x = jax.nn.relu(conv(p, "a", x))
        y = jax.nn.relu(conv(p, "b", pool(x, 2, 2, "mean")))
        y = lax.conv_transpose(y, p["w_up"], (2, 2), "VALID", dimension_numbers=SHAPES[2]) + p["b_up"]
        return conv(p, "c", jnp.concatenate([x, jax.nn.relu(y)], -1))

    return function, layers(a=(3, 3, 3, 16), b=(3, 3, 16, 32), up=(2, 2, 32, 16), c=(3, 3, 32, 8))


def inception() -> Twin:
    def function(p: Any, x: Any) -> Any:
        padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        parts = [conv(p, "one", x), conv(p, "three", x), conv(p, "pooled", pool(padded, 3, 1, "max"))]
        return dense(p, "head", jax.nn.relu(jnp.concatenate(parts, -1)).max((1, 2)))

    return function, layers(one=(1, 1, 8, 12), three=(3, 3, 8, 20), pooled=(1, 1, 8, 8), head=(40, 6))


def shared() -> Twin:
    def function(p: Any, x: Any, y: Any) -> Any:
        a, b = jnp.tanh(dense(p, "layer", x)), jnp.tanh(dense(p, "layer", y))
        c = dense(p, "layer", jnp.maximum(a, b) - a * b)
        return dense(p, "head", (a + b + c) / 3)

    return function, layers(layer=(32, 32), head=(32, 4))


def token_mixer() -> Twin:
    def function(p: Any, words: Any) -> Any:
        x = jnp.take(p["w_table"], words, axis=0)
        x = x + gelu(dense(p, "tokens", x.swapaxes(1, 2))).swapaxes(1, 2)
        length = jnp.sqrt(jnp.square(x).sum(-1, keepdims=True))
        x = x + gelu(dense(p, "features", x / jnp.maximum(length, 1e-12)))
        return dense(p, "head", x.sum(1))

    made = parameters(w_table=(100, 32)) | layers(tokens=(10, 10), features=(32, 32), head=(32, 5))
    return function, made


def resnet() -> Twin:
    """Bottlenecks; the second one has a shortcut of its own."""

    def function(p: Any, x: Any) -> Any:
        x = pool(jax.nn.relu(batch_norm(p, "stem", conv(p, "stem", x))), 2, 2, "max")
        for k, stride in enumerate((1, 2)):
            y = jax.nn.relu(batch_norm(p, f"{k}a", conv(p, f"{k}a", x, stride)))
            y = jax.nn.relu(batch_norm(p, f"{k}b", conv(p, f"{k}b", y)))
            y = batch_norm(p, f"{k}c", conv(p, f"{k}c", y))
            x = x if stride == 1 else batch_norm(p, f"{k}d", conv(p, f"{k}d", x, stride))
            x = jax.nn.relu(x + y)
        return dense(p, "head", x.mean((1, 2)))

    sizes = {"stem": (3, 3, 3, 32)}
    for k, width in enumerate((32, 64)):
        sizes |= {f"{k}a": (1, 1, 32, 16), f"{k}b": (3, 3, 16, 16), f"{k}c": (1, 1, 16, width)}
    sizes["1d"] = (1, 1, 32, 64)
    weights = parameters(**{f"w_{n}": s for n, s in sizes.items()})
    return function, weights | norms(**{n: s[-1] for n, s in sizes.items()}) | layers(head=(64, 10))


def vision_transformer() -> Twin:
    def function(p: Any, x: Any) -> Any:
        x = conv(p, "patch", x, 4, "VALID")
        x = x.reshape(x.shape[0], -1, 32)
        for k in range(2):
            x = x + attended(p, layer_norm(p, f"{k}a", x), 4, [f"{k}{n}" for n in "qkvo"])
            x = x + dense(p, f"{k}down", gelu(dense(p, f"{k}up", layer_norm(p, f"{k}b", x))))
        return dense(p, "head", layer_norm(p, "last", x).mean(1))

    sizes = {"patch": (4, 4, 3, 32)}
    for k in range(2):
        sizes |= {f"{k}{n}": (32, 32) for n in "qkvo"} | {f"{k}up": (32, 128), f"{k}down": (128, 32)}
    return function, layers(**sizes, head=(32, 10)) | norms(**{f"{k}{n}": 32 for k in range(2) for n in "ab"}, last=32)


def turned(x: Any) -> Any:
    """Rotary places: halves of the features as real and imaginary part."""
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[1])[:, None] * 100.0 ** -(np.arange(half) / half)
    cos, sin = (np.tile(f(angle), 2)[:, None, :].astype(np.float32) for f in (np.cos, np.sin))
    return x * cos + jnp.concatenate([-x[..., half:], x[..., :half]], -1) * sin


def gpt() -> Twin:
    """RMS norms, rotary places, SwiGLU."""

    def function(p: Any, words: Any) -> Any:
        x = jnp.take(p["w_table"], words, axis=0)
        for k in range(2):
            x = x + attended(p, rms_norm(p, f"{k}a", x), 4, [f"{k}{n}" for n in "qkvo"], turned, is_causal=True)
            y = rms_norm(p, f"{k}b", x)
            x = x + (jax.nn.silu(y @ p[f"w_{k}gate"]) * (y @ p[f"w_{k}up"])) @ p[f"w_{k}down"]
        return rms_norm(p, "last", x) @ p["w_head"]

    sizes: dict[str, tuple[int, ...]] = {"w_table": (100, 32), "w_head": (32, 100), "g_last": (32,)}
    for k in range(2):
        sizes |= {f"w_{k}{n}": (32, 32) for n in "qkvo"} | {f"g_{k}a": (32,), f"g_{k}b": (32,)}
        sizes |= {f"w_{k}gate": (32, 96), f"w_{k}up": (32, 96), f"w_{k}down": (96, 32)}
    return function, parameters(**sizes)


def convnext() -> Twin:
    """Depthwise convolutions, layer norms, layer scales of 0.1."""

    def function(p: Any, x: Any) -> Any:
        x = layer_norm(p, "stem", conv(p, "stem", x, 2, "VALID"))
        for k in range(2):
            y = layer_norm(p, f"{k}", conv(p, f"{k}depth", x, groups=24))
            x = x + p[f"scale{k}"] * dense(p, f"{k}down", gelu(dense(p, f"{k}up", y)))
        return dense(p, "head", layer_norm(p, "last", x.mean((1, 2))))

    sizes: dict[str, tuple[int, ...]] = {"stem": (2, 2, 3, 24)}
    for k in range(2):
        sizes |= {f"{k}depth": (7, 7, 1, 24), f"{k}up": (24, 96), f"{k}down": (96, 24)}
    scales = {f"scale{k}": np.full((24,), 0.1, np.float32) for k in range(2)}
    return function, layers(**sizes, head=(24, 10)) | norms(stem=24, last=24, **{f"{k}": 24 for k in range(2)}) | scales


def mixture() -> Twin:
    """All experts, mixed by a softmax."""

    def function(p: Any, x: Any) -> Any:
        x = jnp.tanh(x @ p["w_stem"])
        shares = jax.nn.softmax(x @ p["w_gate"])
        hidden = jax.nn.silu(jnp.einsum("bi,eio->beo", x, p["w_up"]))
        made = jnp.einsum("beo,eoi->bei", hidden, p["w_down"])
        return (made * shares[..., None]).sum(1) @ p["w_head"]

    return function, parameters(w_stem=(32, 64), w_gate=(64, 4), w_up=(4, 64, 96), w_down=(4, 96, 64), w_head=(64, 8))


def scanned_transformer() -> Twin:
    """One body over stacked parameters."""

    def function(p: Any, x: Any) -> Any:
        def body(x: Any, one: Any) -> Any:
            x = x + attended(one, layer_norm(one, "a", x), 4)
            return x + dense(one, "down", gelu(dense(one, "up", layer_norm(one, "b", x)))), None

        return dense(p, "head", lax.scan(body, dense(p, "stem", x), p["blocks"])[0])

    one = layers(**dict.fromkeys("qkvo", (32, 32)), up=(32, 128), down=(128, 32)) | norms(a=32, b=32)
    blocks = jax.tree_util.tree_map(
        lambda a: np.broadcast_to(a, (3, *a.shape)) if isinstance(a, np.ndarray)
        else jax.ShapeDtypeStruct((3, *a.shape), a.dtype), one)  # fmt: skip
    return function, layers(stem=(20, 32), head=(32, 8)) | {"blocks": blocks}


def tied() -> Twin:
    """A language model whose head is the table of its words."""

    def function(p: Any, words: Any) -> Any:
        x = jnp.take(p["w_table"], words, axis=0)
        return layer_norm(p, "last", x + jnp.tanh(dense(p, "a", x))) @ p["w_table"].T

    return function, parameters(w_table=(100, 32)) | layers(a=(32, 32)) | norms(last=32)


TWINS = [
    mlp, all_convolutional, pre_activation_resnet, pooled_vgg, separable, squeeze_excite, encoder, group_norm_and_prelu,
    unet, inception, shared, token_mixer, resnet, vision_transformer, gpt, convnext, mixture, scanned_transformer, tied,
]  # fmt: skip
