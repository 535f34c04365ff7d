"""`rules.paper` on the Keras layers that the paper speaks of."""

from __future__ import annotations

import math
from typing import Any

import pytest

keras = pytest.importorskip("keras")

from keras import layers  # noqa: E402

import autoinit  # noqa: E402

M, V = 0.7, 2.5

RELU_MEAN = M * 0.5 * math.erfc(-M / math.sqrt(2 * V)) + math.sqrt(V / (2 * math.pi)) * math.exp(-(M**2) / (2 * V))
RELU_SECOND = (M**2 + V) * 0.5 * math.erfc(-M / math.sqrt(2 * V)) + M * math.sqrt(V / (2 * math.pi)) * math.exp(
    -(M**2) / (2 * V)
)

PRINTED = {
    "Dropout": (lambda: layers.Dropout(0.3), M, V / 0.7),
    "SpatialDropout2D": (lambda: layers.SpatialDropout2D(0.3), 0.7 * M, 0.7 * V),
    "AveragePooling2D": (lambda: layers.AveragePooling2D(2), M, V / 4),
    "GlobalAveragePooling2D": (lambda: layers.GlobalAveragePooling2D(), M, V / 64),
    "ZeroPadding2D": (lambda: layers.ZeroPadding2D(1), M * 0.64, V * 0.64),
    "Cropping2D": (lambda: layers.Cropping2D(1), M, V),
    "UpSampling2D": (lambda: layers.UpSampling2D(2), M, V),
    "Flatten": (lambda: layers.Flatten(), M, V),
    "BatchNormalization": (lambda: layers.BatchNormalization(), 0.0, 1.0),
    "LayerNormalization": (lambda: layers.LayerNormalization(), 0.0, 1.0),
    "GroupNormalization": (lambda: layers.GroupNormalization(2), 0.0, 1.0),
    "ReLU": (lambda: layers.ReLU(), RELU_MEAN, RELU_SECOND - RELU_MEAN**2),
    "PReLU": (lambda: layers.PReLU(), RELU_MEAN, RELU_SECOND - RELU_MEAN**2),
    "Softmax": (lambda: layers.Softmax(), M, V),
}


def planned(x: Any, y: Any) -> autoinit.Plan:
    model = keras.Model(x, layers.Dense(3, name="head")(layers.Flatten()(y)))
    return autoinit.plan(model, autoinit.Input((4, 8, 8, 6), M, V), rules=autoinit.rules.paper, strict=True)


@pytest.mark.parametrize("name", PRINTED)
def test_what_reaches_the_head(name: str) -> None:
    """The head's deviation is 1/sqrt(fan_in (nu + mu^2)): it shows what came in."""
    make, mean, variance = PRINTED[name]
    x = keras.Input((8, 8, 6))
    y = make()(x)
    plan = planned(x, y)
    fan_in = plan["head/kernel"].shape[0]
    assert plan["head/kernel"].std == pytest.approx((fan_in * (variance + mean**2)) ** -0.5, rel=1e-6)


@pytest.mark.parametrize(
    ("layer", "fan_in"),
    [
        (lambda: layers.Conv2D(5, 3, padding="same", name="layer"), 54),
        (lambda: layers.DepthwiseConv2D(3, name="layer"), 54),
        (lambda: layers.Conv2D(4, 3, groups=2, name="layer"), 54),
        (lambda: layers.Conv2DTranspose(4, 3, strides=2, name="layer"), 54),
        (lambda: layers.Dense(4, name="layer"), 6),
    ],
)
def test_weights(layer: Any, fan_in: int) -> None:
    x = keras.Input((8, 8, 6))
    assert planned(x, layer()(x))["layer/kernel"].std == pytest.approx((fan_in * (V + M**2)) ** -0.5, rel=1e-9)


def test_merging_layers() -> None:
    x = keras.Input((8, 8, 6))
    made = {
        "Add": (layers.Add()([x, x]), 2 * M, 2 * V),
        "Average": (layers.Average()([x, x]), M, V / 2),
        "Subtract": (layers.Subtract()([x, x]), 0.0, 2 * V),
        "Multiply": (layers.Multiply()([x, x]), M**2, (V + M**2) ** 2 - M**4),
        "Concatenate": (
            layers.Concatenate()([x, layers.BatchNormalization()(x)]),
            M / 2,
            (V + M**2 + 1) / 2 - M**2 / 4,
        ),
    }
    for name, (y, mean, variance) in made.items():
        plan = planned(x, y)
        fan_in = plan["head/kernel"].shape[0]
        assert plan["head/kernel"].std == pytest.approx((fan_in * (variance + mean**2)) ** -0.5, rel=1e-6), name
