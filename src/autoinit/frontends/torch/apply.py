"""Put a plan into a model: all of it, or nothing.

What can be found out beforehand is: names, shapes, devices, dtypes, fillings. Then the old values are copied, and only
then the new ones are drawn, straight into the parameters' own memory; whatever goes wrong from there on is undone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from ...core.drawing import Draw
from ...core.plan.plan import ParameterPlan, PlanData
from ...errors import PlanError
from ..transaction import Transaction
from .centre import write_centred
from .centring import prepared
from .filling import can_be_drawn, fill
from .materialise import fillings
from .memory import held, overlapping, put_back
from .names import Names, tensors_of
from .remembering.built import mark_written
from .shards import Local, local_of
from .transformers_marks import mark_for_transformers


def apply(plan: PlanData, model: nn.Module, seed: int) -> nn.Module:
    parameters = dict(Names(model).all_parameters())
    for entry in plan.changed():
        for parameter in _under(entry, parameters):
            _fits(entry, parameter, plan)
        for part in entry.parts:
            if part.kind == "centre":
                _is_there(plan[part.of], parameters.get(part.of))
    todo = [
        Write(entry, parameter, local_of(entry.name, parameter), _draw(plan, entry, parameter, seed))
        for entry in plan.changed()
        for parameter in _under(entry, parameters)
        if parameter.requires_grad
    ]
    filling = fillings(plan, model, seed)
    centring = prepared(plan, model)
    old = [held(local.tensor) for _, local, _ in filling]
    before = [held(write.local.tensor) for write in todo]
    drawn = {write.entry.name: write.draw for write in todo}
    with Transaction() as writes:
        for (name, local, write_it), values in zip(filling, old, strict=True):
            writes.undo(name, partial(put_back, local.tensor, values))
            write_it()
            writes.breathe()
        for write, values in zip(todo, before, strict=True):
            writes.undo(write.entry.name, partial(put_back, write.local.tensor, values))
            fill(write.local.tensor, write.draw, write.local.low)
            writes.breathe()
        for write in todo:
            for part in write.entry.parts:
                if part.kind == "centre":
                    write_centred(write.entry, part, write.local, parameters[part.of], drawn.get(part.of))
                    writes.breathe()
        for centre in centring:
            centre(writes)
    mark_for_transformers(model, [write.parameter for write in todo])
    tensors = tensors_of(model) if filling else {}
    mark_written(model, [*(write.parameter for write in todo), *(tensors[name] for name, _, _ in filling)])
    return model


@dataclass(frozen=True)
class Write:
    """What is done to one parameter."""

    entry: ParameterPlan
    parameter: nn.Parameter
    local: Local
    draw: Draw


def _under(entry: ParameterPlan, parameters: dict[str, nn.Parameter]) -> list[nn.Parameter]:
    """The parameter; several, if it had several names when it was planned and the model has it no longer tied."""
    found = {id(p): p for p in map(parameters.get, (entry.name, *entry.aliases)) if p is not None}
    if not found:
        _is_there(entry, None)
    return list(found.values())


def _draw(plan: PlanData, entry: ParameterPlan, parameter: torch.Tensor, seed: int) -> Draw:
    return Draw(entry, plan.distribution, seed, plan.exact, pairs=parameter.is_complex())


def _fits(entry: ParameterPlan, parameter: torch.Tensor | None, plan: PlanData) -> None:
    """Raise if the parameter is not the planned one, or cannot hold what is planned for it."""
    parameter = _is_there(entry, parameter)
    kinds = {part.drawn_as(plan.distribution) for part in entry.parts}
    if not can_be_drawn(parameter.dtype):
        raise PlanError("weights of this type cannot be drawn", where=entry.name, received=str(parameter.dtype),
                        fix="initialize in a floating or complex type and convert afterwards, or skip it")  # fmt: skip
    if kinds & {"orthogonal", "centre"} and overlapping(parameter):
        what = "be orthogonal" if "orthogonal" in kinds else "cancel a mean for each output"
        raise PlanError(f"entries that share their memory cannot {what}", where=entry.name,
                        received=f"shape {tuple(parameter.shape)}, stride {parameter.stride()}",
                        fix="another option, or a parameter of its own memory (p.contiguous())")  # fmt: skip
    if parameter.is_inference() and not torch.is_inference_mode_enabled():
        raise PlanError("a parameter that was made in inference mode cannot be written", where=entry.name,
                        received="an inference tensor",
                        fix="build the model outside of torch.inference_mode")  # fmt: skip


def _is_there(entry: ParameterPlan, parameter: torch.Tensor | None) -> torch.Tensor:
    if parameter is None:
        raise PlanError("the model has no parameter of that name", where="Plan.apply", received=entry.name,
                        fix="apply a plan to the model it was made for")  # fmt: skip
    shape = None if nn.parameter.is_lazy(parameter) else list(parameter.shape)
    if shape != list(entry.shape):
        found = "no shape yet (lazy)" if shape is None else str(tuple(shape))
        raise PlanError("the parameter has another shape than in the plan", where=entry.name,
                        received=f"{found}, planned {tuple(entry.shape)}",
                        fix="make a new plan for this model")  # fmt: skip
    if parameter.device.type == "meta":
        raise PlanError("a parameter on the meta device has no memory to write to", where=entry.name,
                        received="device meta",
                        fix="model.to_empty(device='cpu') first, then apply the plan")  # fmt: skip
    if parameter.layout is not torch.strided:
        raise PlanError("a sparse parameter cannot be written entry by entry", where=entry.name,
                        received=str(parameter.layout), fix="p.to_dense(), or skip it")  # fmt: skip
    return parameter
