"""Scaling the weights of a model while it runs: each when its output is made, which then goes on at its new size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten

from ...core.drawing.regions import places_in
from ...core.plan.calibration import Goal, Place
from ...core.plan.measured import Key
from ...core.plan.plan import PlanData
from ..base_scaling import BaseScaler
from .measure import moments
from .names import Names
from .origins import storage_of


class Scaler(BaseScaler):
    """Observes a run (`measure.record`): rescales weight and output together until the output meets its goal.

    An op that sees its parameter runs again. Where it sees what was computed of it, parameter and output are multiplied
    alike, and `unsettled` says that another run has to look whether they follow each other.
    """

    def __init__(
        self, model: nn.Module, plan: PlanData, goals: Mapping[Key, Goal], tolerance: float, iterations: int
    ) -> None:
        self.parameters = dict(Names(model).all_parameters())
        trained = {name for name, p in self.parameters.items() if p.requires_grad}
        super().__init__(plan, goals, trained, tolerance)
        self.iterations = iterations

    def __call__(self, key: Key, func: Callable[..., Any], args: Any, kwargs: Any, out: Tensor) -> None:
        goal = self.goals.get(key)
        if goal is None:
            return
        mine = {storage_of(self.parameters[name]) for name in goal.names}
        seen = {storage_of(t) for t in tree_flatten((args, kwargs))[0] if _is_strided(t)}
        for _ in range(self.iterations):
            factor = self.rescale(goal, moments(out)[1])
            if factor == 1.0:
                return
            if mine <= seen:
                out.copy_(func(*args, **kwargs))
            else:
                out.mul_(factor ** len(goal.parts))
                self.unsettled = True
        self.variances[goal.names[0]] = moments(out)[1]

    def scale(self, place: Place, factor: float) -> None:
        """Multiply the entries of a part, wherever they lie."""
        region, tensor = self.region(place), self.parameters[place[0]].detach()
        box = region.box()
        if box is not None:
            tensor[tuple(slice(a, b) for a, b in box)].mul_(factor)
            return
        chosen = region.holds(places_in(region.whole, [0] * len(region.whole), region.whole))
        tensor.mul_(torch.from_numpy(chosen).to(tensor.device).to(tensor.dtype) * (factor - 1.0) + 1.0)


def _is_strided(item: Any) -> bool:
    return isinstance(item, Tensor) and item.layout is torch.strided
