"""Merging, reshaping, padding and preprocessing layers: predicted moments against the real layers."""

from __future__ import annotations

import pytest

keras = pytest.importorskip("keras")

import numpy as np  # noqa: E402
from keras import layers, ops  # noqa: E402

from autoinit import Input  # noqa: E402

from .measuring import LAWS, at_target, functional, moments  # noqa: E402

IMAGE, SERIES, VOLUME, ROWS = (16, 8, 8, 16), (32, 12, 16), (8, 5, 5, 4, 8), (256, 64)
MERGES = {
    "Add": layers.Add, "Average": layers.Average, "Multiply": layers.Multiply, "Maximum": layers.Maximum,
    "Minimum": layers.Minimum, "Concatenate": layers.Concatenate,
}  # fmt: skip


@pytest.mark.parametrize("mean, variance", LAWS)
@pytest.mark.parametrize("name", [*MERGES, "Subtract"])
def test_merge_of_two(name: str, mean: float, variance: float) -> None:
    """Of independent tensors with different laws."""
    moments(getattr(layers, name)(), Input(ROWS, mean=mean, variance=variance), Input(ROWS, mean=0.5),
            model_error=0.001)  # fmt: skip


@pytest.mark.parametrize("mean, variance", LAWS)
@pytest.mark.parametrize("name", MERGES)
def test_merge_of_three(name: str, mean: float, variance: float) -> None:
    """A maximum of two is not normal, but is taken so for the third: 12 %."""
    given = [Input(ROWS, mean=mean, variance=variance), Input(ROWS, mean=0.5), Input(ROWS, variance=0.3)]
    moments(MERGES[name](), *given, model_error=0.12 if name in ("Maximum", "Minimum") else 0.0)


@pytest.mark.parametrize("mean, variance", LAWS)
def test_merge_with_broadcasting(mean: float, variance: float) -> None:
    moments(layers.Multiply(), Input(SERIES, mean=mean, variance=variance), Input((32, 1, 16), mean=0.5),
            repeats=24)  # fmt: skip


@pytest.mark.parametrize("name", ["Add", "Subtract", "Average", "Multiply", "Maximum", "Minimum"])
def test_merge_of_a_tensor_with_its_function(name: str) -> None:
    """x and relu(x) are not independent."""
    layer = getattr(layers, name)()
    moments(lambda x: layer([x, ops.relu(x)]), Input(ROWS, mean=0.3, variance=1.5))


@pytest.mark.parametrize("mean, variance", LAWS)
def test_dot(mean: float, variance: float) -> None:
    law = {"mean": mean, "variance": variance}
    moments(layers.Dot(axes=1), Input((256, 32), **law), Input((256, 32), mean=0.5), repeats=24)
    moments(layers.Dot(axes=2), Input((32, 5, 16), **law), Input((32, 7, 16), mean=0.5), repeats=24)
    moments(layers.Dot(axes=(2, 1)), Input((32, 5, 16), **law), Input((32, 16, 6), mean=0.5), repeats=24)


def test_cosine_of_dot() -> None:
    moments(layers.Dot(axes=1, normalize=True), Input((512, 32), mean=0.4), Input((512, 32), mean=0.4),
            repeats=24, model_error=0.02)  # fmt: skip


