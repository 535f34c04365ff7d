"""Dropout and fresh random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .table import aten

if TYPE_CHECKING:
    from ..call import Call


@aten("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "native_dropout")
def dropout(call: Call) -> None:
    x = call.args[0]
    rate = float(call["p"])
    if not call.get("train", True) or rate == 0.0:
        call.emit("identity", [x], [call.outputs[0]])
    else:
        shared = tuple(range(2, x.dim())) if "feature" in call.name else ()
        call.emit("dropout", [x], [call.outputs[0]], rate=rate, shared=shared,
                  kind="alpha" if "alpha" in call.name else "inverted")  # fmt: skip
    call.companions()


def _standard_normal(call: Call, shape: Any) -> Any:
    return call.emit("noise", [], [shape], mean=0.0, variance=1.0)[0]


def _uniform(call: Call, shape: Any) -> Any:
    """U(0, 1) as the normal distribution function of a standard normal, so that chains of it stay exact."""
    z = _standard_normal(call, shape)
    (scaled,) = call.emit("elementwise", [z, 2**-0.5], [shape], fn="mul", params=())
    (bent,) = call.emit("elementwise", [scaled], [shape], fn="erf", params=())
    (half,) = call.emit("elementwise", [bent, 0.5], [shape], fn="mul", params=())
    return call.emit("elementwise", [half, 0.5], [shape], fn="add", params=())[0]


def _affine(call: Call, x: Any, scale: float, shift: float) -> None:
    shape = call.outputs[0].shape
    (scaled,) = call.emit("elementwise", [x, scale], [shape], fn="mul", params=())
    call.emit("elementwise", [scaled, shift], fn="add", params=())


@aten("rand", "rand_like", "uniform")
def uniform(call: Call) -> None:
    low, high = (float(call["from"]), float(call["to"])) if "from" in call.values else (0.0, 1.0)
    _affine(call, _uniform(call, call.outputs[0].shape), high - low, low)


@aten("randn", "randn_like", "normal")
def normal(call: Call) -> None:
    mean, std = call.get("mean", 0.0), call.get("std", 1.0)
    z = _standard_normal(call, call.outputs[0].shape)
    if isinstance(mean, torch.Tensor) or isinstance(std, torch.Tensor):
        shape = call.outputs[0].shape
        (scaled,) = call.emit("elementwise", [z, std], [shape], fn="mul", params=())
        call.emit("elementwise", [scaled, mean], fn="add", params=())
        return
    _affine(call, z, float(std), float(mean))


@aten("exponential")
def exponential(call: Call) -> None:
    """-log(U) / rate."""
    u = _uniform(call, call.outputs[0].shape)
    (logarithm,) = call.emit("elementwise", [u], [call.outputs[0].shape], fn="log", params=())
    call.emit("elementwise", [logarithm, -1.0 / float(call.get("lambd", 1.0))], fn="mul", params=())


@aten("bernoulli")
def bernoulli(call: Call) -> None:
    p: Any = call.get("p", None)
    if p is None:
        p = call.args[0]
    u = _uniform(call, call.outputs[0].shape)
    call.emit("elementwise", [u, p], fn="lt", params=())
