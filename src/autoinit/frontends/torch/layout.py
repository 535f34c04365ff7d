"""Parameters that do not lie in C order: transposed, channels last, columns of something larger.

The walk sees views of parameters as they lie in memory. The core, and plans, mean a parameter's entries in C order,
whatever its memory looks like; here the views of a graph are turned into such.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...core.graph import Constant, Graph, ParameterView, Reference, Shape
from ..views import contiguous_strides, relaid


def in_c_order(graph: Graph, parameters: dict[str, torch.Tensor]) -> None:
    """Turn the views of all parameters that are not contiguous. What cannot be said in C order is kept as it is."""
    odd = {
        name: (tuple(p.shape), tuple(p.stride()))
        for name, p in parameters.items()
        if p.layout is torch.strided and not p.is_contiguous() and name in graph.parameters
    }
    if not odd:
        return
    readers = {name: graph.parameters[name].read for name in odd}

    def turned(reference: Reference) -> Reference:
        if not isinstance(reference, ParameterView) or reference.name not in odd:
            return reference
        name, (shape, strides) = reference.name, odd[reference.name]
        made = relaid(reference, shape, strides, contiguous_strides(shape))
        if made is not None:
            return made
        if reference.whole:  # all of it, in another order: no matter for what is drawn independently
            return ParameterView(name, reference.shape, contiguous_strides(reference.shape), 0, True)
        graph.notes.append(f"{name}: used in an order in which it does not lie; make it contiguous to have it set")
        return Constant(reference.shape, lambda: readers[name](reference))

    for node in graph.nodes:
        if any(isinstance(r, ParameterView) and r.name in odd for r in node.inputs):
            node.inputs = tuple(turned(r) for r in node.inputs)
    for name, (shape, strides) in odd.items():
        graph.parameters[name].read = _reader(readers[name], shape, strides)


def _reader(read: Callable[..., Any], shape: Shape, strides: Shape) -> Callable[[ParameterView | None], Any]:
    """Reads views that are meant in C order, by the reader of views as they lie."""

    def reader(view: ParameterView | None) -> Any:
        if view is None:
            return read(None)
        there = relaid(view, shape, contiguous_strides(shape), strides)
        if there is not None:
            return read(there)
        values = read(None)  # all of it, cut in another order
        return values.reshape(view.shape) if view.whole and values is not None and values.shape == shape else None

    return reader
