"""Architectures beside those of `test_parity`, each as (PyTorch module, Keras model, their inputs in that order)."""

from __future__ import annotations

import keras
import numpy as np
import torch
from keras import layers as K
from keras import ops
from torch import nn
from torch.nn import functional as F

from autoinit import Input

from .test_parity import BATCH


class Made(nn.Module):
    """Parts by name, and a function of them."""

    def __init__(self, forward, **parts):
        super().__init__()
        self.parts = nn.ModuleDict(parts)
        self._forward = forward

    def forward(self, *x):
        return self._forward(self.parts, *x)


def resnet():
    parts = {"stem": nn.Conv2d(3, 32, 3, padding=1, bias=False), "head": nn.Linear(64, 10)}
    for k, width in enumerate((32, 64)):
        parts |= {f"{k}a": nn.Conv2d(32, 16, 1, k + 1, bias=False), f"{k}c": nn.Conv2d(16, width, 1, bias=False)}
        parts[f"{k}b"] = nn.Conv2d(16, 16, 3, padding=1, bias=False)
    parts["1d"] = nn.Conv2d(32, 64, 1, 2, bias=False)
    parts |= {f"n{n}": nn.BatchNorm2d(c.out_channels, eps=1e-3) for n, c in parts.items() if n != "head"}

    def forward(p, x):
        def step(name, x):
            return p[f"n{name}"](p[name](x))

        x = F.max_pool2d(F.relu(step("stem", x)), 2)
        for k in range(2):
            y = step(f"{k}c", F.relu(step(f"{k}b", F.relu(step(f"{k}a", x)))))
            x = F.relu((x if k == 0 else step("1d", x)) + y)
        return p["head"](x.mean((2, 3)))

    def step(x, filters, size, stride=1):
        return K.BatchNormalization()(K.Conv2D(filters, size, stride, "same", use_bias=False)(x))

    x = inputs = keras.Input((16, 16, 3))
    x = K.MaxPooling2D(2)(K.ReLU()(step(x, 32, 3)))
    for k, width in enumerate((32, 64)):
        y = step(K.ReLU()(step(K.ReLU()(step(x, 16, 1, k + 1)), 16, 3)), width, 1)
        x = K.ReLU()(K.Add()([x if k == 0 else step(x, 64, 1, 2), y]))
    return (Made(forward, **parts), keras.Model(inputs, K.Dense(10)(K.GlobalAveragePooling2D()(x))),
            Input((BATCH, 3, 16, 16)), Input((BATCH, 16, 16, 3)))  # fmt: skip


def _attention_parts(k, bias=True, norm=lambda: nn.LayerNorm(32, eps=1e-3)):
    return {f"{k}{n}": nn.Linear(32, 32, bias) for n in "qkvo"} | {f"{k}na": norm(), f"{k}nb": norm()}


def _attended(p, k, x, turn=None, causal=False):
    b, t, d = x.shape
    q, key, v = (p[f"{k}{n}"](x).view(b, t, 4, -1).transpose(1, 2) for n in "qkv")
    q, key = (q, key) if turn is None else (turn(q), turn(key))
    y = F.scaled_dot_product_attention(q, key, v, is_causal=causal)
    return p[f"{k}o"](y.transpose(1, 2).reshape(b, t, d))


def vision_transformer():
    parts = {"patch": nn.Conv2d(3, 32, 4, 4)}
    for k in range(2):
        parts |= _attention_parts(k) | {f"{k}up": nn.Linear(32, 128), f"{k}down": nn.Linear(128, 32)}
    parts |= {"last": nn.LayerNorm(32, eps=1e-3), "head": nn.Linear(32, 10)}

    def forward(p, x):
        x = p["patch"](x).flatten(2).transpose(1, 2)
        for k in range(2):
            x = x + _attended(p, k, p[f"{k}na"](x))
            x = x + p[f"{k}down"](F.gelu(p[f"{k}up"](p[f"{k}nb"](x))))
        return p["head"](p["last"](x).mean(1))

    x = inputs = keras.Input((16, 16, 3))
    x = K.Reshape((16, 32))(K.Conv2D(32, 4, 4)(x))
    for _ in range(2):
        y = K.LayerNormalization()(x)
        x = K.Add()([x, K.MultiHeadAttention(4, 8)(y, y)])
        y = K.Dense(32)(K.Dense(128, "gelu")(K.LayerNormalization()(x)))
        x = K.Add()([x, y])
    x = K.Dense(10)(K.GlobalAveragePooling1D()(K.LayerNormalization()(x)))
    return Made(forward, **parts), keras.Model(inputs, x), Input((BATCH, 3, 16, 16)), Input((BATCH, 16, 16, 3))


