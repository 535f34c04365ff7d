"""The same model written in PyTorch and in Keras gets the same plan: standard deviations equal to 1e-6."""

import keras
import pytest
import torch
from keras import layers as K
from keras import ops
from torch import nn
from torch.nn import functional as F

import autoinit
from autoinit import Input

BATCH = 16


def stds(plan):
    """Standard deviations of the weights, in the order in which they are used."""
    return [plan[row.weight].parts[0].std for row in plan.weight_layers if row.target is not None]


class Lambda(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


# --- architectures, each as (PyTorch module, its input, Keras model, its input) ---


def mlp():
    torch_net = nn.Sequential(nn.Linear(40, 96), nn.ReLU(), nn.Linear(96, 96), nn.GELU(), nn.Linear(96, 10))
    x = inputs = keras.Input((40,))
    for units, activation in ((96, "relu"), (96, "gelu"), (10, None)):
        x = K.Dense(units, activation=activation)(x)
    return torch_net, Input((BATCH, 40)), keras.Model(inputs, x), Input((BATCH, 40))


def dropout_mlp():
    torch_net = nn.Sequential(
        nn.Linear(40, 96), nn.Tanh(), nn.Dropout(0.3), nn.Linear(96, 96), nn.SELU(), nn.AlphaDropout(0.2),
        nn.Linear(96, 10), nn.LogSoftmax(-1),
    )  # fmt: skip
    keras_net = keras.Sequential([
        keras.Input((40,)), K.Dense(96, "tanh"), K.Dropout(0.3), K.Dense(96, "selu"), K.AlphaDropout(0.2),
        K.Dense(10, "log_softmax"),
    ])  # fmt: skip
    data = {"mean": 0.5, "variance": 2.0, "correlation": {1: 0.25}}
    return torch_net, Input((BATCH, 40), **data), keras_net, Input((BATCH, 40), **data)


def all_convolutional():
    def block(channels, out, stride=1):
        return [nn.ZeroPad2d(1), nn.Conv2d(channels, out, 3, stride), nn.BatchNorm2d(out, eps=1e-3), nn.ReLU()]

    torch_net = nn.Sequential(
        *block(3, 24), *block(24, 24), nn.Dropout(0.5), *block(24, 48, 2), *block(48, 48),
        nn.Conv2d(48, 10, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    )  # fmt: skip
    x = inputs = keras.Input((16, 16, 3))
    for out, stride, drop in ((24, 1, False), (24, 1, True), (48, 2, False), (48, 1, False)):
        x = K.Conv2D(out, 3, stride)(K.ZeroPadding2D(1)(x))
        x = K.ReLU()(K.BatchNormalization()(x))
        x = K.Dropout(0.5)(x) if drop else x
    x = K.GlobalAveragePooling2D()(K.Conv2D(10, 1)(x))
    return torch_net, Input((BATCH, 3, 16, 16)), keras.Model(inputs, x), Input((BATCH, 16, 16, 3))


class PreActivation(nn.Module):
    def __init__(self, channels, blocks):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels, eps=1e-3) for _ in range(blocks))
        self.convs = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(blocks))
        self.head = nn.Linear(channels, 10)

    def forward(self, x):
        x = self.stem(x)
        for norm, conv in zip(self.norms, self.convs, strict=True):
            x = x + conv(F.relu(norm(x)))
        return self.head(F.relu(x).mean((2, 3)))


def pre_activation_resnet():
    x = inputs = keras.Input((16, 16, 3))
    x = K.Conv2D(24, 3, padding="same")(x)
    for _ in range(4):
        y = K.Conv2D(24, 3, padding="same")(K.ReLU()(K.BatchNormalization()(x)))
        x = K.Add()([x, y])
    x = K.Dense(10)(K.GlobalAveragePooling2D()(K.ReLU()(x)))
    return PreActivation(24, 4), Input((BATCH, 3, 16, 16)), keras.Model(inputs, x), Input((BATCH, 16, 16, 3))


def pooled_vgg():
    torch_net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ELU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.LeakyReLU(0.2),
        nn.AvgPool2d(2), Lambda(lambda x: x.permute(0, 2, 3, 1).flatten(1)), nn.Linear(288, 50), nn.Softplus(),
        nn.Linear(50, 10),
    )  # fmt: skip
    keras_net = keras.Sequential([
        keras.Input((16, 16, 3)), K.Conv2D(16, 3, padding="same", activation="elu"), K.MaxPooling2D(), K.Conv2D(32, 3),
        K.LeakyReLU(0.2), K.AveragePooling2D(2), K.Flatten(), K.Dense(50, "softplus"), K.Dense(10),
    ])  # fmt: skip
    return torch_net, Input((BATCH, 3, 16, 16)), keras_net, Input((BATCH, 16, 16, 3))


