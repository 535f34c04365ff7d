"""Biases that take the incoming mean off: b = -mu * (sum of W over its fan) makes W x + b = W (x - mu)."""

from __future__ import annotations

from math import prod

from ..graph.graph import Node, ParameterView
from ..graph.roles import bias_slot, weight_rows, weight_slots
from ..plan.check import outputs_of, repeats
from ..signal.positive import shifted
from ..signal.signal import Signal
from .operands import Operands


def centred_by_bias(run: Operands, node: Node, x: Signal) -> Signal:
    """The signal that a layer contracts; x itself where its bias does not take the mean off.

    Layers whose bias is not ours, or cannot do it (none there; a computed weight; a strided transposed convolution,
    whose outputs see different taps; one number for several outputs; entries seen twice) stay as they are.
    """
    slot = bias_slot(node)
    bias = node.inputs[slot] if slot is not None and slot < len(node.inputs) else None
    weight = node.inputs[weight_slots(node)[0]]
    if run.options.center != "bias" or not isinstance(bias, ParameterView) or not isinstance(weight, ParameterView):
        return x
    strided = node.attrs.get("transposed") and any(s > 1 for s in node.attrs["stride"])
    if run.decisions.must_stay(bias.name) is not None or not run.weight_is_set(node) or strided:
        return x
    decision = run.decisions.of[bias.name]
    part = decision.covering(run.decisions.region(bias))
    if part is None or x.mean == 0.0:
        return x
    if part.kind == "constant":
        rows, groups = weight_rows(node, weight_slots(node)[0])
        one_for_each = prod(part.view.shape) == outputs_of(weight.shape, rows, groups)
        if not one_for_each or any(repeats(view.shape, view.stride) for view in (part.view, weight)):
            return x
        part.kind, part.of, part.value, part.rows, part.groups = "centre", weight, x.mean, rows, groups
        decision.action, decision.reason = "centre", "cancels the incoming mean (center='bias')"
    return shifted(x, -part.value) if part.of == weight else x