def _angles(length, size):
    half = size // 2
    angle = np.arange(length)[:, None] * 100.0 ** -(np.arange(half) / half)
    return [np.tile(f(angle), 2).astype(np.float32) for f in (np.cos, np.sin)]


def gpt():
    parts = {"table": nn.Embedding(100, 32)}
    for k in range(2):
        parts |= _attention_parts(k, False, lambda: nn.RMSNorm(32, eps=1e-6))
        parts |= {f"{k}{n}": nn.Linear(32, 96, bias=False) for n in ("gate", "up")}
        parts[f"{k}down"] = nn.Linear(96, 32, bias=False)
    parts |= {"last": nn.RMSNorm(32, eps=1e-6), "head": nn.Linear(32, 100, bias=False)}

    def turned(x):
        cos, sin = map(torch.as_tensor, _angles(x.shape[2], x.shape[3]))
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat([-b, a], -1) * sin

    def forward(p, words):
        x = p["table"](words)
        for k in range(2):
            x = x + _attended(p, k, p[f"{k}na"](x), turned, causal=True)
            y = p[f"{k}nb"](x)
            x = x + p[f"{k}down"](F.silu(p[f"{k}gate"](y)) * p[f"{k}up"](y))
        return p["head"](p["last"](x))

    def turned_in_keras(x):
        cos, sin = (a[None, :, None, :] for a in _angles(x.shape[1], x.shape[3]))
        a, b = ops.split(x, 2, axis=-1)
        return x * cos + ops.concatenate([-b, a], axis=-1) * sin

    def norm(x):
        return K.RMSNormalization(epsilon=1e-6)(x)

    inputs = keras.Input((10,), dtype="int32")
    x = K.Embedding(100, 32)(inputs)
    for _ in range(2):
        y = norm(x)
        q, k, v = (ops.reshape(K.Dense(32, use_bias=False)(y), (-1, 10, 4, 8)) for _ in range(3))
        y = ops.dot_product_attention(turned_in_keras(q), turned_in_keras(k), v, is_causal=True)
        x = x + K.Dense(32, use_bias=False)(ops.reshape(y, (-1, 10, 32)))
        y = norm(x)
        gate, up = K.Dense(96, use_bias=False)(y), K.Dense(96, use_bias=False)(y)
        x = x + K.Dense(32, use_bias=False)(ops.silu(gate) * up)
    words = Input((BATCH, 10), vocabulary=100)
    made = keras.Model(inputs, K.Dense(100, use_bias=False)(norm(x)))
    return Made(forward, **parts), made, words, words


class Scale(K.Layer):
    """A layer scale of 0.1."""

    def build(self, shape):
        self.gamma = self.add_weight(shape=(shape[-1],), initializer=keras.initializers.Constant(0.1))

    def call(self, x):
        return x * self.gamma


class ConvNext(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 24, 2, 2), nn.LayerNorm(24, eps=1e-3)
        self.depth = nn.ModuleList(nn.Conv2d(24, 24, 7, padding=3, groups=24) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(24, eps=1e-3) for _ in range(2))
        self.up, self.down = (nn.ModuleList(nn.Linear(a, b) for _ in range(2)) for a, b in ((24, 96), (96, 24)))
        self.gamma = nn.ParameterList(torch.full((24,), 0.1) for _ in range(2))
        self.last, self.head = nn.LayerNorm(24, eps=1e-3), nn.Linear(24, 10)

    def forward(self, x):
        x = self.norm(self.stem(x).permute(0, 2, 3, 1))
        for depth, norm, up, down, gamma in zip(self.depth, self.norms, self.up, self.down, self.gamma, strict=True):
            y = norm(depth(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1))
            x = x + gamma * down(F.gelu(up(y)))
        return self.head(self.last(x.mean((1, 2))))