SHAPES = {
    "Flatten": (lambda: layers.Flatten(), IMAGE),
    "Permute": (lambda: layers.Permute((2, 1)), SERIES),
    "Reshape": (lambda: layers.Reshape((4, -1)), SERIES),
    "RepeatVector": (lambda: layers.RepeatVector(5), ROWS),
    "UpSampling1D": (lambda: layers.UpSampling1D(3), SERIES),
    "UpSampling2D": (lambda: layers.UpSampling2D((2, 3)), IMAGE),
    "UpSampling2D bilinear": (lambda: layers.UpSampling2D(2, interpolation="bilinear"), IMAGE),
    "UpSampling2D bicubic": (lambda: layers.UpSampling2D(2, interpolation="bicubic"), IMAGE),
    "UpSampling3D": (lambda: layers.UpSampling3D(2), VOLUME),
    "Cropping1D": (lambda: layers.Cropping1D((1, 2)), SERIES),
    "Cropping2D": (lambda: layers.Cropping2D(((1, 2), (0, 1))), IMAGE),
    "Cropping3D": (lambda: layers.Cropping3D(1), VOLUME),
    "ZeroPadding1D": (lambda: layers.ZeroPadding1D((1, 2)), SERIES),
    "ZeroPadding2D": (lambda: layers.ZeroPadding2D(((1, 2), (3, 0))), IMAGE),
    "ZeroPadding3D": (lambda: layers.ZeroPadding3D(1), VOLUME),
    "Rescaling": (lambda: layers.Rescaling(1 / 4, offset=-0.3), IMAGE),
    "Rescaling per channel": (lambda: layers.Rescaling([0.5, 2.0, 1.0, 3.0], offset=[1.0, 0.0, 0.0, -1.0]),
                              (16, 6, 6, 4)),
    "Normalization": (lambda: layers.Normalization(mean=0.5, variance=4.0), ROWS),
    "Normalization per feature": (
        lambda: layers.Normalization(mean=np.linspace(-1, 1, 64), variance=np.linspace(0.5, 2, 64)), ROWS),
    "Normalization inverted": (lambda: layers.Normalization(mean=0.5, variance=4.0, invert=True), ROWS),
    "Resizing": (lambda: layers.Resizing(13, 5), IMAGE),
    "Resizing nearest": (lambda: layers.Resizing(12, 4, interpolation="nearest"), IMAGE),
    "Resizing bicubic": (lambda: layers.Resizing(13, 11, interpolation="bicubic"), IMAGE),
    "CenterCrop": (lambda: layers.CenterCrop(4, 4), IMAGE),
    "Masking": (lambda: layers.Masking(0.0), SERIES),
    "TimeDistributed": (lambda: layers.TimeDistributed(layers.Activation("relu")), SERIES),
}  # fmt: skip


@pytest.mark.parametrize("mean, variance", LAWS)
@pytest.mark.parametrize("name", SHAPES)
def test_structure(name: str, mean: float, variance: float) -> None:
    build, shape = SHAPES[name]
    layer = build()
    layer.build(shape)
    moments(layer, Input(shape, mean=mean, variance=variance))


def test_adapted_normalization() -> None:
    """Values that the layer learned from data."""
    layer = layers.Normalization()
    rng = np.random.default_rng(0)
    layer.adapt(rng.normal(3.0, 2.0, (4096, 8)).astype("float32"))
    row = moments(layer, Input((512, 8), mean=3.0, variance=4.0), model_error=0.002)
    assert row.second == pytest.approx(1.0, rel=0.1)


STACKS = {
    "Flatten": lambda x: layers.Dense(32)(layers.Flatten()(x)),
    "RepeatVector": lambda x: layers.Conv1D(32, 3)(layers.RepeatVector(8)(layers.Flatten()(x))),
    "ZeroPadding2D": lambda x: layers.Conv2D(32, 3)(layers.ZeroPadding2D(2)(x)),
    "UpSampling2D": lambda x: layers.Conv2D(32, 3)(layers.UpSampling2D(2)(x)),
    "Concatenate": lambda x: layers.Dense(32)(layers.Concatenate()([x, ops.relu(x), x * 0.1])),
    "Residual": lambda x: layers.Dense(32)(layers.Add()([x, layers.Dense(8)(ops.tanh(x))])),
    "TimeDistributed": lambda x: layers.TimeDistributed(layers.Conv1D(32, 3, padding="same"))(x),
    "Rescaling": lambda x: layers.Dense(32)(layers.Rescaling(1 / 255)(x)),
}


@pytest.mark.parametrize("name", STACKS)
def test_weights_behind_structure(name: str) -> None:
    at_target(lambda: functional(STACKS[name], (6, 6, 8)), Input((32, 6, 6, 8), mean=0.3), model_error=0.05)
