"""Looking back from an array: through moves of entries to what made them, with a law of where entries come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ....core.graph.canonical.layout import Axis, Digit, Layout, Parts, Repeat, joined, of_base, regrouped, taken
from ..tape import Atom, Of, Step, number_of

MOVES = frozenset({"broadcast_in_dim", "reshape", "squeeze", "transpose", "convert_element_type", "reduce_precision"})


CUTS = frozenset({"slice", "dynamic_slice", "split"})


class View(NamedTuple):
    """An array as a view of another one (`layout.base` means nothing), times a number."""

    base: Atom
    layout: Layout
    factor: float = 1.0

    @property
    def step(self) -> Step | None:
        return self.base.step


def moved(step: Step) -> Layout | None:
    """The output of a move as a view of its operand; None where that is none."""
    x, out = step.inputs[0], step.outputs[0]
    axes = of_base(0, x.shape).axes
    if step.name == "broadcast_in_dim":
        made: list[Parts] = [(Repeat(n),) if n > 1 else () for n in out.shape]
        for k, axis in enumerate(step.params["broadcast_dimensions"]):
            if x.shape[k] == out.shape[axis]:
                made[axis] = axes[k]
        return Layout(0, tuple(made))
    if step.name == "transpose":
        return Layout(0, tuple(axes[k] for k in step.params["permutation"]))
    if step.name in ("reshape", "squeeze"):
        shaped = regrouped(axes, out.shape) if 0 not in out.shape else None
        return None if shaped is None else Layout(0, shaped)
    return Layout(0, axes) if step.name in MOVES else None


def substituted(outer: Layout, inner: Layout) -> Layout | None:
    """A view of something, as a view of what that is a view of itself."""
    axes: list[Parts] = []
    for parts in outer.axes:
        made: list[Digit | Repeat] = []
        for part in parts:
            if isinstance(part, Repeat):
                made.append(part)
                continue
            root = part.root
            found = taken(inner.axes[root.number], part.stride, part.size) if isinstance(root, Axis) else None
            if found is None:
                return None
            made.extend(found)
        axes.append(joined(made))
    return Layout(inner.base, tuple(axes))


def view(atom: Atom, scaled: bool = False) -> View:
    """What an array is a view of, as far back as entries are only moved (`scaled`: or multiplied by a number)."""
    base, layout, factor = atom, of_base(0, atom.shape), 1.0
    while base.step is not None and base.step.whole is None:
        step = base.step
        if step.name in MOVES:
            inner = moved(step)
            made = substituted(layout, inner) if inner is not None else None
            if made is None or not step.inputs[0].is_float:
                break
            base, layout = step.inputs[0], made
            continue
        part = scaling(step) if scaled else None
        if part is None or part[0].shape != base.shape:
            break
        base, factor = part[0], factor * part[1]
    return View(base, layout, factor)


def scaling(step: Step) -> tuple[Atom, float] | None:
    """(x, c) if the step is x times the number c."""
    if step.name not in ("mul", "div") or step.whole is not None:
        return None
    for x, other in pairs(step):
        number = number_of(other)
        if number is not None and (step.name == "mul" or number):
            return x, number if step.name == "mul" else 1.0 / number
        if step.name == "div":
            break
    return None


def pairs(step: Step) -> Iterator[tuple[Atom, Atom]]:
    """The two operands, in both orders."""
    one, two = step.inputs
    yield one, two
    yield two, one


def made_by(atom: Atom, *names: str) -> Step | None:
    """The step that made an array, if it is one of these."""
    step = atom.step
    return step if step is not None and step.whole is None and step.name in names else None


def squared(atom: Atom) -> Atom | None:
    """y of y²."""
    step = made_by(atom, "square", "integer_pow", "mul")
    if step is None:
        return None
    if step.name == "mul":
        return step.inputs[0] if step.inputs[0] is step.inputs[1] else None
    return step.inputs[0] if step.name == "square" or step.params["y"] == 2 else None


def same(one: Atom, other: Atom) -> bool:
    """Whether two arrays hold the same entries of the same thing, in any shape."""
    if one is other:
        return True
    a, b = view(one), view(other)
    return a.base is b.base and joined(p for parts in a.layout.axes for p in parts) == joined(
        p for parts in b.layout.axes for p in parts
    )


def is_part(atom: Atom) -> bool:
    """Whether an array is a parameter, or a part of one, moved at most."""
    while atom.of is Of.PARAMETERS and not atom.is_leaf:
        step = atom.step
        if step is None or step.name not in MOVES | CUTS or any(a.of for a in step.inputs[1:]):
            return False
        atom = step.inputs[0]
    return atom.is_leaf
