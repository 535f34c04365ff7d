"""Scaling the weights of a model while it runs: each when its output is made, which then goes on at its new size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten

from ...core.drawing.regions import Region, places_in
from ...core.plan.calibration import Goal, Place
from ...core.plan.measured import Key
from ...core.plan.plan import PlanData
from .measure import moments
from .names import Names
from .origins import storage_of


class Scaler:
    """Observes a run (`measure.record`): rescales weight and output together until the output meets its goal.

    An op that sees its parameter runs again. Where it sees what was computed of it, parameter and output are multiplied
    alike, and `unsettled` says that another run has to look whether they follow each other.
    """

    def __init__(
        self, model: nn.Module, plan: PlanData, goals: Mapping[Key, Goal], tolerance: float, iterations: int
    ) -> None:
        self.plan, self.tolerance, self.iterations = plan, tolerance, iterations
        self.parameters = dict(Names(model).all_parameters())
        self.goals = {
            key: goal for key, goal in goals.items() if all(self.parameters[n].requires_grad for n in goal.names)
        }
        self.variances: dict[str, float] = {}
        """What the outputs came to, by the first parameter that decides them."""
        self.failed: list[str] = []
        self.factors: dict[Place, float] = {}
        self.begin()

    def begin(self) -> None:
        """Another run begins."""
        self.unsettled = False
        self.failed.clear()

    def __call__(self, key: Key, func: Callable[..., Any], args: Any, kwargs: Any, out: Tensor) -> None:
        goal = self.goals.get(key)
        if goal is None:
            return
        mine = {storage_of(self.parameters[name]) for name in goal.names}
        seen = {storage_of(t) for t in tree_flatten((args, kwargs))[0] if _is_strided(t)}
        variance = moments(out)[1]
        for _ in range(self.iterations):
            factor = goal.factor(variance)
            if factor is None:
                self.failed.append(goal.names[0])
                return
            if goal.met(variance, self.tolerance):
                break
            self._multiply(goal, factor)
            if mine <= seen:
                out.copy_(func(*args, **kwargs))
            else:
                out.mul_(factor ** len(goal.parts))
                self.unsettled = True
            variance = moments(out)[1]
        self.variances[goal.names[0]] = variance

    def _multiply(self, goal: Goal, factor: float) -> None:
        for place in goal.parts:
            self.factors[place] = self.factors.get(place, 1.0) * factor
            self._scale(place, factor)
        for place in goal.biases:
            self._scale(place, factor)

    def _scale(self, place: Place, factor: float) -> None:
        """Multiply the entries of a part, wherever they lie."""
        entry, tensor = self.plan.parameter(place[0]), self.parameters[place[0]].detach()
        part = entry.parts[place[1]]
        region = Region.of(entry.shape, part.shape, part.stride, part.offset)
        box = region.box()
        if box is not None:
            tensor[tuple(slice(a, b) for a, b in box)].mul_(factor)
            return
        chosen = region.holds(places_in(region.whole, [0] * len(region.whole), region.whole))
        tensor.mul_(torch.from_numpy(chosen).to(tensor.device).to(tensor.dtype) * (factor - 1.0) + 1.0)


def _is_strided(item: Any) -> bool:
    return isinstance(item, Tensor) and item.layout is torch.strided
