"""Convolutions against torch: every geometry, with weights that are drawn anew and with weights that are kept.

With fresh weights the rule is exact for exchangeable inputs, borders included. A kept kernel is described by its
moments, whose taps are exchangeable too: where borders or overlaps treat taps unequally a model error is stated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import autoinit.rules.contract  # noqa: F401
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.signal import Signal, iid

from .harness import components
from .weighted import check_fresh, check_kept, predicted

PLAIN = {F.conv1d: 1, F.conv2d: 2, F.conv3d: 3}
TRANSPOSED = {F.conv_transpose1d: 1, F.conv_transpose2d: 2, F.conv_transpose3d: 3}


def attributes(conv: Any, **options: Any) -> dict[str, Any]:
    transposed = conv in TRANSPOSED
    rank = {**PLAIN, **TRANSPOSED}[conv]

    def each(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, tuple) else (value,) * rank

    return {
        "stride": each(options.get("stride", 1)), "dilation": each(options.get("dilation", 1)),
        "padding": tuple((p, p) for p in each(options.get("padding", 0))), "groups": options.get("groups", 1),
        "transposed": transposed, "x_axes": tuple(range(2 + rank)),
        "w_axes": ((1, 0) if transposed else (0, 1)) + tuple(range(2, 2 + rank)),
    }  # fmt: skip


def image(channels: int, *sizes: int, kind: int = 1) -> Signal:
    """Three kinds: white, with mean and correlation of places, and with correlation of channels and rows."""
    shape, last = (3, channels, *sizes), 1 + len(sizes)
    everything = tuple(range(last + 1))
    parts: list[tuple[float, dict[tuple[int, ...], float]]] = [
        (0.0, {everything: 1.0}),
        (0.8, {everything: 0.6, (0, 1): 0.4, (0,): 0.3}),
        (-0.5, {everything: 0.5, (0, 1, last): 0.5, everything[:1] + everything[2:]: 0.7}),
    ]
    return components(shape, *parts[kind])


GEOMETRIES: list[tuple[Any, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    (F.conv1d, (9,), (5, 4, 3), {"padding": 1}),
    (F.conv1d, (9,), (5, 4, 3), {"stride": 2, "padding": 2, "dilation": 3}),
    (F.conv1d, (6,), (5, 4, 9), {"padding": 4}),
    (F.conv2d, (6, 5), (5, 4, 3, 3), {}),
    (F.conv2d, (6, 5), (5, 4, 3, 3), {"padding": 1}),
    (F.conv2d, (6, 5), (6, 2, 3, 2), {"stride": (2, 1), "padding": (1, 0), "groups": 2}),
    (F.conv2d, (6, 5), (4, 1, 3, 3), {"padding": 1, "groups": 4}),
    (F.conv2d, (6, 5), (8, 1, 3, 3), {"padding": 2, "dilation": 2, "groups": 4}),
    (F.conv2d, (1, 1), (5, 4, 3, 3), {"padding": 1}),
    (F.conv3d, (4, 3, 3), (3, 4, 3, 1, 2), {"padding": (1, 0, 1)}),
    (F.conv_transpose1d, (6,), (4, 5, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    (F.conv_transpose1d, (6,), (4, 5, 3), {"stride": 3, "dilation": 2}),
    (F.conv_transpose2d, (4, 3), (4, 3, 3, 3), {"padding": 1}),
    (F.conv_transpose2d, (4, 3), (4, 3, 4, 2), {"stride": 2, "padding": (1, 0), "groups": 2}),
    (F.conv_transpose2d, (4, 3), (4, 1, 3, 3), {"stride": 2, "groups": 4}),
    (F.conv_transpose3d, (3, 2, 2), (4, 3, 2, 2, 2), {"stride": 2}),
]


@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize(("conv", "sizes", "w_shape", "options"), GEOMETRIES)
def test_fresh_weights(conv: Any, sizes: Any, w_shape: Any, options: Any, kind: int) -> None:
    x = image(4, *sizes, kind=kind)
    w = iid(w_shape, 0.0, 0.3)
    run = lambda t, k: conv(t, k, **options)  # noqa: E731
    check_fresh("conv", [x, w], 1, run, repeats=150, **attributes(conv, **options))


@pytest.mark.parametrize("kind", [1, 2])
@pytest.mark.parametrize(("conv", "sizes", "w_shape", "options"), GEOMETRIES)
def test_weights_with_a_mean(conv: Any, sizes: Any, w_shape: Any, options: Any, kind: int) -> None:
    """Correlated from tap to tap and from channel to channel, as the weights of trained layers are."""
    x = image(4, *sizes, kind=kind)
    w = components(w_shape, 0.2, {tuple(range(len(w_shape))): 0.2, (0, 1): 0.1, (0,): 0.05})
    run = lambda t, k: conv(t, k, **options)  # noqa: E731
    check_fresh("conv", [x, w], 1, run, repeats=250, **attributes(conv, **options))


@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize(("conv", "sizes", "w_shape", "options"), GEOMETRIES)
def test_kept_weights(conv: Any, sizes: Any, w_shape: Any, options: Any, kind: int) -> None:
    """One array of a few dozen values, whose single taps and channels are not exchangeable.

    3 % of E[y^2]; 8 % with groups, whose pairs of channels are not those of the average; 25 % if the kernel is longer
    than the map, so that only some of its taps are ever live.
    """
    longer = any(k > n for k, n in zip(w_shape[2:], sizes, strict=True))
    error = 0.25 if longer else 0.08 if "groups" in options else 0.03
    w = np.random.default_rng(3).normal(0.2, 0.4, w_shape)
    b = 0.5 + 0.3 * np.random.default_rng(4).normal(size=w_shape[0])
    x = image(4, *sizes, kind=kind)
    w_t = torch.from_numpy(w)
    arrays = {1: w}
    run = lambda t: conv(t, w_t, **options)  # noqa: E731
    if conv in PLAIN:
        arrays[2], b_t = b, torch.from_numpy(b)
        run = lambda t: conv(t, w_t, b_t, **options)  # noqa: E731
    a = attributes(conv, **options)
    check_kept("conv", [x], arrays, run, repeats=250, model_error=error, mean_error=error, **a)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("conv", [F.conv2d, F.conv_transpose2d])
def test_kept_weights_of_another_layout(conv: Any, groups: int) -> None:
    """Kernels of JAX and TensorFlow are (*spatial, in, out). The bias cancels the mean, channel by channel.

    Channel by channel the mean is mu times a row sum of about 24 · 0.4 / groups. 8 %: as for groups above, and borders.
    """
    w = np.random.default_rng(3).normal(0.4, 0.3, (4, 4 // groups, 3, 2))
    rows = w.sum(axis=(1, 2, 3)) if conv is F.conv2d else w.reshape(groups, 4 // groups, -1, 6).sum((1, 3)).ravel()
    x, order = image(4, 12, 12, kind=1), (2, 3, 1, 0)
    w_t, b_t = torch.from_numpy(w), torch.from_numpy(-x.mean * rows)
    a = attributes(conv, groups=groups)
    a["w_axes"] = tuple(order.index(axis) for axis in a["w_axes"])
    arrays = {1: w.transpose(order), 2: b_t.numpy()}
    run = lambda t: conv(t, w_t, b_t, groups=groups)  # noqa: E731
    check_kept("conv", [x], arrays, run, repeats=100, model_error=0.08, mean_error=0.08, **a)


@pytest.mark.parametrize("groups", [1, 4])
def test_kept_blur(groups: int) -> None:
    """A box filter: every weight alike, so that overlapping windows and channels of one mean count in full. Exact."""
    x, w = image(4, 6, 6, kind=1), np.full((4, 4 // groups, 3, 3), 1 / 9)
    run = lambda t: F.conv2d(t, torch.from_numpy(w), padding=1, groups=groups)  # noqa: E731
    check_kept("conv", [x], {1: w}, run, repeats=400, **attributes(F.conv2d, padding=1, groups=groups))


@pytest.mark.filterwarnings("ignore:Using padding")
@pytest.mark.parametrize("size", [4, 5])
def test_same_padding_of_an_even_kernel_is_asymmetric(size: int) -> None:
    x, w = image(4, 7, 6, kind=1), iid((5, 4, size, size), 0.0, 0.2)
    a = attributes(F.conv2d)
    a["padding"] = (((size - 1) // 2, size // 2),) * 2
    run = lambda t, k: F.conv2d(t, k, padding="same")  # noqa: E731
    check_fresh("conv", [x, w], 1, run, repeats=150, **a)


def test_channels_last_layout() -> None:
    """Front ends may put the channel anywhere: (batch, height, width, channel) and (height, width, in, out)."""
    x = components((3, 6, 5, 4), 0.8, {(0, 1, 2, 3): 0.6, (0, 3): 0.4})
    w = iid((3, 3, 4, 5), 0.0, 0.3)
    a = attributes(F.conv2d, padding=1) | {"x_axes": (0, 3, 1, 2), "w_axes": (3, 2, 0, 1)}

    def run(t: Any, k: Any) -> Any:
        return F.conv2d(t.permute(0, 3, 1, 2), k.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1)

    check_fresh("conv", [x, w], 1, run, repeats=150, **a)


def test_without_a_batch_axis() -> None:
    x, w = components((4, 6, 5), 0.8, {(0, 1, 2): 0.6, (0,): 0.4}), iid((5, 4, 3, 3), 0.0, 0.3)
    a = attributes(F.conv2d, padding=1) | {"x_axes": (None, 0, 1, 2)}
    check_fresh("conv", [x, w], 1, lambda t, k: F.conv2d(t, k, padding=1), repeats=400, **a)


# --- borders --------------------------------------------------------------------------------------


def through(x: Signal, w: Signal, padding: int, dilation: int = 1) -> Signal:
    a = attributes(F.conv2d, padding=padding, dilation=dilation)
    return predicted("conv", [x, w], {1: w}, (x.shape[0], w.shape[0], *x.shape[2:]), **a)


@pytest.mark.parametrize(("pixels", "true"), [(1, 0.11), (2, 0.44), (4, 0.70), (8, 0.84), (32, 0.96)])
def test_nominal_fan_of_a_same_convolution(pixels: int, true: float) -> None:
    """(live taps / taps)^2 with (3 n - 2) / (3 n) live per axis; the true number was measured to two digits."""
    y = through(iid((2, 16, pixels, pixels)), iid((8, 16, 3, 3), 0.0, 1 / 144), 1)
    assert y.second == pytest.approx(((3 * pixels - 2) / (3 * pixels)) ** 2, rel=1e-9)
    assert y.second == pytest.approx(true, abs=0.01)


def test_profile_of_a_deep_stack() -> None:
    """40 'same' convolutions and ReLUs on 8x8 maps, solved layer by layer, against the exact recursion of E[x^2].

    p'(h) = sum of p over live taps is exact for fresh weights. One draw that ends at 0.5 with the profile (the scatter
    of finite width) ends at 15 when corrected by the *mean* number of live taps and at 0.014 with the nominal fan:
    both are 0.5 times what the recursion gives (two digits).
    """
    x: Signal = iid((4, 16, 8, 8))
    exact, flat, nominal = np.ones((8, 8)), 1.0, 1.0
    for _ in range(40):
        unit = iid((16, 16, 3, 3), 0.0, 1.0)
        scale = 1.0 / through(x, unit, 1).second
        y = through(x, unit.scaled(scale**0.5), 1)
        assert y.second == pytest.approx(1.0, rel=1e-9)
        padded = np.pad(exact, 1)
        summed = sum(padded[i : i + 8, j : j + 8] for i in range(3) for j in range(3))
        gain = float(summed.mean() / exact.mean())  # type: ignore[union-attr]
        assert 16 * x.second * scale * gain == pytest.approx(1.0, rel=1e-6)
        flat, nominal = flat * gain / (22 / 8) ** 2, nominal * gain / 9
        exact = np.asarray(summed / gain)
        x = Signal.function(y, apply("relu", X))
        x = Signal.function(y, apply("mul", x.expr, 2**0.5))
    assert flat == pytest.approx(15 / 0.5, rel=0.1) and nominal == pytest.approx(0.014 / 0.5, rel=0.1)
    outer = np.outer(y.profiles[2], y.profiles[3])  # type: ignore[arg-type]
    np.testing.assert_allclose(outer, exact / exact.mean(), rtol=1e-6)


def test_effective_fan_keeps_the_second_moment_of_a_real_stack() -> None:
    """Twenty such layers in torch, 128 wide: the mean of E[y^2] over draws is 1.

    The mean of 40 draws is compared to five of its standard errors, taken from the draws themselves. The nominal fan
    would end at 0.17 and the mean number of live taps at 5.6.
    """
    x: Signal = iid((8, 128, 8, 8))
    scales = []
    for _ in range(20):
        unit = iid((128, 128, 3, 3), 0.0, 1.0)
        scales.append(through(x, unit, 1).second ** -0.5)
        x = Signal.function(through(x, unit.scaled(scales[-1]), 1), apply("relu", X))
    generator = torch.Generator().manual_seed(0)
    found = []
    for _ in range(40):
        t = torch.randn(8, 128, 8, 8, generator=generator)
        for k, scale in enumerate(scales):
            w = scale * torch.randn(128, 128, 3, 3, generator=generator)
            t = F.conv2d(t.relu() if k else t, w, padding=1)
        found.append(float(t.square().mean()))
    error = float(np.std(found, ddof=1)) / len(found) ** 0.5
    assert error < 0.15, "the test would accept anything"
    assert abs(float(np.mean(found)) - 1.0) <= 5 * error


def test_dilated_same_convolution() -> None:
    """Dilation 6 on 16 px: taps -6, 0, 6 are live at (10 + 16 + 10) / 48 of the places, squared 0.5625."""
    y = through(iid((2, 16, 16, 16)), iid((8, 16, 3, 3), 0.0, 1 / 144), 6, dilation=6)
    assert y.second == pytest.approx((36 / 48) ** 2, rel=1e-9)
    assert y.second == pytest.approx(0.57, abs=0.01)
