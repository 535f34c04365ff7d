"""Which parameters are set, and how: the policy, and the solving of scales.

`Decisions` answers the interpreter's questions about parameters: may this one be touched, what are its moments, and
which scale makes a contraction come out at the target variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite, prod, sqrt

import numpy as np

from ..graph.graph import Graph, Parameter, ParameterView
from ..graph.roles import GAIN
from ..options import Options
from ..plan.check import outputs_of, repeats
from ..plan.weights import Block, Decision, Part, block, fan_of, overlap, whole
from ..signal.measured import from_array
from ..signal.signal import Signal, constant
from .scale import Found, find_scale
from .weights_in_the_making import Assignment, Derived, fresh

SecondMoment = Callable[[Signal], float]

NO_EFFECT = "its scale has no effect: drawn with 1/sqrt(fan)"
NORMALISED = "normalised inside forward: its scale has no effect"
ZERO_NOW = "zero now: a designer's decision (keep_zeros=False overrides)"


class Decisions:
    """The growing set of decisions of one pass over the graph."""

    def __init__(self, graph: Graph, options: Options, check: bool, provisional: dict[str, float]) -> None:
        self.graph, self.options, self.check = graph, options, check
        self.provisional = provisional
        self.index = 0
        """The node that is worked out."""
        self.notes: list[tuple[int, str, str]] = []
        """(node, kind, message)"""
        self.of: dict[str, Decision] = {name: Decision(p) for name, p in graph.parameters.items()}
        self._kept: dict[str, str | None] = {}
        self._staying = {name: self._why_staying(p) for name, p in graph.parameters.items()}
        self._measured: dict[ParameterView, Signal] = {}
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

    def follow(self, made: Decisions) -> None:
        """Decide as others did."""
        self.of, self._kept = {name: replace(d, parts=list(d.parts)) for name, d in made.of.items()}, dict(made._kept)

    def why_kept(self, name: str) -> str | None:
        """The reason why this parameter must stay as it is, or None if we may set it."""
        if name not in self._kept:
            zero = self.options.keep_zeros and self.must_stay(name) is None and self.graph.parameters[name].is_zero()
            self._kept[name] = ZERO_NOW if zero else self.must_stay(name)
        return self._kept[name]

    def must_stay(self, name: str) -> str | None:
        """Why this parameter is not ours to write, whatever its values; None if it is ours."""
        return self._staying[name]

    def _why_staying(self, parameter: Parameter) -> str | None:
        if self.check:
            return "checked as it is"
        if not parameter.trainable:
            return "frozen"
        return None if self.options.covers(parameter.name, *parameter.aliases) else "skipped by name"

    def keep(self, name: str, reason: str) -> None:
        """Leave a parameter as it is here; its first use names the reason."""
        if self.of[name].action == "unreached":
            self._tell(name, "kept", reason)

    def store(self, view: ParameterView, part: Part, action: str, reason: str) -> None:
        """Decide a region."""
        part.node = self.index
        self.of[view.name].parts.append((self.region(view), part))
        if self.of[view.name].action != action:
            self._tell(view.name, action, reason)

    def _tell(self, name: str, action: str, reason: str) -> None:
        decision = self.of[name]
        decision.action, decision.reason, decision.node = action, reason, self.index

    def note(self, kind: str, text: str) -> None:
        self.notes.append((self.index, kind, text))

    def measured(self, view: ParameterView, unknown: float) -> Signal:
        """Moments of a parameter as it is; without values (meta device) it counts as `unknown`."""
        found = self._measured.get(view)
        if found is None:
            values = self.graph.parameters[view.name].read(view)
            if values is None:
                self.assumed.add(view.name)
                self._measured[view] = constant(view.shape, unknown)
                return self._measured[view]
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
            found = (None if view.whole else block(view, shape)) or tuple((0, n) for n in shape)
            self._regions[view] = found
        return found

    def scale(self, view: ParameterView) -> float | None:
        """The scale decided for this region, if any."""
        part = self.of[view.name].covering(self.region(view))
        return None if part is None else part.std

    def solve(
        self, weight: Derived, rows: tuple[int, ...], groups: int, second_moment: SecondMoment, target: float
    ) -> Signal:
        """Scale the undecided parameters of `weight` so that ``second_moment`` equals the target.

        All parameters that are drawn get the same standard deviation: every factor its share of the gain.
        """
        weights, levels = self._apart([view for view in weight.weights if self.scale(view) is None])
        gains = [view for view in weight.gains if self.scale(view) is None] + levels
        use = _Use(self.index, weight, rows, groups, 1.0 / sqrt(fan_of(weight.shape, rows)), target)
        if not weights and not gains:
            for view in weight.views:
                self.keep(view.name, "scale decided at an earlier use")
            made = weight.signal(self.assignment({}))
            self._note_shared(weight, second_moment(made), target)
            return made
        if weights:
            found = self._search(weight, weights, "random", second_moment, use.start, target)
            if found.kind != "flat" or not gains:
                for view in gains:
                    self.keep(view.name, GAIN)
                return self._drawn(use, weights, found)
            self._leave_direction(use, weights)
        found = self._search(weight, gains, "constant", second_moment, 1.0, target)
        for view in gains:
            if found.kind == "solved":
                self.store(view, Part(view, found.scale, "constant", rows, groups), "gain", "output variance")
            else:
                self.keep(view.name, GAIN)
        return weight.signal(self.assignment({}))

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
        self, weight: Derived, views: list[ParameterView], kind: str, second_moment: SecondMoment, start: float,
        target: float,
    ) -> Found:  # fmt: skip
        if weight.recipe is None:  # the parameter itself: proportional
            reached = second_moment(fresh(weight.weights[0]))
            if not (reached > 0 and isfinite(reached)):
                return Found("zero", start)
            return Found("solved", sqrt(target / reached))

        def reached_at(t: float) -> float:
            return second_moment(weight.signal(self.assignment({v: Part(v, t, kind) for v in views})))

        return find_scale(reached_at, start, target, weight.normalised)

    def _drawn(self, use: _Use, weights: list[ParameterView], found: Found) -> Signal:
        scale, reason, name = found.scale, "output variance", weights[0].name
        if found.kind == "zero":
            for view in weights:
                self.waiting.setdefault(view, use)
            return use.weight.signal(self.assignment({v: Part(v, use.start) for v in weights}))
        if found.kind == "flat":
            reason = NO_EFFECT
            self.note("info", f"the scale of {name} has no effect here; the output gets E[y^2] = {found.low:.3g}")
        elif found.kind == "unreachable":
            reason = "no scale leads to the target: 1/sqrt(fan)"
            between = f"E[y^2] lies between {found.low:.3g} and {found.high:.3g}, not at {use.target:.3g}"
            self.note("warning", f"whatever the scale of {name}, {between}; used 1/sqrt(fan) = {scale:.3g}")
        elif not isfinite(scale) or scale > 1e18 or scale < 1e-18:
            self.note("warning", f"the scale {scale:.3g} that the signal asks for is out of range; used 1/sqrt(fan)")
            scale = use.start
        if found.kind in ("flat", "unreachable"):
            self.free.add(use.index)
        for view in weights:
            self._draw(use, view, scale, reason)
        return use.weight.signal(self.assignment({}))

    def _draw(self, use: _Use, view: ParameterView, scale: float, reason: str) -> None:
        """Have a view drawn; views that overlap otherwise than in full, or see entries twice, stand for all of it."""
        if self.scale(view) is not None:
            return  # another view of the same entries: w + w.T
        region = self.region(view)
        mine = [v for v in use.weight.weights if v.name == view.name and overlap(self.region(v), region)]
        if repeats(view.shape, view.stride) or any(self.region(v) != region for v in mine):
            view = whole(self.graph.parameters[view.name])
        part = Part(view, scale)
        if use.weight.recipe is None and view.shape == use.weight.shape:
            part = Part(view, scale, "random", use.rows, use.groups)
        self.store(view, part, "set", reason)

    def _leave_direction(self, use: _Use, weights: list[ParameterView]) -> None:
        """A weight that is normalised, beside a gain that is set: only its directions count.

        Those that it has are as good as any, unless it has none.
        """
        for view in weights:
            if use.weight.normalised and self._is_spread(view):
                self.keep(view.name, NORMALISED)
            else:
                self._draw(use, view, use.start, NO_EFFECT)

    def _is_spread(self, view: ParameterView) -> bool:
        """Whether a parameter has values, and not the same one everywhere."""
        values = self.graph.parameters[view.name].read(view)
        return values is not None and values.size > 1 and bool(np.isfinite(values).all()) and float(np.ptp(values)) > 0

    def assignment(self, given: dict[ParameterView, Part], unknown: float = 1.0) -> Assignment:
        """Parameters as given, as decided, or (gains, and what is data so far) as they are."""

        def of(view: ParameterView) -> Signal:
            part = given.get(view) or self.of[view.name].covering(self.region(view))
            part = part or next((p for v, p in given.items() if v.name == view.name), None)
            return self.as_it_is(view, unknown) if part is None else filled(view, part)

        return Assignment(of)

    def as_it_is(self, view: ParameterView, unknown: float) -> Signal:
        """A parameter that is used before it is decided: with the scale of the last pass, or its present values."""
        if view.name in self.provisional:
            return fresh(view).scaled(self.provisional[view.name])
        self.early.add(view.name)
        return self.measured(view, unknown)

    def drawn_later(self) -> set[str]:
        """What was used as data first, and is drawn as a whole now."""
        return {name for name in self.early if [part.kind for _, part in self.of[name].parts] == ["random"]}

    def settle(self) -> None:
        """Decide what waited for a signal in vain."""
        for view, use in self.waiting.items():
            if self.scale(view) is None:
                self.index = use.index
                self._draw(use, view, use.start, "no signal comes in: 1/sqrt(fan)")
                self.free.add(use.index)
                text = f"the signal into this layer is zero, so its scale is free; used 1/sqrt(fan) = {use.start:.3g}"
                self.note("warning", text)

    def _note_shared(self, weight: Derived, reached: float, target: float) -> None:
        """A parameter used again gets what the first use decided: say so, once for each."""
        names = [v.name for v in weight.views if v.name not in self._shared_noted]
        self._shared_noted.update(names)
        if names:
            text = f"shared: the scale of {names[0]} was decided at an earlier use"
            self.note("info", f"{text}; the output gets E[y^2] = {reached:.3g} instead of {target:.3g}")

    def measure_centres(self) -> None:
        """The standard deviation that centring biases get: |mu| times the root of the fan times the weight's."""
        for decision in self.of.values():
            for _, part in decision.parts:
                if part.of is not None:
                    fan = prod(part.of.shape) / max(outputs_of(part.of.shape, part.rows, part.groups), 1)
                    part.std = abs(part.value) * sqrt(fan) * (self.scale(part.of) or 0.0)

    def plain(self, view: ParameterView) -> Derived | None:
        """A view of a parameter as a weight that may be set; None if it has to stay as it is."""
        return Derived((view,)) if self.why_kept(view.name) is None else None


@dataclass(frozen=True, slots=True, eq=False)
class _Use:
    """One contraction that asks for a weight."""

    index: int
    weight: Derived
    rows: tuple[int, ...]
    groups: int
    start: float
    """1/sqrt(fan)"""
    target: float


def filled(view: ParameterView, part: Part) -> Signal:
    """The moments of a view of what a part of a parameter is filled with."""
    return constant(view.shape, part.std) if part.kind == "constant" else fresh(view).scaled(part.std)
