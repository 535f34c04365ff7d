"""Reductions over windows."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..structure.shares import plain_window, window_of
from .table import lax

if TYPE_CHECKING:
    from ..call import Call


@lax("reduce_window_max")
def max_pool(call: Call) -> None:
    if any(n != 1 for n in call.get("base_dilation") or (1,)):
        call.unknown()
        return
    attrs = window_of(call.step)
    dilation = call.get("window_dilation") or (1,) * len(call.args[0].shape)
    call.emit("max_pool", [call.args[0]], dilation=tuple(int(dilation[a]) for a in attrs["axes"]), **attrs)


@lax("reduce_window_min")
def min_pool(call: Call) -> None:
    """-max(-x)."""
    if not plain_window(call.step):
        call.unknown()
        return
    (negated,) = call.entries("neg", [call.args[0]], [call.args[0].shape])
    (largest,) = call.emit("max_pool", [negated], [call.out.shape], **window_of(call.step))
    call.entries("neg", [largest])


@lax("reduce_window_sum")
def sum_pool(call: Call) -> None:
    """The mean of every window, times its size."""
    if not plain_window(call.step):
        call.unknown()
        return
    (mean,) = call.emit("average_pool", [call.args[0]], [call.out.shape], include_pad=True, **window_of(call.step))
    call.entries("mul", [mean, float(prod(call["window_dimensions"]))])
