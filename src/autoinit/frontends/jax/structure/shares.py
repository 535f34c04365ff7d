"""Softmax and its logarithm, means, and windows that are averaged: a few steps each that are one op."""

from __future__ import annotations

from math import prod
from typing import Any

from ....core.graph.canonical.layout import Layout, Parts, Repeat, of_base
from ..tape import Atom, Step, Whole, array_of, number_of
from .matching import made_by, pairs, substituted, view


def softmax_of(step: Step) -> Whole | None:
    """exp(x) / sum exp(x), with or without the maximum taken off; and x - log sum exp(x)."""
    if step.name == "div":
        over, divisor = step.inputs[0], step.inputs[1]
        top = made_by(over, "exp")
        axis = None if top is None else _summed(divisor, over)
        return None if top is None or axis is None else _shares(_shifted(top.inputs[0], axis), axis, False)
    if step.name == "sub":
        x = step.inputs[0]
        found = view(step.inputs[1])
        logarithm = made_by(found.base, "log")
        inner = None if logarithm is None else view(logarithm.inputs[0])
        total = None if inner is None else made_by(inner.base, "reduce_sum")
        top = None if total is None else made_by(total.inputs[0], "exp")
        if total is None or top is None or top.inputs[0] is not x or len(total.params["axes"]) != 1:
            return None
        axis = int(total.params["axes"][0])
        return _shares(_shifted(x, axis), axis, True)
    return None


def _shares(x: Atom, axis: int, log: bool) -> Whole:
    return Whole("softmax", "log_softmax" if log else "softmax", (x,), {"axis": axis, "log": log})


def _summed(divisor: Atom, over: Atom) -> int | None:
    """The axis that a divisor is the sum of `over` along."""
    found = view(divisor)
    total = made_by(found.base, "reduce_sum")
    if total is None or total.inputs[0] is not over or len(total.params["axes"]) != 1:
        return None
    axis = int(total.params["axes"][0])
    own = of_base(0, total.outputs[0].shape).axes
    seen = found.layout.axes
    return axis if (*seen[:axis], *seen[axis + 1 :]) == own else None


def _shifted(x: Atom, axis: int) -> Atom:
    """y of y - max(y): shares do not see what is taken off along the axis."""
    step = made_by(x, "sub")
    found = None if step is None else view(step.inputs[1])
    top = None if found is None else made_by(found.base, "reduce_max")
    if step is None or found is None or top is None:
        return x
    own, reduced = view(step.inputs[0]), view(top.inputs[0])
    axes = set(top.params["axes"])
    kept = Layout(0, tuple(parts for a, parts in enumerate(reduced.layout.axes) if a not in axes))
    seen = substituted(found.layout, kept)
    if own.base is not reduced.base or len(axes) != 1 or seen is None:
        return x
    differ = [
        a for a, (one, two) in enumerate(zip(own.layout.axes, seen.axes, strict=True)) if _digits(one) != _digits(two)
    ]
    return step.inputs[0] if differ == [axis] and not _digits(seen.axes[axis]) else x


def _digits(parts: Parts) -> list[object]:
    return [part for part in parts if not isinstance(part, Repeat)]


def average_of(step: Step) -> Whole | None:
    """A sum over axes, or over windows, divided by how many there were."""
    if step.name not in ("div", "mul"):
        return None
    for x, other in pairs(step):
        found = view(x)
        total = made_by(found.base, "reduce_sum", "reduce_window_sum")
        if total is not None and total.name == "reduce_sum":
            return _mean(step, x, total, number_of(other))
        if total is not None and x is found.base:
            return _pooled(step, total, other)
        if step.name == "div":
            return None
    return None


def _mean(step: Step, x: Atom, total: Step, number: float | None) -> Whole | None:
    of, axes, out = total.inputs[0], tuple(total.params["axes"]), step.outputs[0].shape
    count = prod(of.shape[a] for a in axes)
    if not number or abs((number if step.name == "div" else 1.0 / number) / count - 1.0) > 1e-6 or x.shape != out:
        return None
    kept = tuple(1 if a in axes else n for a, n in enumerate(of.shape))
    if out == kept != total.outputs[0].shape:
        layout = substituted(view(x).layout, of_base(0, total.outputs[0].shape))
        wanted = tuple(parts for a, parts in enumerate(layout.axes) if a not in axes) if layout is not None else ()
        keepdim = wanted == of_base(0, total.outputs[0].shape).axes
        return Whole("reduce", "mean", (of,), {"kind": "mean", "axes": axes, "keepdim": True}) if keepdim else None
    if x is total.outputs[0]:
        return Whole("reduce", "mean", (of,), {"kind": "mean", "axes": axes, "keepdim": False})
    return None


def window_of(step: Step) -> dict[str, Any]:
    """Window, stride and padding of the axes that a windowed reduction runs over."""
    p = step.params
    window = p["window_dimensions"]
    axes = tuple(
        k for k, n in enumerate(window)
        if n > 1 or p["window_strides"][k] > 1 or tuple(p["padding"][k]) != (0, 0)
    ) or (0,)  # fmt: skip
    names = {"window": "window_dimensions", "stride": "window_strides"}
    made: dict[str, Any] = {own: tuple(int(p[name][k]) for k in axes) for own, name in names.items()}
    made["padding"] = tuple((int(p["padding"][k][0]), int(p["padding"][k][1])) for k in axes)
    return {"axes": axes, **made}


def plain_window(step: Step) -> bool:
    """Whether nothing is dilated."""
    return all(
        n == 1 for name in ("base_dilation", "window_dilation") for n in step.params.get(name) or (1,)
    )  # fmt: skip


def _pooled(step: Step, total: Step, other: Atom) -> Whole | None:
    """All windows by the same number, or each by the entries that it really has."""
    if not plain_window(total):
        return None
    number = number_of(other)
    count = prod(total.params["window_dimensions"])
    if number:
        size = number if step.name == "div" else 1.0 / number
        if abs(size / count - 1.0) > 1e-6:
            return None
        return Whole("average_pool", "mean_pool", (total.inputs[0],), {**window_of(total), "include_pad": True})
    counted = _counts(other) if step.name == "div" else None
    if counted is None or counted.params != total.params:
        return None
    return Whole("average_pool", "mean_pool", (total.inputs[0],), {**window_of(total), "include_pad": False})


def _counts(atom: Atom) -> Step | None:
    """The windowed sum of ones that an array is."""
    total = made_by(view(atom).base, "reduce_window_sum")
    ones = None if total is None else number_of(total.inputs[0])
    return total if ones == 1.0 and array_of(atom) is not None else None
