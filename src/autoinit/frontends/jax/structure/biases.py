"""The bias of a dense layer or convolution, wherever libraries add it: behind transposes, through reshapes."""

from __future__ import annotations

from ....core.graph.canonical.layout import Digit, joined, of_base
from ..tape import Atom, Of, Step, Whole
from .matching import MOVES, is_part, pairs, view

LAYERS = frozenset({"dot_general", "conv_general_dilated"})


def bias_of(step: Step, readers: dict[int, int]) -> Whole | None:
    """The layer with its bias that ends with this step; `readers`: how many steps read an array."""
    if step.name != "add":
        return None
    for x, bias in pairs(step):
        if not is_part(bias) or x.shape != step.outputs[0].shape or not _only_moved(x, readers):
            continue
        found = view(x)
        layer = found.step
        axes = output_axes(layer) if layer is not None and layer.whole is None else None
        if layer is None or axes is None:
            continue
        own = of_base(0, found.base.shape).axes
        wanted = joined(part for a in axes for part in own[a])
        roots = {part.root for part in wanted if isinstance(part, Digit)}
        places = [k for k, parts in enumerate(found.layout.axes)
                  if any(isinstance(part, Digit) and part.root in roots for part in parts)]  # fmt: skip
        if joined(part for k in places for part in found.layout.axes[k]) == wanted and _fits(bias, x, places):
            attrs = {"layer": layer, "moved": x}
            return Whole("biased", layer.label, (*layer.inputs, bias), attrs)
    return None


def _only_moved(x: Atom, readers: dict[int, int]) -> bool:
    """Whether nobody else reads x, nor what it is a view of."""
    while readers[id(x)] == 1:
        if x.step is None or x.step.name not in MOVES:
            return True
        x = x.step.inputs[0]
    return False


def _fits(bias: Atom, x: Atom, places: list[int]) -> bool:
    """Whether a parameter has one number for each place of these axes of x, in their order."""
    found = view(bias)
    lead = len(x.shape) - len(bias.shape)
    whole = joined(part for parts in of_base(0, found.base.shape).axes for part in parts)
    along: list[object] = []
    for axis, parts in enumerate(found.layout.axes, start=lead):
        digits = [part for part in parts if isinstance(part, Digit)]
        if digits and (axis not in places or len(digits) != len(parts)):
            return False
        if axis in places and x.shape[axis] > 1 and bias.shape[axis - lead] != x.shape[axis]:
            return False
        along.extend(digits)
    return joined(along) == whole  # type: ignore[arg-type]


def output_axes(step: Step) -> tuple[int, ...] | None:
    """The axes of what a layer makes that its weight runs along; None if it is no layer with a weight of its own."""
    if step.name == "conv_general_dilated":
        own = step.inputs[1].of is Of.PARAMETERS and step.inputs[0].is_signal
        return (int(step.params["dimension_numbers"].out_spec[1]),) if own else None
    if step.name != "dot_general":
        return None
    slot = weight_slot(step)
    if slot is None:
        return None
    contracted = step.params["dimension_numbers"][0]
    free = [len(a.shape) - len(c) for a, c in zip(step.inputs, contracted, strict=True)]
    return tuple(range(free[0])) if slot == 0 else tuple(range(free[0], free[0] + free[1]))


def weight_slot(step: Step) -> int | None:
    """Which operand of a product is the weight of a dense layer: it is made of parameters, and shares no batch."""
    (_, _), (batch, _) = step.params["dimension_numbers"]
    if batch:
        return None
    for slot in (1, 0):
        weight, x = step.inputs[slot], step.inputs[1 - slot]
        if weight.of is Of.PARAMETERS and x.of is not Of.PARAMETERS and len(weight.shape) > 1:
            return slot
    return None
