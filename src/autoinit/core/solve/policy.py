"""Which parameters are set, and how: the policy, and the solving of scales.

`Decisions` answers the interpreter's questions about parameters: may this one be touched, what are its moments, and
which scale makes a contraction come out at the target variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from ..graph.graph import Graph, Node, Parameter, ParameterView, Shape
from ..graph.roles import GAIN
from ..options import Options
from ..plan.weights import Block, Decision, Part, block, fan_of, is_repeated, overlap, whole
from ..signal.measured import from_array
from ..signal.signal import Signal, constant
from .scale import Found, find_scale
from .weights_in_the_making import Assignment, Derived, fresh

Note = Callable[[Node, str, str], None]

NO_EFFECT = "its scale has no effect: drawn with 1/sqrt(fan)"
ZERO_NOW = "zero now: a designer's decision (keep_zeros=False overrides)"


class Decisions:
    """The growing set of decisions of one pass over the graph."""

    def __init__(self, graph: Graph, options: Options, check: bool, provisional: dict[str, float]) -> None:
        self.graph, self.options, self.check = graph, options, check
        self.provisional = provisional
        self.of: dict[str, Decision] = {name: Decision(p) for name, p in graph.parameters.items()}
        self._kept: dict[str, str | None] = {}
        self._measured: dict[ParameterView, Signal] = {}
        self._plain: dict[ParameterView, Derived] = {}
        self._regions: dict[ParameterView, Block] = {}
        self.assumed: set[str] = set()
        self.free: set[int] = set()
        """Nodes whose weight no signal reaches, so that there was nothing to solve for."""
        self.waiting: dict[ParameterView, _Use] = {}
        """What met no signal so far; a later use decides it."""
        self.early: set[str] = set()
        """What was used as data before it was decided."""
        self.damaged: dict[str, int] = {}
        self._shared_noted: set[str] = set()

    def why_kept(self, name: str) -> str | None:
        """The reason why this parameter must stay as it is, or None if we may set it."""
        if name not in self._kept:
            self._kept[name] = self._reason_to_keep(self.graph.parameters[name])
        return self._kept[name]

    def must_stay(self, name: str) -> str | None:
        """Why this parameter is not ours to write, whatever its values; None if it is ours."""
        parameter = self.graph.parameters[name]
        if self.check:
            return "checked as it is"
        if not parameter.trainable:
            return "frozen"
        if not self.options.covers(parameter.name, *parameter.aliases):
            return "skipped by name"
        return None

    def _reason_to_keep(self, parameter: Parameter) -> str | None:
        outside = self.must_stay(parameter.name)
        if outside is None and self.options.keep_zeros and parameter.is_zero():
            return ZERO_NOW
        return outside

    def touch(self, name: str, node: int, action: str, reason: str) -> None:
        """Record a use; the first one names the reason."""
        decision = self.of[name]
        decision.uses.append(node)
        if decision.action == "unreached":
            decision.action, decision.reason, decision.node = action, reason, node

    def measured(self, view: ParameterView, role: str) -> Signal:
        """Moments of a parameter as it is. Without values (meta device) a gain counts as 1, anything else as 0."""
        found = self._measured.get(view)
        if found is None:
            values = self.graph.parameters[view.name].read(view)
            if values is None:
                self.assumed.add(view.name)
                found = constant(view.shape, 1.0 if role == "gain" else 0.0)
            else:
                bad = values.size - int(np.count_nonzero(np.isfinite(values)))
                if bad:
                    self.damaged[view.name] = max(bad, self.damaged.get(view.name, 0))
                    values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
                found = from_array(values)
                if found.shape != view.shape:  # a part of the rows of a very large one
                    found = Signal(view.shape, found.mean, found.K)
            self._measured[view] = found
        return found

    def region(self, view: ParameterView) -> Block:
        found = self._regions.get(view)
        if found is None:
            shape = self.graph.parameters[view.name].shape
            found = self._regions[view] = (None if view.whole else block(view, shape)) or tuple((0, n) for n in shape)
        return found

    def scale(self, view: ParameterView) -> float | None:
        """The scale decided for this region, if any."""
        part = self.of[view.name].covering(self.region(view))
        return None if part is None else part.std

    def solve(
        self, node: Node, index: int, weight: Derived, rows: tuple[int, ...], groups: int,
        second_moment: Callable[[Signal], float], note: Note, target: float,
    ) -> Signal:  # fmt: skip
        """Scale the undecided parameters of `weight` so that ``second_moment`` equals the target.

        All parameters that are drawn get the same standard deviation: every factor its share of the gain.
        """
        weights = [view for view in weight.weights if self.scale(view) is None]
        gains = [view for view in weight.gains if self.scale(view) is None]
        weights, levels = self._apart(weights)
        gains += levels
        start = 1.0 / sqrt(fan_of(shape_seen(weight), rows))
        if not weights and not gains:
            for view in weight.views:
                self.touch(view.name, index, "kept", "scale decided at an earlier use")
            made = self.evaluated(weight)
            self._note_shared(node, weight, second_moment(made), target, note)
            return made
        use = _Use(node, index, weight, rows, groups, start, target, note)
        if weights:
            found = self._search(weight, weights, "random", second_moment, start, target)
            if found.kind == "flat" and gains:
                self._leave_direction(use, weights)
                weights = []
            else:
                for view in gains:
                    self.touch(view.name, index, "kept", GAIN)
                return self._drawn(use, weights, found)
        found = self._search(weight, gains, "constant", second_moment, 1.0, target)
        if found.kind == "solved":
            for view in gains:
                self._store(view, Part(view, found.scale, "constant", rows, groups), index, "gain", "output variance")
        else:
            for view in gains:
                self.touch(view.name, index, "kept", GAIN)
        return self.evaluated(weight)

    def _apart(self, weights: list[ParameterView]) -> tuple[list[ParameterView], list[ParameterView]]:
        """Factors and terms that start at one value everywhere, beside others that do not: these are meant so.

        Posterior widths, noise levels, gates. If all do, all are drawn.
        """
        if len({view.name for view in weights}) < 2:
            return weights, []
        levels = [view for view in weights if self._is_level(view)]
        return (weights, []) if len(levels) == len(weights) else ([v for v in weights if v not in levels], levels)

    def _is_level(self, view: ParameterView) -> bool:
        values = self.graph.parameters[view.name].read(view)
        return values is not None and values.size > 0 and float(np.ptp(values)) == 0.0 and values.flat[0] != 0.0

    def _search(
        self, weight: Derived, views: list[ParameterView], kind: str, second_moment: Callable[[Signal], float],
        start: float, target: float,
    ) -> Found:  # fmt: skip
        if weight.plain is not None:  # the parameter itself: proportional
            reached = second_moment(weight.plain)
            if not (reached > 0 and isfinite(reached)):
                return Found("zero", start)
            return Found("solved", sqrt(target / reached))
        free = set(views)

        def reached_at(t: float) -> float:
            return second_moment(weight.signal(self.assignment({v: Part(v, t, kind) for v in free})))

        return find_scale(reached_at, start, target, weight.normalised)

    def _drawn(self, use: _Use, weights: list[ParameterView], found: Found) -> Signal:
        scale, reason = found.scale, "output variance"
        if found.kind == "flat":
            reason = NO_EFFECT
            use.note(use.node, "info", f"the scale of {weights[0].name} has no effect here; the output gets E[y^2] = "
                     f"{found.low:.3g}")  # fmt: skip
        elif found.kind == "unreachable":
            reason = "no scale leads to the target: 1/sqrt(fan)"
            use.note(
                use.node, "warning",
                f"whatever the scale of {weights[0].name}, E[y^2] lies between {found.low:.3g} and {found.high:.3g}, "
                f"not at {use.target:.3g}; used 1/sqrt(fan) = {scale:.3g}",
            )  # fmt: skip
        elif found.kind == "zero":
            for view in weights:
                self.waiting.setdefault(view, use)
            return use.weight.signal(self.assignment({v: Part(v, use.start) for v in weights}))
        elif not isfinite(scale) or scale > 1e18 or scale < 1e-18:
            use.note(use.node, "warning", f"the scale {scale:.3g} that the signal asks for is out of range; used "
                     "1/sqrt(fan)")  # fmt: skip
            scale = use.start
        if found.kind in ("flat", "unreachable"):
            self.free.add(use.index)
        for view in weights:
            self._draw(use, view, scale, reason)
        return self.evaluated(use.weight)

    def _draw(self, use: _Use, view: ParameterView, scale: float, reason: str) -> None:
        """Have a view drawn; views that overlap otherwise than in full, or see entries twice, stand for all of it."""
        if self.scale(view) is not None:
            return  # another view of the same entries: w + w.T
        plain = use.weight.plain is not None
        region = self.region(view)
        mine = [v for v in use.weight.weights if v.name == view.name and overlap(self.region(v), region)]
        if is_repeated(view) or any(self.region(v) != region for v in mine):
            view = whole(self.graph.parameters[view.name])
        part = Part(view, scale, "random", use.rows, use.groups) if plain else Part(view, scale)
        if part.view.shape != use.weight.weights[0].shape and plain:
            part = Part(view, scale)
        self._store(view, part, use.index, "set", reason)

    def _leave_direction(self, use: _Use, weights: list[ParameterView]) -> None:
        """A weight that is normalised, beside a gain that is set: only its directions count.

        Those that it has are as good as any, unless it has none.
        """
        for view in weights:
            if use.weight.normalised and self._is_spread(view):
                self.touch(view.name, use.index, "kept", "normalised inside forward: its scale has no effect")
            else:
                self._draw(use, view, use.start, NO_EFFECT)

    def _is_spread(self, view: ParameterView) -> bool:
        """Whether a parameter has values, and not the same one everywhere."""
        values = self.graph.parameters[view.name].read(view)
        return values is not None and values.size > 1 and bool(np.isfinite(values).all()) and float(np.ptp(values)) > 0

    def assignment(self, given: dict[ParameterView, Part], role: str = "gain") -> Assignment:
        """Parameters as given, as decided, or (gains, and what is data so far) as they are."""

        def of(view: ParameterView) -> Signal:
            part = given.get(view) or self.of[view.name].covering(self.region(view))
            if part is None and any(v.name == view.name for v in given):
                part = next(p for v, p in given.items() if v.name == view.name)
            if part is None:
                return self.as_it_is(view, role)
            return constant(view.shape, part.std) if part.kind == "constant" else fresh(view).scaled(part.std)

        return Assignment(of)

    def evaluated(self, weight: Derived) -> Signal:
        """The moments of a weight with all that is decided."""
        if weight.plain is not None:
            part = self.of[weight.weights[0].name].covering(self.region(weight.weights[0]))
            if part is not None and part.kind != "constant":
                return weight.plain.scaled(part.std)
        return weight.signal(self.assignment({}))

    def as_it_is(self, view: ParameterView, role: str) -> Signal:
        """A parameter that is used before it is decided: with the scale of the last pass, or its present values."""
        if view.name in self.provisional:
            return fresh(view).scaled(self.provisional[view.name])
        self.early.add(view.name)
        return self.measured(view, role)

    def drawn_later(self) -> set[str]:
        """What was used as data first, and is drawn as a whole now."""
        return {
            name
            for name in self.early
            if len(self.of[name].parts) == 1 and self.of[name].parts[0][1].kind == "random"
        }  # fmt: skip

    def settle(self, note: Callable[[int, str, str], None]) -> None:
        """Decide what waited for a signal in vain."""
        for view, use in self.waiting.items():
            if self.scale(view) is None:
                self._draw(use, view, use.start, "no signal comes in: 1/sqrt(fan)")
                self.free.add(use.index)
                text = f"the signal into this layer is zero, so its scale is free; used 1/sqrt(fan) = {use.start:.3g}"
                note(use.index, "warning", text)

    def _note_shared(self, node: Node, weight: Derived, reached: float, target: float, note: Note) -> None:
        """A parameter used again gets what the first use decided: say so, once for each."""
        names = [v.name for v in weight.views if v.name not in self._shared_noted]
        if not names:
            return
        self._shared_noted.update(names)
        text = f"shared: the scale of {names[0]} was decided at an earlier use"
        note(node, "info", f"{text}; the output gets E[y^2] = {reached:.3g} instead of {target:.3g}")

    def _store(self, view: ParameterView, part: Part, index: int, action: str, reason: str) -> None:
        decision = self.of[view.name]
        decision.parts.append((self.region(view), part))
        decision.uses.append(index)
        if decision.action != action:
            decision.action, decision.reason, decision.node = action, reason, index

    def place(self, view: ParameterView, part: Part, index: int, action: str, reason: str) -> None:
        """Decide a region outright (biases, recurrent kernels, tied tables)."""
        self._store(view, part, index, action, reason)

    def measure_centres(self) -> None:
        """The standard deviation that centring biases get: |mu| times the root of the fan times the weight's."""
        for decision in self.of.values():
            for _, part in decision.parts:
                if part.of is not None:
                    fan = fan_of(part.of.shape, part.rows) / (part.groups if 0 not in part.rows else 1)
                    part.std = abs(part.value) * sqrt(fan) * (self.scale(part.of) or 0.0)

    def plain(self, view: ParameterView) -> Derived | None:
        """A view of a parameter as a weight that may be set; None if it has to stay as it is."""
        if self.why_kept(view.name) is not None:
            return None
        if view not in self._plain:
            self._plain[view] = Derived((view,), plain=fresh(view))
        return self._plain[view]


@dataclass(frozen=True, slots=True, eq=False)
class _Use:
    """One contraction that asks for a weight."""

    node: Node
    index: int
    weight: Derived
    rows: tuple[int, ...]
    groups: int
    start: float
    """1/sqrt(fan)"""
    target: float
    note: Note


def shape_seen(weight: Derived) -> Shape:
    """The shape of the weight as the contraction sees it."""
    if weight.plain is not None:
        return weight.weights[0].shape
    assert weight.recipe is not None
    return weight.recipe.node.outputs[weight.output].shape
