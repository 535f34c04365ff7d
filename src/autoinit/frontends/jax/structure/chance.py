"""What is drawn: laws of random arrays, and dropout, which is a choice or a product by such."""

from __future__ import annotations

from typing import NamedTuple

from ....core.graph.canonical.layout import Layout, Repeat, of_base
from ..tape import Atom, Of, Step, Whole, number_of
from .matching import MOVES, made_by, moved, pairs, scaling, substituted, view


class Coin(NamedTuple):
    """A mask that is true with probability `p`, each along axes that are not `shared`."""

    p: float
    shared: tuple[int, ...]


def coin(atom: Atom) -> Coin | None:
    """The law of a mask, as booleans or as numbers 0 and 1."""
    if atom.of is not Of.CHANCE:
        return None
    base, layout = _drawn(atom)
    shared = tuple(
        k for k, parts in enumerate(layout.axes) if parts and all(isinstance(part, Repeat) for part in parts)
    )
    p = _probability(base)
    return None if p is None else Coin(p, shared)


def _drawn(atom: Atom) -> tuple[Atom, Layout]:
    """View through moves of booleans too."""
    layout = of_base(0, atom.shape)
    while atom.step is not None and atom.step.name in MOVES:
        inner = moved(atom.step)
        made = None if inner is None else substituted(layout, inner)
        if made is None:
            break
        atom, layout = atom.step.inputs[0], made
    return atom, layout


def _probability(atom: Atom) -> float | None:
    step = atom.step
    if step is None:
        return None
    if step.name == "not":
        p = _probability(step.inputs[0])
        return None if p is None else 1.0 - p
    if step.label == "bernoulli":
        return number_of(step.inputs[1])
    if step.name in ("lt", "le", "gt", "ge"):
        one, two = step.inputs
        if step.name in ("gt", "ge"):
            one, two = two, one
        for drawn, level, below in ((one, two, True), (two, one, False)):
            base, number = view(drawn).base, number_of(level)
            if number is not None and base.step is not None and base.step.label == "uniform":
                low, high = (number_of(x) for x in base.step.inputs[1:3])
                if low is not None and high is not None and high > low:
                    share = min(max((number - low) / (high - low), 0.0), 1.0)
                    return share if below else 1.0 - share
    return None


def dropout_of(step: Step) -> Whole | None:
    """Entries that are kept or zeroed by chance, and the others scaled up."""
    if step.name == "select_n" and len(step.inputs) == 3:
        tossed = coin(step.inputs[0])
        no, yes = step.inputs[1:]
        if tossed is None:
            return None
        if number_of(no) == 0.0:
            return _dropped(yes, tossed.p, tossed.shared)
        return _dropped(no, 1.0 - tossed.p, tossed.shared) if number_of(yes) == 0.0 else None
    if step.name == "mul":
        for x, mask in pairs(step):
            tossed = coin(mask) if x.of & (Of.SIGNAL | Of.PARAMETERS) else None
            if tossed is not None and mask.is_float:
                return _dropped(x, tossed.p, tossed.shared)
    if step.name in ("div", "mul"):
        scaled = scaling(step)
        before = scaled[0].step if scaled is not None else None
        if scaled is not None and before is not None and before.whole is not None and before.whole.op == "dropout":
            whole = before.whole
            if whole.attrs["kind"] == "raw" and _is_one(scaled[1] * (1.0 - whole.attrs["rate"])):
                return Whole("dropout", "dropout", whole.operands, {**whole.attrs, "kind": "inverted"})
    return None


def _dropped(x: Atom, keep: float, shared: tuple[int, ...]) -> Whole:
    step = made_by(x, "div", "mul")
    scaled = scaling(step) if step is not None else None
    inverted = scaled is not None and _is_one(scaled[1] * keep) and scaled[0].shape == x.shape
    attrs = {"rate": 1.0 - keep, "shared": shared, "kind": "inverted" if inverted else "raw"}
    return Whole("dropout", "dropout", (scaled[0] if inverted and scaled is not None else x,), attrs)


def _is_one(number: float) -> bool:
    return abs(number - 1.0) < 1e-6
