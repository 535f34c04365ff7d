"""Norms: (x - mean) / sqrt(variance + eps) and x / sqrt(mean square + eps), with the gain and shift that follow."""

from __future__ import annotations

from ....core.graph.canonical.layout import Digit, Layout, Part, Repeat, size_of
from ..tape import Atom, Step, Whole
from .matching import is_part, made_by, pairs, substituted, view
from .spreads import Inverse, Mean, deviation, inverse_of, mean_of, root_of, stretched, with_eps


def norm_of(step: Step) -> Whole | None:
    """The norm that ends with this step, if one does."""
    if step.name == "mul":
        for x, other in pairs(step):
            inverse = inverse_of(other)
            made = _norm(x, inverse) if inverse is not None else None
            if made is not None:
                return made
    if step.name == "div":
        found = view(step.inputs[1])
        under = root_of(found.base)
        inverse = with_eps(under) if under is not None else None
        inverse = inverse.seen_through(found.layout) if inverse is not None else None
        return _norm(step.inputs[0], inverse) if inverse is not None else None
    return None


def folded_norm_of(step: Step) -> Whole | None:
    """The norm as x r + (shift - mean r), r being the inverse, perhaps times a gain."""
    if step.name not in ("add", "sub"):
        return None
    for scaled, rest in pairs(step) if step.name == "add" else (step.inputs,):
        product = made_by(scaled, "mul")
        for x, factor in pairs(product) if product is not None else ():
            shift, y, minus = (None, rest, True) if step.name == "sub" else _added(rest)
            mean = _mean_times(y, factor, minus)
            if mean is None or len(mean.seen.axes) != len(x.shape):
                continue
            inverse = inverse_of(factor)
            if inverse is None or not inverse.spread.centred:
                continue
            made = _norm(x, inverse, mean._replace(seen=stretched(mean.seen, x.shape)))
            return made if made is None or shift is None else _with_gain(made, shift, 2)
    return None


def _added(rest: Atom) -> tuple[Atom | None, Atom, bool]:
    """(shift, y, whether y is taken off) of shift + y, shift - y or y."""
    step = made_by(view(rest).base, "add", "sub")
    if step is not None and step.name == "sub" and is_part(step.inputs[0]):
        return step.inputs[0], step.inputs[1], True
    for shift, y in pairs(step) if step is not None and step.name == "add" else ():
        if is_part(shift):
            return shift, y, False
    return None, rest, False


def _mean_times(product: Atom, factor: Atom, minus: bool) -> Mean | None:
    """The mean, if minus a product of it with this factor is what is added. `minus`: the array is taken off."""
    base, own = view(product).base, view(factor).base
    turned = made_by(base, "neg")
    if turned is not None:
        base, minus = view(turned.inputs[0]).base, not minus
    step = made_by(base, "mul")
    for one, other in pairs(step) if step is not None else ():
        if view(other).base is own:
            negative = made_by(view(one).base, "neg")
            found = one if negative is None else negative.inputs[0]
            return mean_of(found) if minus != (negative is not None) else None
    return None


def _norm(x: Atom, inverse: Inverse, mean: Mean | None = None) -> Whole | None:
    """`mean`: what is taken off behind; without one, x is what is left of x by then."""
    spread = inverse.spread
    if spread.centred and mean is None:
        mean, own = deviation(x), made_by(x, "sub")
        if mean is None or own is None:
            return None
        x = own.inputs[0]
    averaged = _axes(x, spread.of, spread.seen)
    if averaged is None or (mean is not None and _axes(x, mean.of, mean.seen) != averaged):
        return None
    axes, groups = averaged
    attrs = {"axes": axes, "centre": spread.centred, "channel_axes": (), "eps": inverse.eps, "use_running": False}
    if groups is not None:
        channel, count = groups
        attrs |= {"groups": count, "channel_axes": (channel,)}
    made = Whole("normalize", "norm", (x, None, None, None, None), attrs)
    return made if inverse.scale is None else _with_gain(made, inverse.scale, 1)


def _axes(x: Atom, of: Atom, seen: Layout) -> tuple[tuple[int, ...], tuple[int, int] | None] | None:
    """(axes of x that were averaged, (channel axis, groups)); None if x is something else, or not as in a norm."""
    own, inner = view(x), view(of)
    made = substituted(seen, inner.layout)
    if own.base is not inner.base or made is None or len(made.axes) != len(own.layout.axes):
        return None
    axes: list[int] = []
    groups: tuple[int, int] | None = None
    for axis, (mine, averaged) in enumerate(zip(own.layout.axes, made.axes, strict=True)):
        if any(isinstance(part, Repeat) for part in mine):
            return None
        if mine == averaged and mine:
            continue
        if all(isinstance(part, Repeat) for part in averaged):
            axes.append(axis)
        elif groups is None and _is_group(mine, averaged):
            groups = axis, averaged[0].size
        else:
            return None
    return (tuple(axes), groups) if axes or groups else None


def _is_group(mine: tuple[Part, ...], averaged: tuple[Part, ...]) -> bool:
    """Whether all entries of a run of the axis have the same mean."""
    if len(mine) != 1 or len(averaged) != 2:
        return False
    whole, (high, low) = mine[0], averaged
    return (
        isinstance(whole, Digit) and isinstance(high, Digit) and isinstance(low, Repeat)
        and high.root == whole.root and high.stride == whole.stride * low.size
        and size_of(mine) == high.size * low.size
    )  # fmt: skip


def with_gain_or_shift(step: Step) -> Whole | None:
    """A norm times its gain, or plus its shift: the same norm, with that."""
    if step.name not in ("mul", "add"):
        return None
    for x, parameter in pairs(step):
        before = x.step.whole if x.step is not None else None
        if before is None or before.op != "normalize" or not is_part(parameter) or x.shape != step.outputs[0].shape:
            continue
        if step.name == "add":
            return _with_gain(before, parameter, 2)
        if before.operands[1] is None and before.operands[2] is None:
            return _with_gain(before, parameter, 1)
    return None


def _with_gain(norm: Whole, parameter: Atom, slot: int) -> Whole | None:
    """The norm with a gain (1) or a shift (2), if that has one number per place of some axes of x."""
    x = norm.operands[0]
    assert x is not None
    if norm.operands[slot] is not None:
        return None
    found = view(parameter)
    shape = (1,) * (len(x.shape) - len(parameter.shape)) + parameter.shape
    lead = len(shape) - len(found.layout.axes)
    channels: list[int] = []
    for axis, parts in enumerate(found.layout.axes):
        varying = [part for part in parts if isinstance(part, Digit)]
        if varying and size_of(parts) == size_of(varying) == x.shape[axis + lead]:
            channels.append(axis + lead)
        elif varying:
            return None
    others = norm.operands[1] is not None or norm.operands[2] is not None or "groups" in norm.attrs
    if others and tuple(channels) != norm.attrs["channel_axes"]:
        return None
    operands = list(norm.operands)
    operands[slot] = parameter
    return Whole(norm.op, norm.label, tuple(operands), {**norm.attrs, "channel_axes": tuple(channels)})
