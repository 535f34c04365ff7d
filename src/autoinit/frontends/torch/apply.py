"""Put a plan into a model: all of it, or nothing.

Everything that can go wrong is found out before the first write: names, shapes, devices, fillings. What needs work
that may fail (an orthogonal matrix) is drawn aside first. The rest is drawn straight into the parameters' own memory,
so that a large model needs no second copy of itself.
"""

from __future__ import annotations

from math import isfinite

import torch
from torch import nn

from ...core.plan import ParameterPlan, PartPlan, Plan
from ...errors import PlanError
from .centre import centred_bias
from .sample import KINDS, fill, filled


def apply(plan: Plan, model: nn.Module, seed: int) -> nn.Module:
    if plan.checked:
        raise PlanError("this plan only describes the present weights", where="Plan.apply",
                        fix="use autoinit.plan(...) instead of check(...)")  # fmt: skip
    parameters = dict(model.named_parameters())
    for entry in plan.changed():
        _fits(entry, parameters.get(entry.name), plan)
    changing = [entry for entry in plan.changed() if parameters[entry.name].requires_grad]
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
        _part_fits(entry, part, parameter, plan)


def _part_fits(entry: ParameterPlan, part: PartPlan, parameter: torch.Tensor, plan: Plan) -> None:
    kind = plan.distribution if part.kind == "random" else part.kind
    if kind not in KINDS:
        raise PlanError(f"unknown kind of filling '{kind}'", where=entry.name, received=kind,
                        fix=f"one of {', '.join(KINDS)}")  # fmt: skip
    if not isfinite(part.std) or (part.std < 0 and kind != "constant"):
        raise PlanError("a standard deviation is finite and not negative", where=entry.name, received=part.std,
                        fix="make the plan again")  # fmt: skip
    last = part.offset + sum((n - 1) * s for n, s in zip(part.shape, part.stride, strict=True))
    if min([part.offset, *part.stride]) < 0 or last >= parameter.numel():
        raise PlanError("a part lies outside of its parameter", where=entry.name, received=part.shape,
                        fix="make the plan again")  # fmt: skip
