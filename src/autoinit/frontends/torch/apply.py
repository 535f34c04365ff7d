"""Put a plan into a model: values are drawn straight into the parameters' own memory, or into that of their shards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from ...core.drawing import Draw
from ...core.plan.plan import ParameterPlan, PlanData
from ...errors import PlanError
from ..base_apply import Application, Step, Write
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
    drawn = [write.parameter for write in TensorApplication(plan, seed, model).run()]
    mark_for_transformers(model, drawn)
    tensors = tensors_of(model) if plan.fills else {}
    mark_written(model, [*drawn, *(tensors[name] for name in plan.fills)])
    return model


@dataclass(frozen=True)
class TensorWrite(Write[nn.Parameter]):
    """What is done to one parameter: to that part of it which lies in this process."""

    local: Local
    values: Draw


class TensorApplication(Application[nn.Parameter, TensorWrite]):
    def __init__(self, plan: PlanData, seed: int, model: nn.Module) -> None:
        super().__init__(plan, seed, dict(Names(model).all_parameters()))
        self.model = model
        self.drawn: dict[str, Draw] = {}

    def shape(self, parameter: nn.Parameter) -> torch.Size | None:
        return None if nn.parameter.is_lazy(parameter) else parameter.shape

    def is_frozen(self, parameter: nn.Parameter) -> bool:
        return not parameter.requires_grad

    def there(self, entry: ParameterPlan, parameter: nn.Parameter | None) -> nn.Parameter:
        found = super().there(entry, parameter)
        if found.device.type == "meta":
            raise PlanError("a parameter on the meta device has no memory to write to", where=entry.name,
                            received="device meta",
                            fix="model.to_empty(device='cpu') first, then apply the plan")  # fmt: skip
        if found.layout is not torch.strided:
            raise PlanError("a sparse parameter cannot be written entry by entry", where=entry.name,
                            received=str(found.layout), fix="p.to_dense(), or skip it")  # fmt: skip
        return found

    def refuse(self, entry: ParameterPlan, parameter: nn.Parameter) -> None:
        super().refuse(entry, parameter)
        kinds = {part.drawn_as(self.plan.distribution) for part in entry.parts}
        if not can_be_drawn(parameter.dtype):
            raise PlanError("weights of this type cannot be drawn", where=entry.name, received=str(parameter.dtype),
                            fix="initialize in a floating or complex type and convert afterwards, or "
                            "skip it")  # fmt: skip
        if kinds & {"orthogonal", "centre"} and overlapping(parameter):
            what = "be orthogonal" if "orthogonal" in kinds else "cancel a mean for each output"
            raise PlanError(f"entries that share their memory cannot {what}", where=entry.name,
                            received=f"shape {tuple(parameter.shape)}, stride {parameter.stride()}",
                            fix="another option, or a parameter of its own memory (p.contiguous())")  # fmt: skip
        if parameter.is_inference() and not torch.is_inference_mode_enabled():
            raise PlanError("a parameter that was made in inference mode cannot be written", where=entry.name,
                            received="an inference tensor",
                            fix="build the model outside of torch.inference_mode")  # fmt: skip

    def write_of(self, entry: ParameterPlan, parameter: nn.Parameter) -> TensorWrite:
        values = Draw(entry, self.plan.distribution, self.seed, self.plan.exact, pairs=parameter.is_complex())
        self.drawn[entry.name] = values
        return TensorWrite(entry, parameter, local_of(entry.name, parameter), values)

    def held(self, write: TensorWrite) -> Callable[[], None]:
        return _kept(write.local)

    def draw(self, write: TensorWrite) -> None:
        fill(write.local.tensor, write.values, write.local.low)

    def centre(self, write: TensorWrite) -> None:
        for part in write.centring:
            write_centred(write.entry, part, write.local, self.parameters[part.of], self.drawn.get(part.of))

    def first(self, writes: list[TensorWrite]) -> list[Step]:
        """Tensors that had no memory when they were planned get what their constructors write."""
        found = fillings(self.plan, self.model, self.seed)
        return [Step(name, write, _kept(local)) for name, local, write in found]

    def last(self) -> list[Step]:
        return prepared(self.plan, self.model)


def _kept(local: Local) -> Callable[[], None]:
    return partial(put_back, local.tensor, held(local.tensor))
