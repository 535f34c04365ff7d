"""Dropout and noise layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .arithmetic import elementwise, step
from .convolution import image_axes
from .operands import shape_of
from .table import keras_layer, keras_op

if TYPE_CHECKING:
    from ..call import Call

TRUNCATED_VARIANCE = 0.7737413035
"""Of a standard normal cut at +-2."""


def drop(call: Call, x: Any, rate: float, shared: tuple[int, ...], kind: str = "inverted") -> None:
    if call.training and rate > 0.0:
        call.emit("dropout", [x], rate=rate, shared=shared, kind=kind)
    else:
        call.emit("identity", [x])


def shared_axes(noise_shape: Any, ndim: int) -> tuple[int, ...]:
    """Axes along which one mask value counts for all places."""
    if noise_shape is None:
        return ()
    shape = tuple(noise_shape)
    shape = (1,) * (ndim - len(shape)) + shape
    return tuple(a for a, n in enumerate(shape) if n == 1)


@keras_layer("Dropout")
def dropout(call: Call) -> None:
    x = call["inputs"]
    drop(call, x, float(call.op.rate), shared_axes(call.op.noise_shape, len(shape_of(x))))


@keras_layer("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D")
def spatial_dropout(call: Call) -> None:
    x = call["inputs"]
    _, spatial = image_axes(getattr(call.op, "data_format", "channels_last"), len(shape_of(x)))
    drop(call, x, float(call.op.rate), spatial)


@keras_layer("AlphaDropout")
def alpha_dropout(call: Call) -> None:
    x = call["inputs"]
    drop(call, x, float(call.op.rate), shared_axes(call.op.noise_shape, len(shape_of(x))), "alpha")


@keras_layer("GaussianDropout")
def gaussian_dropout(call: Call) -> None:
    """x (1 + sqrt(rate / (1 - rate)) z)."""
    x, rate = call["inputs"], float(call.op.rate)
    if not call.training or rate <= 0.0:
        call.emit("identity", [x])
        return
    (noise,) = call.emit("noise", [], [shape_of(x)], mean=1.0, variance=rate / (1.0 - rate))
    elementwise(call, "mul", [x, noise])


@keras_layer("GaussianNoise")
def gaussian_noise(call: Call) -> None:
    x, deviation = call["inputs"], float(call.op.stddev)
    if not call.training or deviation <= 0.0:
        call.emit("identity", [x])
        return
    (noise,) = call.emit("noise", [], [shape_of(x)], mean=0.0, variance=deviation**2)
    elementwise(call, "add", [x, noise])


# --- random numbers that layers draw themselves: calls of the backend -----------------------------------------------


@keras_op("RandomDropout")
def backend_dropout(call: Call) -> None:
    """Called in training only, by layers that ask themselves."""
    a = call["kwargs"]
    x, rate = a["inputs"], float(a["rate"])
    if rate > 0.0:
        call.emit(
            "dropout", [x], rate=rate, shared=shared_axes(a.get("noise_shape"), len(shape_of(x))), kind="inverted"
        )
    else:
        call.emit("identity", [x])


@keras_op("RandomNormal")
def normal(call: Call) -> None:
    a = call["kwargs"]
    call.emit("noise", [], mean=float(a["mean"]), variance=float(a["stddev"]) ** 2)


@keras_op("RandomTruncatedNormal")
def truncated_normal(call: Call) -> None:
    """Cut at two standard deviations."""
    a = call["kwargs"]
    call.emit("noise", [], mean=float(a["mean"]), variance=TRUNCATED_VARIANCE * float(a["stddev"]) ** 2)


@keras_op("RandomUniform")
def uniform(call: Call) -> None:
    """U(0, 1) as the normal distribution function of a standard normal, so that chains of it stay exact."""
    a, shape = call["kwargs"], shape_of(call.outputs[0])
    if "int" in str(call.outputs[0].dtype):
        call.unknown()
        return
    low, high = float(a["minval"]), float(a["maxval"])
    (z,) = call.emit("noise", [], [shape], mean=0.0, variance=1.0)
    bent = step(call, "erf", step(call, "mul", z, 2**-0.5))
    elementwise(call, "add", [step(call, "mul", bent, 0.5 * (high - low)), 0.5 * (high + low)])
