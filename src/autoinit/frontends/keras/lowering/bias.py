"""A bias that follows its contraction as an addition of its own becomes part of it.

Keras layers end in ``y = x W`` and ``y + b``. Seen as one node, the bias has the role of a bias: it starts at zero, or
cancels the incoming mean. The node then stands for the sum, and is measured there.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ....core.graph.graph import Node, ParameterView, Value
from ....core.graph.roles import bias_slot
from ...views import reshaped_view
from .operands import reference_of

if TYPE_CHECKING:
    from ..call import Call

RECENT = 12
"""How far back the contraction may lie, in nodes: layers add their bias straight away."""


def is_bias(call: Call, x: Any, b: Any) -> bool:
    """Whether ``x + b`` was made part of the contraction that made x; the output of the call is settled then."""
    view, value = reference_of(call, b), reference_of(call, x)
    if not isinstance(view, ParameterView) or not isinstance(value, Value):
        return False
    recent = call.tracer.graph.nodes[-RECENT:]
    chain = _chain(recent, value)
    if not chain or tuple(value.shape) != tuple(call.outputs[0].shape):
        return False
    flat = _along_outputs(chain, value, view)
    if flat is None:
        return False
    source = chain[-1]
    slot = bias_slot(source)
    inputs = list(source.inputs) + [None] * (slot + 1 - len(source.inputs))  # type: ignore[operator]
    inputs[slot] = flat  # type: ignore[index]
    source.inputs = tuple(inputs)
    source.attrs["shown"] = source.label
    for node in chain:
        node.module, node.label, node.first = call.tracer.module, call.name, 0
        node.call = call.tracer.occurrence if node.call else 0
    call.alias(value)
    return True


def _chain(recent: list[Node], value: Value) -> list[Node]:
    """From the node that made `value` back through reshapes to a contraction without bias; empty if there is none."""
    chain: list[Node] = []
    wanted = value
    for node in reversed(recent):
        made = any(v is wanted or v == wanted for v in node.outputs)
        if not made:
            if any(isinstance(r, Value) and r == wanted for r in node.inputs):
                return []  # somebody else has seen it without the bias
            continue
        chain.append(node)
        slot = bias_slot(node)
        if slot is not None:
            free = slot >= len(node.inputs) or node.inputs[slot] is None
            return chain if free else []
        if node.op != "reshape" or not isinstance(node.inputs[0], Value):
            return []
        wanted = node.inputs[0]
    return []


def _along_outputs(chain: list[Node], value: Value, view: ParameterView) -> ParameterView | None:
    """The bias as a vector over the contraction's outputs; None if it does not run along them, and them alone."""
    source = chain[-1]
    whole = source.outputs[0].shape
    channel = source.attrs["x_axes"][1] if source.op == "conv" else len(whole) - 1
    outputs, n = whole[channel], len(value.shape)
    if prod(view.shape) != outputs or len(view.shape) > n:
        return None
    aligned = (1,) * (n - len(view.shape)) + tuple(view.shape)
    if len(chain) == 1:
        wanted = tuple(outputs if a == channel else 1 for a in range(n))
    else:  # the outputs were split into the last axes
        lead = len(whole) - 1
        if channel != lead or tuple(value.shape[:lead]) != tuple(whole[:lead]):
            return None
        wanted = (1,) * lead + tuple(value.shape[lead:])
    return reshaped_view(view, (outputs,)) if aligned == wanted else None