def separable():
    torch_net = nn.Sequential(
        nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 32, 1), nn.SiLU(), nn.Conv2d(32, 64, 3, groups=32),
        nn.Hardswish(), nn.Conv2d(64, 32, 3, groups=4, dilation=2),
    )  # fmt: skip
    keras_net = keras.Sequential([
        keras.Input((16, 16, 8)), K.SeparableConv2D(32, 3, padding="same", activation="silu"),
        K.DepthwiseConv2D(3, depth_multiplier=2, activation="hard_silu"), K.Conv2D(32, 3, groups=4, dilation_rate=2),
    ])  # fmt: skip
    return torch_net, Input((BATCH, 8, 16, 16)), keras_net, Input((BATCH, 16, 16, 8))


class SqueezeExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv1d(6, 32, 5, padding=2), nn.Conv1d(32, 16, 3, padding=1)
        self.down, self.up = nn.Linear(32, 8), nn.Linear(8, 32)

    def forward(self, x):
        x = F.silu(self.a(x))
        gate = torch.sigmoid(self.up(F.relu(self.down(x.mean(2)))))
        return self.b(x * gate[:, :, None])


def squeeze_excite():
    inputs = keras.Input((20, 6))
    x = K.Conv1D(32, 5, padding="same", activation="silu")(inputs)
    gate = K.Dense(32, "sigmoid")(K.Dense(8, "relu")(K.GlobalAveragePooling1D()(x)))
    x = K.Conv1D(16, 3, padding="same")(K.Multiply()([x, K.Reshape((1, 32))(gate)]))
    return SqueezeExcite(), Input((BATCH, 6, 20)), keras.Model(inputs, x), Input((BATCH, 20, 6))


