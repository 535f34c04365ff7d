"""Views of parameters: a transpose, reshape, cut or cast of a weight is still that weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.graph.graph import ParameterView
from ..views import reshaped_view, viewed
from .call import Call
from .variables import is_float

SAME = {"Cast", "ConvertToTensor", "StopGradient", "Copy", "Identity"}


def viewed_parameter(call: Call) -> bool:
    """Set the outputs to views of a parameter, if the operation only looks at one in another way."""
    first = call.args[0] if call.args else next(iter(call.kwargs.values()), None)
    reference = call.reference(first) if getattr(first, "shape", None) is not None else None
    if not isinstance(reference, ParameterView):
        return False
    if call.name in SAME:
        if not all(is_float(out.dtype) for out in call.outputs):
            return False
        call.alias(reference)
        return True
    made = _views(call, reference)
    if made is None or any(view is None for view in made):
        return False
    if [v.shape for v in made if v is not None] != [tuple(out.shape) for out in call.outputs]:
        return False
    for k, view in enumerate(made):
        call.alias(view, k)
    return True


def _views(call: Call, view: ParameterView) -> list[ParameterView | None] | None:
    op = call.op
    if call.name in ("Reshape", "Ravel"):
        return [reshaped_view(view, tuple(call.outputs[0].shape))]
    if call.name == "Split":
        cuts, axis = op.indices_or_sections, op.axis
        return [viewed(view, _piece(cuts, axis, k)) for k in range(len(call.outputs))]
    if call.name == "Unstack":
        return [viewed(view, _row(op.axis, k)) for k in range(len(call.outputs))]
    if call.name == "GetItem":
        key = call["key"]
        return [viewed(view, lambda a: a[key])] if _plain(key) else None
    moves: dict[str, Callable[[Any], Any]] = {
        "Transpose": lambda a: np.transpose(a, op.axes),
        "Squeeze": lambda a: np.squeeze(a, op.axis),
        "ExpandDims": lambda a: np.expand_dims(a, op.axis),
        "Swapaxes": lambda a: np.swapaxes(a, op.axis1, op.axis2),
        "Moveaxis": lambda a: np.moveaxis(a, op.source, op.destination),
    }
    return [viewed(view, moves[call.name])] if call.name in moves else None


def _piece(cuts: Any, axis: int, k: int) -> Callable[[Any], Any]:
    return lambda a: np.split(a, cuts, axis=axis)[k]


def _row(axis: int, k: int) -> Callable[[Any], Any]:
    return lambda a: np.moveaxis(a, axis, 0)[k]


def _plain(key: Any) -> bool:
    """Integers, slices, None and Ellipsis cut without copying."""
    keys = key if isinstance(key, tuple) else (key,)
    return all(k is None or k is Ellipsis or isinstance(k, (int, slice)) for k in keys)
