"""Interpolation, Unfold and Fold against torch. Linear maps with known coefficients: exact, every mode and size.

The axes of the image are exchangeable in the model and in the samples, so that tolerances are five standard errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import autoinit.rules.resample  # noqa: F401
from autoinit.core.graph.along_axes import _weights
from autoinit.core.signal.signal import Signal, iid

from .harness import check, components, predict

IMAGES = [
    iid((3, 2, 6, 5), 0.0, 1.0),
    components((3, 2, 6, 5), 1.0, {(0, 1, 2, 3): 0.5, (0, 1): 0.4, (0, 1, 2): 0.3, (1, 3): 0.2}),
]
SEQUENCE = components((3, 2, 7), 0.5, {(0, 1, 2): 0.6, (0, 1): 0.4})
VOLUME = components((2, 2, 4, 3, 4), 0.5, {(0, 1, 2, 3, 4): 0.6, (0, 1): 0.4})
KINDS = {"bilinear": "linear", "bicubic": "cubic", "nearest": "nearest", "nearest-exact": "nearest",
         "linear": "linear", "trilinear": "linear"}  # fmt: skip


def resize(x: Signal, size: tuple[int, ...], mode: str, align: bool = False, antialias: bool = False) -> None:
    options: dict[str, Any] = {} if mode.startswith("nearest") else {"align_corners": align}
    if antialias:
        options["antialias"] = True
    run = lambda t: F.interpolate(t, size, mode=mode, **options)  # noqa: E731
    axes = tuple(range(2, x.ndim))
    check("interpolate", [x], run, repeats=250, axes=axes, mode=KINDS[mode], align_corners=align, antialias=antialias)


@pytest.mark.parametrize("x", IMAGES)
@pytest.mark.parametrize("size", [(12, 10), (9, 7), (3, 2), (6, 5), (1, 1), (6, 11)])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
def test_images(x: Signal, size: tuple[int, int], mode: str) -> None:
    resize(x, size, mode)


@pytest.mark.parametrize("x", IMAGES)
@pytest.mark.parametrize("size", [(12, 10), (4, 3), (1, 7)])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_aligned_corners(x: Signal, size: tuple[int, int], mode: str) -> None:
    resize(x, size, mode, align=True)


@pytest.mark.parametrize("size", [(12, 10), (3, 2), (4, 3)])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_antialias(size: tuple[int, int], mode: str) -> None:
    resize(IMAGES[1], size, mode, antialias=True)


@pytest.mark.parametrize("size", [(14,), (3,)])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_sequences(size: tuple[int, ...], mode: str) -> None:
    resize(SEQUENCE, size, mode)


@pytest.mark.parametrize("mode", ["nearest", "trilinear"])
def test_volumes(mode: str) -> None:
    resize(VOLUME, (8, 5, 3), mode)


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize(("mode", "kind"), [("bilinear", "linear"), ("bicubic", "cubic")])
@pytest.mark.parametrize(("n", "new"), [(5, 10), (5, 8), (8, 5), (9, 2), (4, 1)])
def test_coefficients_are_torchs(mode: str, kind: str, antialias: bool, align: bool, n: int, new: int) -> None:
    """The matrix of one axis, read off torch by resampling unit vectors."""
    eye = torch.eye(n, dtype=torch.float64).reshape(n, 1, 1, n)
    found = F.interpolate(eye, (1, new), mode=mode, align_corners=align, antialias=antialias)[:, 0, 0].numpy().T
    np.testing.assert_allclose(_weights(n, new, kind, align, antialias), found, atol=1e-6)


def test_bilinear_upsampling_of_white_noise() -> None:
    """Doubling: a new place has 9/16 + 1/16 of a neighbour per axis, the two ends all of one entry."""
    n = 64
    y = predict("interpolate", [iid((2, 3, n, n))], [(2, 3, 2 * n, 2 * n)], axes=(2, 3), mode="linear",
                align_corners=False)  # fmt: skip
    per_axis = ((2 * n - 2) * (9 + 1) / 16 + 2) / (2 * n)
    assert y.second == pytest.approx(per_axis**2, rel=1e-9)


# --- Unfold and Fold ------------------------------------------------------------------------------

WINDOWS = [
    {"window": (2, 2), "stride": (2, 2), "padding": (0, 0), "dilation": (1, 1)},
    {"window": (3, 3), "stride": (1, 1), "padding": (1, 1), "dilation": (1, 1)},
    {"window": (3, 2), "stride": (2, 1), "padding": (1, 0), "dilation": (1, 2)},
    {"window": (6, 5), "stride": (1, 1), "padding": (0, 0), "dilation": (1, 1)},
]


def torch_words(a: dict[str, Any]) -> dict[str, Any]:
    return {"kernel_size": a["window"], "stride": a["stride"], "padding": a["padding"], "dilation": a["dilation"]}


@pytest.mark.parametrize("x", [*IMAGES, components((2, 6, 5), 1.0, {(0, 1, 2): 0.5, (0, 1): 0.4, (2,): 0.3})])
@pytest.mark.parametrize("a", WINDOWS)
def test_unfold(x: Signal, a: dict[str, Any]) -> None:
    check("im2col", [x], lambda t: F.unfold(t, **torch_words(a)), repeats=400, **a)


@pytest.mark.parametrize("a", WINDOWS)
@pytest.mark.parametrize("batched", [True, False])
def test_fold(a: dict[str, Any], batched: bool) -> None:
    """Columns whose taps, channels and places are exchangeable."""
    columns = F.unfold(torch.zeros(1, 2, 6, 5), **torch_words(a)).shape
    shape = (3, *columns[1:]) if batched else tuple(columns[1:])
    every = tuple(range(len(shape)))
    x = components(shape, 0.7, {every: 0.5, every[-1:]: 0.3, every[-2:-1]: 0.2})
    check("col2im", [x], lambda t: F.fold(t, (6, 5), **torch_words(a)), repeats=400, **a)


def test_fold_of_unfold_counts_the_cover() -> None:
    """A constant image comes back times the number of windows that show a place: on average 9 * (16/18)^2 of 9."""
    a = WINDOWS[1]
    x = components((2, 2, 6, 6), 1.0, {(): 0.0})
    columns = predict("im2col", [x], [(2, 18, 36)], **a)
    y = predict("col2im", [columns], [(2, 2, 6, 6)], **a)
    back = F.fold(F.unfold(torch.ones(1, 2, 6, 6), 3, padding=1), (6, 6), 3, padding=1)
    assert columns.mean == pytest.approx(float(F.unfold(torch.ones(1, 2, 6, 6), 3, padding=1).mean()))
    # every entry of the columns counts alike in the model, dead ones included: 2/18 of each axis
    assert y.mean == pytest.approx(float(back.mean()) * (16 / 18) ** 2)