class Encoder(nn.Module):
    """Pre-norm attention and a gated feed-forward part, written out."""

    def __init__(self, d=48, heads=4):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(d, 96), nn.Linear(d, 96), nn.Linear(96, d)
        self.one, self.two = nn.LayerNorm(d, eps=1e-3), nn.LayerNorm(d, eps=1e-3)

    def forward(self, x):
        b, t, d = x.shape
        y = self.one(x)
        q, k, v = (w(y).view(b, t, self.heads, -1).transpose(1, 2) for w in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d)
        x = x + self.o(y)
        y = self.two(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def encoder():
    x = inputs = keras.Input((12, 48))
    y = K.LayerNormalization()(x)
    x = K.Add()([x, K.MultiHeadAttention(4, 12)(y, y)])
    y = K.LayerNormalization()(x)
    y = K.Dense(48)(K.Multiply()([K.Dense(96, "silu")(y), K.Dense(96)(y)]))
    return Encoder(), Input((BATCH, 12, 48)), keras.Model(inputs, K.Add()([x, y])), Input((BATCH, 12, 48))


def group_norm_and_prelu():
    torch_net = nn.Sequential(
        nn.Conv2d(4, 32, 3, padding=1), nn.GroupNorm(8, 32, eps=1e-3), nn.PReLU(32, init=0.1),
        nn.Conv2d(32, 32, 3, padding=1), nn.GroupNorm(1, 32, eps=1e-3), nn.Mish(), nn.Conv2d(32, 4, 3, padding=1),
    )  # fmt: skip
    keras_net = keras.Sequential([
        keras.Input((12, 12, 4)), K.Conv2D(32, 3, padding="same"), K.GroupNormalization(8),
        K.PReLU(keras.initializers.Constant(0.1), shared_axes=[1, 2]), K.Conv2D(32, 3, padding="same"),
        K.GroupNormalization(1), K.Activation("mish"), K.Conv2D(4, 3, padding="same"),
    ])  # fmt: skip
    return torch_net, Input((BATCH, 4, 12, 12)), keras_net, Input((BATCH, 12, 12, 4))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
        self.up, self.c = nn.ConvTranspose2d(32, 16, 2, 2), nn.Conv2d(32, 8, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.a(x))
        y = F.relu(self.b(F.avg_pool2d(x, 2)))
        return self.c(torch.cat([x, F.relu(self.up(y))], 1))


def unet():
    inputs = keras.Input((16, 16, 3))
    x = K.Conv2D(16, 3, padding="same", activation="relu")(inputs)
    y = K.Conv2D(32, 3, padding="same", activation="relu")(K.AveragePooling2D(2)(x))
    y = K.Conv2DTranspose(16, 2, 2, activation="relu")(y)
    x = K.Conv2D(8, 3, padding="same")(K.Concatenate()([x, y]))
    return UNet(), Input((BATCH, 3, 16, 16)), keras.Model(inputs, x), Input((BATCH, 16, 16, 3))


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.three, self.pooled = nn.Conv2d(8, 12, 1), nn.Conv2d(8, 20, 3, padding=1), nn.Conv2d(8, 8, 1)
        self.head = nn.Linear(40, 6)

    def forward(self, x):
        parts = [self.one(x), self.three(x), self.pooled(F.max_pool2d(F.pad(x, (1, 1, 1, 1)), 3, 1))]
        x = torch.relu(torch.cat(parts, 1))
        return self.head(x.amax((2, 3)))


def inception():
    inputs = keras.Input((12, 12, 8))
    pooled = K.MaxPooling2D(3, 1)(K.ZeroPadding2D(1)(inputs))
    parts = [K.Conv2D(12, 1)(inputs), K.Conv2D(20, 3, padding="same")(inputs), K.Conv2D(8, 1)(pooled)]
    x = K.Dense(6)(K.GlobalMaxPooling2D()(ops.relu(K.Concatenate()(parts))))
    return Inception(), Input((BATCH, 8, 12, 12)), keras.Model(inputs, x), Input((BATCH, 12, 12, 8))


class Shared(nn.Module):
    """One layer on three tensors, and merges of what comes out."""

    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.Linear(32, 32), nn.Linear(32, 4)

    def forward(self, x, y):
        a, b = torch.tanh(self.layer(x)), torch.tanh(self.layer(y))
        c = self.layer(torch.maximum(a, b) - a * b)
        return self.head((a + b + c) / 3)


def shared():
    x, y = keras.Input((32,)), keras.Input((32,))
    layer = K.Dense(32)
    a, b = K.Activation("tanh")(layer(x)), K.Activation("tanh")(layer(y))
    c = layer(K.Subtract()([K.Maximum()([a, b]), K.Multiply()([a, b])]))
    keras_net = keras.Model([x, y], K.Dense(4)(K.Average()([a, b, c])))
    inputs = (Input((BATCH, 32), mean=1.0), Input((BATCH, 32), mean=1.0))
    return Shared(), inputs, keras_net, list(inputs)


class TokenMixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 32)
        self.tokens, self.features, self.head = nn.Linear(10, 10), nn.Linear(32, 32), nn.Linear(32, 5)

    def forward(self, i):
        x = self.table(i)
        x = x + F.gelu(self.tokens(x.transpose(1, 2))).transpose(1, 2)
        x = x + F.gelu(self.features(F.normalize(x, dim=-1)))
        return self.head(x.sum(1))


def token_mixer():
    inputs = keras.Input((10,), dtype="int32")
    x = K.Embedding(100, 32)(inputs)
    x = K.Add()([x, K.Permute((2, 1))(K.Dense(10, "gelu")(K.Permute((2, 1))(x)))])
    x = K.Add()([x, K.Dense(32, "gelu")(K.UnitNormalization()(x))])
    x = K.Dense(5)(ops.sum(x, axis=1))
    words = Input((BATCH, 10), vocabulary=100)
    return TokenMixer(), words, keras.Model(inputs, x), words


ARCHITECTURES = [
    mlp, dropout_mlp, all_convolutional, pre_activation_resnet, pooled_vgg, separable, squeeze_excite, encoder,
    group_norm_and_prelu, unet, inception, shared, token_mixer,
]  # fmt: skip


@pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda f: f.__name__)
def test_same_plan(architecture):
    torch_net, torch_inputs, keras_net, keras_inputs = architecture()
    one, two = autoinit.plan(torch_net, torch_inputs), autoinit.plan(keras_net, keras_inputs)
    assert len(stds(one)) >= 2
    assert stds(two) == pytest.approx(stds(one), rel=1e-6)
    last_one, last_two = one.tensors[one.outputs[0]], two.tensors[two.outputs[0]]
    assert (last_two.mean, last_two.variance) == pytest.approx((last_one.mean, last_one.variance), rel=1e-6, abs=1e-9)
