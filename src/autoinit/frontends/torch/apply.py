"""Put a plan into a model: everything is drawn first, then everything is written, or nothing."""

from __future__ import annotations

import torch
from torch import nn

from ...core.plan import Plan
from ...errors import PlanError
from .centre import centred_bias
from .sample import filled


def apply(plan: Plan, model: nn.Module, seed: int) -> nn.Module:
    if plan.checked:
        raise PlanError("this plan only describes the present weights", where="Plan.apply",
                        fix="use autoinit.plan(...) instead of check(...)")  # fmt: skip
    parameters = dict(model.named_parameters())
    fresh: dict[str, torch.Tensor] = {}
    changing = list(plan.changed())
    for entry in changing:
        parameter = parameters.get(entry.name)
        if parameter is None:
            raise PlanError("the model has no parameter of that name", where="Plan.apply", received=entry.name,
                            fix="apply a plan to the model it was made for")  # fmt: skip
        if list(parameter.shape) != entry.shape:
            raise PlanError("the parameter has another shape than in the plan", where=entry.name,
                            received=f"{tuple(parameter.shape)}, planned {tuple(entry.shape)}",
                            fix="make a new plan for this model")  # fmt: skip
        if parameter.device.type == "meta":
            raise PlanError("a parameter on the meta device has no memory to write to", where=entry.name,
                            received="device meta", fix="model.to_empty(device='cpu') first, then apply the plan")  # fmt: skip
    with torch.no_grad():
        for entry in changing:
            if parameters[entry.name].requires_grad:
                fresh[entry.name] = filled(parameters[entry.name], entry, plan, seed)
        for entry in changing:
            for part in entry.parts:
                if part.kind == "centre" and entry.name in fresh:
                    centred_bias(fresh, parameters, entry, part)
        for name, values in fresh.items():
            parameters[name].copy_(values)
    return model