def convnext():
    inputs = keras.Input((16, 16, 3))
    x = K.LayerNormalization()(K.Conv2D(24, 2, 2)(inputs))
    for _ in range(2):
        y = K.LayerNormalization()(K.DepthwiseConv2D(7, padding="same")(x))
        x = K.Add()([x, Scale()(K.Dense(24)(K.Dense(96, "gelu")(y)))])
    x = K.Dense(10)(K.LayerNormalization()(K.GlobalAveragePooling2D()(x)))
    return ConvNext(), keras.Model(inputs, x), Input((BATCH, 3, 16, 16)), Input((BATCH, 16, 16, 3))


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.gate = nn.Linear(32, 64, bias=False), nn.Linear(64, 4, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(4, 64, 96)), nn.Parameter(torch.randn(4, 96, 64))
        self.head = nn.Linear(64, 8, bias=False)

    def forward(self, x):
        x = torch.tanh(self.stem(x))
        shares = self.gate(x).softmax(-1)
        hidden = F.silu(torch.einsum("bi,eio->beo", x, self.up))
        return self.head((torch.einsum("beo,eoi->bei", hidden, self.down) * shares[..., None]).sum(1))


class Experts(K.Layer):
    def build(self, shape):
        self.up = self.add_weight(shape=(4, 64, 96), initializer="random_normal")
        self.down = self.add_weight(shape=(4, 96, 64), initializer="random_normal")

    def call(self, x):
        return ops.einsum("beo,eoi->bei", ops.silu(ops.einsum("bi,eio->beo", x, self.up)), self.down)


def mixture():
    inputs = keras.Input((32,))
    x = K.Dense(64, "tanh", use_bias=False)(inputs)
    shares = K.Softmax()(K.Dense(4, use_bias=False)(x))
    x = ops.sum(Experts()(x) * ops.expand_dims(shares, -1), axis=1)
    data = Input((BATCH, 32))
    return Mixture(), keras.Model(inputs, K.Dense(8, use_bias=False)(x)), data, data


def scanned_transformer():
    parts = {"stem": nn.Linear(20, 32), "head": nn.Linear(32, 8)}
    for k in range(3):
        parts |= _attention_parts(k) | {f"{k}up": nn.Linear(32, 128), f"{k}down": nn.Linear(128, 32)}

    def forward(p, x):
        x = p["stem"](x)
        for k in range(3):
            x = x + _attended(p, k, p[f"{k}na"](x))
            x = x + p[f"{k}down"](F.gelu(p[f"{k}up"](p[f"{k}nb"](x))))
        return p["head"](x)

    inputs = keras.Input((12, 20))
    x = K.Dense(32)(inputs)
    for _ in range(3):
        y = K.LayerNormalization()(x)
        x = K.Add()([x, K.MultiHeadAttention(4, 8)(y, y)])
        x = K.Add()([x, K.Dense(32)(K.Dense(128, "gelu")(K.LayerNormalization()(x)))])
    data = Input((BATCH, 12, 20))
    return Made(forward, **parts), keras.Model(inputs, K.Dense(8)(x)), data, data


def tied():
    parts = {"table": nn.Embedding(100, 32), "a": nn.Linear(32, 32), "last": nn.LayerNorm(32, eps=1e-3)}

    def forward(p, words):
        x = p["table"](words)
        return p["last"](x + torch.tanh(p["a"](x))) @ p["table"].weight.T

    inputs = keras.Input((10,), dtype="int32")
    table = K.ReversibleEmbedding(100, 32)
    x = table(inputs)
    x = table(K.LayerNormalization()(x + K.Dense(32, "tanh")(x)), reverse=True)
    words = Input((BATCH, 10), vocabulary=100)
    return Made(forward, **parts), keras.Model(inputs, x), words, words


MORE = [resnet, vision_transformer, gpt, convnext, mixture, scanned_transformer, tied]
