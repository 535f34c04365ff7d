"""Put a plan into a model: all of it, or nothing.

Everything that can go wrong is found out before the first write: names, shapes, devices, fillings. What needs work
that may fail (an orthogonal matrix) is drawn aside first. The rest is drawn straight into the parameters' own memory,
so that a large model needs no second copy of itself.
"""

from __future__ import annotations

import torch
from torch import nn

from ...core.drawing import check_part
from ...core.plan import ParameterPlan, Plan
from ...errors import PlanError
from .centre import centred_bias
from .centring import prepared
from .sample import fill, filled


def apply(plan: Plan, model: nn.Module, seed: int) -> nn.Module:
    if plan.checked:
        raise PlanError("this plan only describes the present weights", where="Plan.apply",
                        fix="use autoinit.plan(...) instead of check(...)")  # fmt: skip
    parameters = dict(model.named_parameters())
    for entry in plan.changed():
        _fits(entry, parameters.get(entry.name), plan)
    changing = [entry for entry in plan.changed() if parameters[entry.name].requires_grad]
    centring = prepared(plan, model)
    with torch.no_grad():
        aside = {e.name: filled(parameters[e.name], e, plan, seed) for e in changing if _needs_work(e, plan)}
        for entry in changing:
            if entry.name in aside:
                parameters[entry.name].copy_(aside[entry.name])
            else:
                fill(parameters[entry.name].detach(), entry, plan, seed)
        for entry in changing:
            for part in entry.parts:
                if part.kind == "centre":
                    centred_bias(parameters, entry, part)
        for centre in centring:
            centre()
    return model


def _needs_work(entry: ParameterPlan, plan: Plan) -> bool:
    kinds = {plan.distribution if part.kind == "random" else part.kind for part in entry.parts}
    return "orthogonal" in kinds


def _fits(entry: ParameterPlan, parameter: torch.Tensor | None, plan: Plan) -> None:
    if parameter is None:
        raise PlanError("the model has no parameter of that name", where="Plan.apply", received=entry.name,
                        fix="apply a plan to the model it was made for")  # fmt: skip
    if list(parameter.shape) != entry.shape:
        raise PlanError("the parameter has another shape than in the plan", where=entry.name,
                        received=f"{tuple(parameter.shape)}, planned {tuple(entry.shape)}",
                        fix="make a new plan for this model")  # fmt: skip
    if parameter.device.type == "meta":
        raise PlanError("a parameter on the meta device has no memory to write to", where=entry.name,
                        received="device meta",
                        fix="model.to_empty(device='cpu') first, then apply the plan")  # fmt: skip
    for part in entry.parts:
        check_part(entry, part, plan.distribution)
