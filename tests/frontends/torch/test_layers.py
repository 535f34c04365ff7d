"""torch.nn layer by layer: measured variances are the planned ones, through the real layer."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402

from .models import Free, assert_as_planned  # noqa: E402

S = nn.Sequential


def sandwich(*layers: nn.Module, channels: int = 32, spatial: int = 2) -> nn.Module:
    conv = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[spatial - 1]
    return S(conv(8, 32, 3, padding=1), *layers, conv(channels, 32, 1))


def unpooled(self, x):
    return self.b(nn.MaxUnpool2d(2)(*nn.MaxPool2d(2, return_indices=True)(self.a(x))))


IMAGE = (16, 8, 8, 8)
CASES = {
    "bilinear": (lambda: nn.Bilinear(32, 48, 64), [(64, 32), (64, 48)], 0.03),
    "embedding bag mean": (lambda: nn.EmbeddingBag(500, 64), autoinit.Input((64, 20), vocabulary=500), 0.03),
    "embedding bag sum": (lambda: nn.EmbeddingBag(500, 64, mode="sum"), autoinit.Input((64, 20), vocabulary=500), 0.03),
    "glu": (lambda: S(nn.Linear(64, 128), nn.GLU(), nn.Linear(64, 64)), (64, 64), 0.03),
    "prelu": (
        lambda: S(nn.Linear(64, 64), nn.PReLU(), nn.Linear(64, 64), nn.PReLU(64), nn.Linear(64, 64)),
        (64, 64),
        0.03,
    ),
    "unfold": (lambda: S(nn.Conv2d(8, 16, 1), nn.Unfold(3), nn.Conv1d(144, 32, 1)), IMAGE, 0.03),
    "fold": (lambda: S(nn.Conv1d(8, 144, 1), nn.Fold((8, 8), 2, stride=2), nn.Conv2d(36, 32, 1)), (16, 8, 16), 0.03),
    "pixel shuffle": (lambda: sandwich(nn.PixelShuffle(2), channels=8), IMAGE, 0.03),
    "pixel unshuffle": (lambda: sandwich(nn.PixelUnshuffle(2), channels=128), IMAGE, 0.03),
    "channel shuffle": (lambda: sandwich(nn.ChannelShuffle(4)), IMAGE, 0.03),
    "lp pool": (lambda: sandwich(nn.LPPool2d(2, 2)), IMAGE, 0.05),
    "fractional max pool": (lambda: sandwich(nn.FractionalMaxPool2d(2, output_ratio=0.6)), IMAGE, 0.1),
    "local response norm": (lambda: sandwich(nn.LocalResponseNorm(3)), IMAGE, 0.05),
    "max pool": (lambda: sandwich(nn.MaxPool2d(2)), IMAGE, 0.03),
    "max pool with indices": (lambda: Free(unpooled, a=nn.Conv2d(8, 32, 1), b=nn.Conv2d(32, 32, 1)), IMAGE, 0.1),
    "average pool": (lambda: sandwich(nn.AvgPool2d(3, 2, 1)), IMAGE, 0.1),
    "adaptive average pool": (lambda: sandwich(nn.AdaptiveAvgPool2d(4)), IMAGE, 0.05),
    "adaptive max pool": (lambda: sandwich(nn.AdaptiveMaxPool2d(4)), IMAGE, 0.05),
    "global average pool": (lambda: sandwich(nn.AdaptiveAvgPool2d(1)), IMAGE, 0.1),
    "dropout": (lambda: sandwich(nn.Dropout(0.3)), IMAGE, 0.03),
    "dropout2d": (lambda: sandwich(nn.Dropout2d(0.3)), IMAGE, 0.03),
    "alpha dropout": (lambda: sandwich(nn.AlphaDropout(0.3)), IMAGE, 0.03),
    "feature alpha dropout": (lambda: sandwich(nn.FeatureAlphaDropout(0.3)), IMAGE, 0.03),
    "batch norm": (lambda: sandwich(nn.BatchNorm2d(32), nn.ReLU()), IMAGE, 0.03),
    "group norm": (lambda: sandwich(nn.GroupNorm(4, 32), nn.ReLU()), IMAGE, 0.05),
    "instance norm": (lambda: sandwich(nn.InstanceNorm2d(32), nn.ReLU()), IMAGE, 0.05),
    "rms norm": (lambda: S(nn.Linear(64, 64), nn.RMSNorm(64), nn.Linear(64, 64)), (64, 64), 0.03),
    "softmax": (lambda: S(nn.Linear(64, 64), nn.Softmax(-1), nn.Linear(64, 64)), (64, 64), 0.05),
    "flatten": (
        lambda: S(nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten(), nn.Unflatten(1, (4, 72)), nn.Linear(72, 64)),
        IMAGE,
        0.1,
    ),
    "cosine similarity": (
        lambda: Free(
            lambda self, x: torch.cosine_similarity(self.a(x), self.b(x), dim=-1),
            a=nn.Linear(64, 64),
            b=nn.Linear(64, 64),
        ),
        (64, 64),
        0.1,
    ),
}

for _mode in ("zeros", "reflect", "replicate", "circular"):
    CASES[f"padding mode {_mode}"] = (
        lambda mode=_mode: S(
            nn.Conv2d(8, 32, 3, padding=1, padding_mode=mode),
            nn.ReLU(),
            nn.Conv2d(32, 32, 5, padding=2, padding_mode=mode),
        ),
        IMAGE,
        0.05,
    )
for _pad in (
    nn.ZeroPad2d(2),
    nn.ReflectionPad2d(2),
    nn.ReplicationPad2d(2),
    nn.CircularPad2d(2),
    nn.ConstantPad2d(2, 1.5),
):
    CASES[type(_pad).__name__] = (lambda pad=_pad: S(nn.Conv2d(8, 32, 3), pad, nn.Conv2d(32, 32, 3)), IMAGE, 0.05)
for _spatial, _size in ((1, (32, 8, 9)), (2, (8, 8, 9, 9)), (3, (4, 8, 5, 5, 5))):
    CASES[f"transposed {_spatial}d"] = (
        lambda d=_spatial: S(
            getattr(nn, f"Conv{d}d")(8, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            getattr(nn, f"ConvTranspose{d}d")(32, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            getattr(nn, f"ConvTranspose{d}d")(32, 32, 3, stride=2, output_padding=1, padding=1, groups=2),
            nn.ReLU(),
            getattr(nn, f"Conv{d}d")(32, 32, 3, dilation=2, groups=4),
        ),
        _size,
        0.1,
    )
for _mode, _spatial in (
    ("nearest", 2),
    ("nearest-exact", 2),
    ("linear", 1),
    ("bilinear", 2),
    ("bicubic", 2),
    ("trilinear", 3),
    ("area", 2),
):
    CASES[f"upsample {_mode}"] = (
        lambda mode=_mode, d=_spatial: sandwich(nn.Upsample(scale_factor=2, mode=mode), spatial=d),
        (8, 8, *(6,) * _spatial), 0.1,
    )  # fmt: skip
for _weights in (True, False):
    CASES[f"attention, weights {_weights}"] = (
        lambda w=_weights: Free(
            lambda self, x: self.m(x, x, x, need_weights=w)[0], m=nn.MultiheadAttention(64, 4, batch_first=True)
        ), (32, 12, 64), 0.1,
    )  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_layer(name: str) -> None:
    """The model error is what the moments leave out: finite maps, windows that overlap, maxima that are not normal."""
    build, inputs, model_error = CASES[name]
    torch.manual_seed(0)
    model = build()
    plan = autoinit.plan(model, inputs)
    assert not plan.unreached()
    assert not [n for n in plan.notes if n.kind == "passed"]
    assert_as_planned(model, inputs, model_error=model_error)


@pytest.mark.parametrize("norm_first", [True, False])
def test_transformer(norm_first: bool) -> None:
    model = nn.Transformer(64, 4, 2, 2, 128, batch_first=True, norm_first=norm_first)
    plan = autoinit.plan(model, [(16, 12, 64), (16, 10, 64)])
    assert not plan.unreached()
    assert not [n for n in plan.notes if n.kind in ("passed", "simulated", "warning")]
    # Width 64: tokens that attention has mixed keep a correlation that one draw of the weights scatters widely.
    assert_as_planned(model, [(16, 12, 64), (16, 10, 64)], model_error=0.35, every=False)


def activations() -> dict[str, nn.Module]:
    """Every activation module of torch.nn that works entry by entry."""
    skipped = {
        "MultiheadAttention",
        "Softmin",
        "Softmax",
        "Softmax2d",
        "LogSoftmax",
        "GLU",
        "RReLU",
        "Threshold",
        "PReLU",
    }
    made = {}
    for name in torch.nn.modules.activation.__all__:
        if name not in skipped:
            made[name] = getattr(nn, name)()
    made |= {
        "Threshold": nn.Threshold(0.1, -2.0),
        "PReLU": nn.PReLU(init=0.4),
        "GELU tanh": nn.GELU("tanh"),
        "ELU(3)": nn.ELU(3.0),
        "LeakyReLU(0.5)": nn.LeakyReLU(0.5),
        "Hardtanh(0, 0.5)": nn.Hardtanh(0.0, 0.5),
        "Softplus(2, 3)": nn.Softplus(2, 3),
        "CELU(0.5)": nn.CELU(0.5),
    }
    return made


ACTIVATIONS = activations()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_moments(name: str) -> None:
    """E[f] and E[f^2] of N(0.3, 1.7) entries, against 2 * 10^6 samples through the real module."""
    function = ACTIVATIONS[name]
    model = nn.Sequential(function, nn.Linear(64, 64))
    plan = autoinit.plan(model, autoinit.Input((256, 64), mean=0.3, variance=1.7))
    n = 2_000_000
    x = 0.3 + math.sqrt(1.7) * torch.randn(n, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        y = function.double()(x.view(-1, 64)).numpy().ravel()
    function.float()
    row = [t for t in plan.tensors if t.module == "0"][-1]
    assert row.mean == pytest.approx(y.mean(), abs=5 * y.std() / np.sqrt(n) + 1e-6)
    assert row.second == pytest.approx(np.square(y).mean(), abs=5 * np.square(y).std() / np.sqrt(n) + 1e-6)


def test_rrelu_in_training() -> None:
    """Slopes uniform in (1/8, 1/3): E[f^2] = (1 + E[slope^2]) / 2 for N(0, 1), exactly."""
    plan = autoinit.plan(nn.Sequential(nn.RReLU(), nn.Linear(64, 64)), (64, 64))
    low, high = 1 / 8, 1 / 3
    expected = (1 + (low**2 + low * high + high**2) / 3) / 2
    assert plan.tensors[0].second == pytest.approx(expected, rel=1e-6)
