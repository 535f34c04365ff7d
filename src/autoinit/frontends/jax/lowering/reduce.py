"""Reductions and running ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....core.graph.graph import Constant
from .table import lax

if TYPE_CHECKING:
    from ..call import Call

KINDS = {"reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod", "reduce_and": "all",
         "reduce_or": "any"}  # fmt: skip
RUNNING = {"cumsum": "sum", "cumprod": "prod", "cummax": "max", "cummin": "min"}


def _reduce(kind: str) -> Any:
    def lowering(call: Call) -> None:
        axes = tuple(int(a) for a in call["axes"])
        if axes:
            call.emit("reduce", [call.args[0]], kind=kind, axes=axes, keepdim=False)
        else:
            call.alias(call.args[0])

    return lowering


def _running(kind: str) -> Any:
    def lowering(call: Call) -> None:
        x, axis = call.args[0], int(call["axis"])
        if not call.get("reverse", False):
            call.emit("cumulative", [x], kind=kind, axis=axis)
            return
        flip = (("flip", axis, 0),)
        (turned,) = call.emit("shuffle", [x], [x.shape], moves=flip)
        (made,) = call.emit("cumulative", [turned], [x.shape], kind=kind, axis=axis)
        call.emit("shuffle", [made], moves=flip)

    return lowering


for _name, _kind in KINDS.items():
    lax(_name)(_reduce(_kind))
for _name, _kind in RUNNING.items():
    lax(_name)(_running(_kind))


@lax("argmax", "argmin")
def place(call: Call) -> None:
    """Indices carry no signal."""
    call.tracer.set(call.out, Constant(call.out.shape, lambda: None))
