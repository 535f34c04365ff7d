"""Which parameters are set, and how: the policy, and the solving of scales.

`Decisions` answers the interpreter's questions about parameters: may this one be touched, what are its moments, and
which scale makes a contraction come out at the target variance.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, sqrt

import numpy as np

from .graph import Graph, Node, Parameter, ParameterView
from .options import Options
from .signal import Signal, constant
from .unknown import measured
from .weights import Decision, Derived, Part, block, fan_of, fresh

Note = Callable[[Node, str, str], None]

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
        self.assumed: set[str] = set()
        self.free: set[int] = set()
        """Nodes whose weight no signal reaches, so that there was nothing to solve for."""
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
                found = measured(values)
                if found.shape != view.shape:  # a part of the rows of a very large one
                    found = Signal(view.shape, found.mean, found.K)
            self._measured[view] = found
        return found

    def region(self, view: ParameterView) -> tuple[tuple[int, int], ...]:
        shape = self.graph.parameters[view.name].shape
        return block(view, shape) or tuple((0, n) for n in shape)

    def scale(self, view: ParameterView) -> float | None:
        """The scale decided for this region, if any."""
        part = self.of[view.name].covering(self.region(view))
        return None if part is None else part.std

    def solve(
        self, node: Node, index: int, weight: Derived, rows: tuple[int, ...], groups: int,
        second_moment: Callable[[Signal], float], note: Note, target: float,
    ) -> Signal:  # fmt: skip
        """Scale `weight` so that ``second_moment`` equals the target: choose its undecided parameter."""
        factor, undecided = 1.0, []
        for view, degree in weight.degrees.items():
            known = self.scale(view)
            if known is not None:
                factor *= known**degree
            elif self.why_kept(view.name) is None:
                undecided.append((view, degree))
        unit = weight.unit.scaled(factor)
        if not undecided:
            for view in weight.degrees:
                self.touch(view.name, index, "kept", "scale decided at an earlier use")
            self._note_shared(node, weight, second_moment(unit), target, note)
            return unit
        view, degree = max(undecided, key=lambda item: (item[0].name not in weight.gains, len(item[0].shape)))
        reached = second_moment(unit)
        fallback = 1.0 / sqrt(fan_of(view.shape, rows))
        if reached > 0 and isfinite(reached):
            scale = float((target / reached) ** (0.5 / degree))
        else:
            scale = fallback
            note(
                node,
                "warning",
                f"the signal into this layer is zero, so its scale is free; used 1/sqrt(fan) = {scale:.3g}",
            )
        if not isfinite(scale) or scale > 1e18 or scale < 1e-18:
            note(node, "warning", f"the scale {scale:.3g} that the signal asks for is out of range; used 1/sqrt(fan)")
            scale = fallback
        kind = "constant" if view.name in weight.gains else "random"
        part = Part(view, scale, kind, rows, groups)
        free = scale == fallback and not reached > 0
        reason = "no signal comes in: 1/sqrt(fan)" if free else "output variance"
        self._store(view, part, index, "set" if kind == "random" else "gain", reason)
        if free:
            self.free.add(index)
        return unit.scaled(scale**degree)

    def _note_shared(self, node: Node, weight: Derived, reached: float, target: float, note: Note) -> None:
        """A parameter used again gets what the first use decided: say so, once for each."""
        names = [v.name for v in weight.degrees if v.name not in self._shared_noted]
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
        if view not in self._plain:  # one signal per view, so that w - mean(w) knows its own
            self._plain[view] = Derived(fresh(view), {view: 1.0}, lambda: self.measured(view, "weight"))
        return self._plain[view]
