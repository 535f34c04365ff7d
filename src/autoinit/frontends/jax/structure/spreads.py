"""Means, variances and inverse standard deviations, written out in any of the usual ways.

What counts is which entries were averaged for which entry of x: a mean is known as a view of x in which the averaged
axes are repeats, and so reshapes and broadcasts in any order are understood.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ....core.graph.canonical.layout import Layout, Repeat, of_base
from ....core.graph.graph import Shape
from ..tape import Atom, Step, number_of
from .matching import is_part, made_by, pairs, same, squared, substituted, view


class Mean(NamedTuple):
    """The mean of an array; `seen`: as a view of that array."""

    of: Atom
    seen: Layout


class Spread(NamedTuple):
    """A variance (`centred`), or a mean square, in the same way."""

    of: Atom
    seen: Layout
    centred: bool


class Inverse(NamedTuple):
    """scale / sqrt(spread + eps)."""

    spread: Spread
    eps: float
    scale: Atom | None = None

    def seen_through(self, outer: Layout) -> Inverse | None:
        spread = _through(outer, self.spread)
        return None if spread is None else self._replace(spread=spread)


def mean_of(atom: Atom) -> Mean | None:
    """What an array is the mean of: a sum divided by its length, also where it is one step already (`shares`)."""
    found = view(atom, scaled=True)
    step = found.step
    if step is None:
        return None
    if step.whole is not None and step.whole.label == "mean":
        (x,), attrs, count = step.whole.operands, step.whole.attrs, 1
    elif step.whole is None and step.name == "reduce_sum":
        x, attrs = step.inputs[0], {"axes": step.params["axes"], "keepdim": False}
        count = prod(x.shape[a] for a in attrs["axes"])
    else:
        return None
    if x is None or abs(found.factor * count - 1.0) > 1e-3 or 0 in x.shape:
        return None
    axes, own = attrs["axes"], of_base(0, x.shape).axes
    whole = tuple(() if a in axes else parts for a, parts in enumerate(own))
    kept = Layout(0, whole if attrs["keepdim"] else tuple(p for a, p in enumerate(own) if a not in axes))
    seen = substituted(found.layout, kept)
    return None if seen is None else Mean(x, seen)


def deviation(atom: Atom) -> Mean | None:
    """The mean of x in x - mean(x), as a view of x."""
    step = made_by(atom, "sub")
    mean = None if step is None else mean_of(step.inputs[1])
    if step is None or mean is None or not same(mean.of, step.inputs[0]):
        return None
    return mean


def _digits(seen: Layout) -> frozenset[object]:
    """What a view depends on."""
    return frozenset(part for parts in seen.axes for part in parts if not isinstance(part, Repeat))


def _mean_square(atom: Atom) -> Mean | None:
    """The mean of y², as one of y."""
    mean = mean_of(atom)
    if mean is None:
        return None
    inner = view(mean.of)
    y, seen = squared(inner.base), substituted(mean.seen, inner.layout)
    return None if y is None or seen is None else Mean(y, seen)


def _through(outer: Layout, inner: Spread) -> Spread | None:
    seen = substituted(outer, inner.seen)
    return None if seen is None else inner._replace(seen=seen)


def spread_of(atom: Atom) -> Spread | None:
    """What an array is the variance or mean square of."""
    found = view(atom)
    step = made_by(found.base, "max", "sub")
    inner = None if step is None else _at_least_zero(step) if step.name == "max" else _difference(step)
    if inner is not None:
        return _through(found.layout, inner)
    square = _mean_square(atom)
    if square is None:
        return None
    mean = deviation(square.of)
    alike = mean is not None and mean.of.shape == square.of.shape
    if mean is None or not alike or _digits(mean.seen) != _digits(square.seen):
        return Spread(square.of, square.seen, False)
    return Spread(mean.of, square.seen, True)


def _at_least_zero(step: Step) -> Spread | None:
    return next((spread_of(x) for x, other in pairs(step) if number_of(other) == 0.0), None)


def _difference(step: Step) -> Spread | None:
    """mean(x²) - mean(x)²."""
    square, second = _mean_square(step.inputs[0]), view(step.inputs[1])
    root = squared(second.base)
    mean = None if root is None else mean_of(root)
    if square is None or mean is None or not same(square.of, mean.of) or square.of.shape != mean.of.shape:
        return None
    return Spread(square.of, square.seen, True) if substituted(second.layout, mean.seen) == square.seen else None


def inverse_of(atom: Atom) -> Inverse | None:
    """What an array is the inverse standard deviation of, perhaps times a gain."""
    found = view(atom)
    step = made_by(found.base, "rsqrt", "div", "pow", "mul")
    if step is None:
        return None
    if step.name != "mul":
        inner = _under_the_root(step)
        made = None if inner is None else with_eps(inner)
        return None if made is None else made.seen_through(found.layout)
    for one, gain in pairs(step):
        made = inverse_of(one) if is_part(gain) else None
        if made is not None and made.scale is None:
            spread = made.spread._replace(seen=stretched(made.spread.seen, step.outputs[0].shape))
            return Inverse(spread, made.eps, gain).seen_through(found.layout)
    return None


def stretched(seen: Layout, shape: Shape) -> Layout:
    """Broadcast to a shape."""
    axes = zip(seen.axes, shape, strict=True)
    return Layout(0, tuple((Repeat(n),) if not parts and n > 1 else parts for parts, n in axes))


def with_eps(atom: Atom) -> Inverse | None:
    """spread + eps."""
    under = view(atom)
    added = made_by(under.base, "add")
    for x, other in pairs(added) if added is not None else ():
        eps = number_of(other)
        spread = spread_of(x) if eps is not None else None
        if eps is not None and spread is not None:
            return Inverse(spread, eps).seen_through(under.layout)
    spread = spread_of(atom)
    return None if spread is None else Inverse(spread, 0.0)


def _under_the_root(step: Step) -> Atom | None:
    """v of v^(-1/2)."""
    if step.name == "rsqrt":
        return step.inputs[0]
    if step.name == "pow":
        return step.inputs[0] if number_of(step.inputs[1]) == -0.5 else None
    return root_of(step.inputs[1]) if number_of(step.inputs[0]) == 1.0 else None


def root_of(atom: Atom) -> Atom | None:
    """v of sqrt(v)."""
    step = made_by(view(atom).base, "sqrt", "pow")
    if step is None or view(atom).base.shape != atom.shape:
        return None
    return step.inputs[0] if step.name == "sqrt" or number_of(step.inputs[1]) == 0.5 else None
