"""What `structure` found: layers with their bias, norms, softmax, dropout, means."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ....core.graph.graph import Reference
from ..structure.matching import view
from ..tape import Atom
from .table import whole

if TYPE_CHECKING:
    from ..call import Call


@whole("biased")
def biased(call: Call) -> None:
    """The layer, with a key of the call that it ends with; then the moves that stand in between."""
    attrs = call.step.whole.attrs if call.step.whole is not None else {}
    layer, x, bias = attrs["layer"], attrs["moved"], call.step.operands[-1]
    tracer = call.tracer
    tracer.follow_inside(layer)
    node = tracer.layers[id(layer.outputs[0])]
    node.inputs = (*node.inputs[:2], _flat(call, bias, None))
    node.module, node.label, node.call = call.step.module, call.name, call.step.call
    tracer.follow_between(layer.outputs[0], x)
    call.alias(x)


def _flat(call: Call, parameter: Atom | None, sizes: tuple[int, ...] | None) -> Reference:
    """A parameter without the axes that it is only broadcast along: in one axis, or in these."""
    if parameter is None:
        return None
    base = view(parameter).base
    return call.reshaped(base, (prod(base.shape),) if sizes is None else sizes)


@whole("normalize")
def normalize(call: Call) -> None:
    found = call.step.whole
    assert found is not None
    x, scale, shift = found.operands[:3]
    assert x is not None
    sizes = tuple(x.shape[a] for a in found.attrs["channel_axes"])
    call.emit("normalize", [x, _flat(call, scale, sizes), _flat(call, shift, sizes), None, None], **found.attrs)


@whole("softmax", "dropout", "average_pool", "reduce")
def plain(call: Call) -> None:
    found = call.step.whole
    assert found is not None
    call.emit(found.op, list(found.operands), **found.attrs)


@whole("recurrent")
def recurrent(call: Call) -> None:
    """(steps, ..., features): what is in between is the batch."""
    found = call.step.whole
    assert found is not None
    n = found.attrs["states"]
    x, states, weights = found.operands[0], found.operands[1 : 1 + n], found.operands[1 + n :]
    assert x is not None
    steps, *batch, _ = x.shape
    entries = prod(batch)
    given = [call.reshaped(s, (1, entries, s.shape[-1])) for s in states if s is not None]
    call.emit("recurrent", [call.reshaped(x, (steps, entries, x.shape[-1])), *given, *weights], layers=1,
              bidirectional=False, batch_first=False, per_gate=True, **found.attrs)  # fmt: skip


@whole("custom")
def custom(call: Call) -> None:
    """A layer or function with a rule of the user's own, with the values that its parameters have."""
    found = call.step.whole
    assert found is not None
    own = found.attrs["own"]
    given, held = found.operands[: own.inputs], found.operands[own.inputs :]
    layer = own.layer([call.tracer.present(atom) for atom in held if atom is not None])
    call.tracer.custom_node([call.reference(x) for x in given], call.outputs, found.label, call.step.call,
                            rule=own.rule, owner=layer)  # fmt: skip
