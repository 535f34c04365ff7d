"""Weights in the making: tensors made of parameters, to be worked out again for any scale of these.

A weight may reach a contraction as it is, through views, or through arithmetic inside forward: a mask, a gain, a
product of factors, a quantisation, a standardisation, a modulation by data. Such a tensor is carried as a `Derived`:
the parameters that it is made of, and how to get its moments when these have given moments (an `Assignment`). The
contraction that meets it then finds the scale that brings its output to the target (`core.solve.scale`).

Parameters play one of two parts. A *weight* is drawn. A *gain* acts on something larger than itself (a number per
row, a temperature, a step size), divides, is the size of noise, or is merely compared with (the scores of a mask): it
is left as it is, unless it is all that there is to set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np

from ..dependence import Joint
from ..dependence.story import Story
from ..graph.graph import Constant, Node, ParameterView, Shape
from ..graph.roles import gain_slots
from ..graph.specs import spec_of
from ..signal.signal import Signal, iid

COMPARISONS = {"gt", "ge", "lt", "le", "eq", "ne", "logical_and", "logical_or", "logical_not"}
DECIDING = {"div": {1}, "where": {0}}
"""Functions one operand of which scales or chooses among the others."""


class Assignment:
    """Moments of parameters, and of what is made of them; everything is worked out once."""

    def __init__(self, of: Callable[[ParameterView], Signal]) -> None:
        self._of = of
        self._views: dict[ParameterView, Signal] = {}
        self._nodes: dict[int, tuple[Signal, ...]] = {}
        self._values: dict[int, Signal] = {}
        self._joint: Joint | None = None

    def view(self, view: ParameterView) -> Signal:
        """One signal per view, so that w - mean(w) knows its own."""
        if view not in self._views:
            self._views[view] = self._of(view)
        return self._views[view]

    def node(self, recipe: Recipe) -> tuple[Signal, ...]:
        key = id(recipe.node)
        if key not in self._nodes:
            signals = [
                other if part is None else part.signal(self)
                for part, other in zip(recipe.parts, recipe.others, strict=True)
            ]
            self._nodes[key] = recipe.evaluate(recipe.node, signals, self)
            for value, made in zip(recipe.node.outputs, self._nodes[key], strict=True):
                self._values[value.id] = made
        return self._nodes[key]

    def joint(self, story: Story) -> Joint:
        """How what is made of the parameters varies together."""
        if self._joint is None:
            leaves = {story.leaf(view): signal for view, signal in self._views.items()}
            self._joint = Joint(story, lambda value: self._values.get(value) or leaves.get(value))
        return self._joint


@dataclass(slots=True, eq=False)
class Recipe:
    """One op on the way to a weight, with its operands: derived ones, and the signals of all others."""

    node: Node
    parts: list[Derived | None]
    others: list[Signal | None]
    evaluate: Callable[[Node, list[Signal | None], Assignment], tuple[Signal, ...]]


@dataclass(slots=True, eq=False)
class Derived:
    """A tensor made of parameters that may be set, of constants, and maybe of data."""

    weights: tuple[ParameterView, ...]
    gains: tuple[ParameterView, ...] = ()
    recipe: Recipe | None = None
    """None: the parameter itself."""
    output: int = 0
    fixed: bool = False
    """The front end says that the scale of the parameters has no effect, and that their values fit buffers."""
    normalised: bool = False
    """Divided by its own size on the way."""
    varies: bool = False
    """Depends on data."""

    def signal(self, given: Assignment) -> Signal:
        return given.view(self.weights[0]) if self.recipe is None else given.node(self.recipe)[self.output]

    @property
    def shape(self) -> Shape:
        return self.weights[0].shape if self.recipe is None else self.recipe.node.outputs[self.output].shape

    @property
    def views(self) -> tuple[ParameterView, ...]:
        return self.weights + self.gains


def fresh(view: ParameterView) -> Signal:
    """Independent entries of unit variance; along a broadcast axis they are the same."""
    if 0 not in view.stride:
        return iid(view.shape, 0.0, 1.0)
    K = np.zeros((2,) * len(view.shape))
    K[tuple(slice(None) if stride == 0 else 0 for stride in view.stride)] = 1.0
    return Signal(view.shape, 0.0, K)


def combined(recipe: Recipe, varies: bool, noisy: bool = False) -> list[Derived]:
    """The outputs of an op on derived operands; `noisy`: one of the others is noise around zero."""
    node, parts = recipe.node, recipe.parts
    weights: dict[ParameterView, None] = {}
    gains: dict[ParameterView, None] = {}
    scaling = set(range(len(parts))) if noisy and node.attrs.get("fn") == "mul" else _scaling(node, parts)
    for slot, part in enumerate(parts):
        if part is not None:
            (gains if slot in scaling else weights).update(dict.fromkeys(part.weights))
            gains.update(dict.fromkeys(part.gains))
    names = {view.name for view in weights}
    left = tuple(view for view in gains if view.name not in names)
    known = [p for p in parts if p is not None]
    fixed = bool(node.attrs.get("scale_free")) or any(p.fixed for p in known)
    return [
        Derived(tuple(weights), left, recipe, k, fixed, _is_normalised(node, parts), varies)
        for k in range(len(node.outputs))
    ]


def _scaling(node: Node, parts: list[Derived | None]) -> set[int]:
    """The operands whose parameters are gains here."""
    fn = node.attrs.get("fn", "")
    if fn in COMPARISONS:
        return set(range(len(parts)))
    if fn == "mul":
        return {slot for slot in (0, 1) if _is_gain(node, parts, slot)}
    return DECIDING.get(fn, set()) or {*gain_slots(node), *spec_of(node.op).mask}


def _is_gain(node: Node, parts: list[Derived | None], slot: int) -> bool:
    """Smaller than what it scales, where that is a weight too; single numbers always."""
    own, other = node.inputs[slot], node.inputs[1 - slot]
    if own is None or other is None:
        return False
    size = prod(node.outputs[0].shape)
    if prod(own.shape) == 1 < size:
        return True
    table = parts[1 - slot] is None and isinstance(other, Constant)  # fixed patterns: their coefficients are the weight
    return prod(own.shape) < size == prod(other.shape) and not table


def _is_normalised(node: Node, parts: list[Derived | None]) -> bool:
    """Whether an op takes the size of its operand away; what only moves entries, or scales them, keeps that."""
    if spec_of(node.op).degree == 0:
        return True
    if node.attrs.get("fn") in ("div", "mul") and len(parts) == 2:
        a, b = parts
        if a is not None and b is not None:
            shared = {v.name for v in a.views} & {v.name for v in b.views}
            return a.normalised or b.normalised or bool(shared)
    return any(p is not None and p.normalised for p in parts)
