"""Calibrating a plan: the weights are drawn into memory of their own, and scaled there in a forward of noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from ...core.plan.calibration import TOLERANCE, Place, goals
from ...core.plan.plan import PlanData
from ...core.signal.columns import noise_like
from ...core.signal.samples import complex_sample
from ...errors import ModelError
from .apply import TensorApplication
from .inputs import call_arguments, signal_of
from .measure import record
from .names import parameters_of, tensors_of, unwrapped
from .origins import storage_of
from .scaling import Scaler
from .shadow import Shadow
from .shards import refuse_shards
from .structures import mapped

ITERATIONS = 8
"""So often one op runs again, at most: twice, unless its output has a part that does not follow the weight."""


def calibration(plan: PlanData, model: nn.Module, inputs: Any, seed: int) -> tuple[dict[Place, float], list[str]]:
    """The factors that put the draw of `seed` on target, and the parameters for which there is none."""
    model = unwrapped(model)
    refuse_shards(parameters_of(model))
    for name, tensor in tensors_of(model).items():
        if tensor.device.type == "meta":
            raise ModelError("calibration runs the model, and there is nothing to run without memory", where=name,
                             received="device meta", fix="give the model memory first, model.to_empty(device='cpu'), "
                             "or leave calibrate out")  # fmt: skip
    args, kwargs = mapped(_noise(seed), call_arguments(inputs, model))
    own = drawn_copy(model, plan, seed)
    scaler = Scaler(own, plan, goals(plan), TOLERANCE, ITERATIONS)
    scaler.settle(lambda: record(own, args, kwargs, training=plan.training, seed=seed, wanted=set(scaler.goals),
                                 observe=scaler))  # fmt: skip
    return scaler.factors, scaler.failed


def drawn_copy(model: nn.Module, plan: PlanData, seed: int) -> nn.Module:
    """A shadow of the model whose parameters lie in memory of its own, with the plan applied to it."""
    own = Shadow(model).model
    storages: dict[int, torch.UntypedStorage] = {}
    for parameter in own.parameters():
        if parameter.layout is not torch.strided:
            continue
        key = storage_of(parameter)
        if key not in storages:
            storages[key] = parameter.untyped_storage().clone()
        copy = torch.empty(0, dtype=parameter.dtype, device=parameter.device)
        copy.set_(storages[key], parameter.storage_offset(), parameter.shape, parameter.stride())
        parameter.data = copy
    TensorApplication(plan, seed, own).run()
    return own


def _noise(seed: int) -> Any:
    """What stands for an argument: a tensor of numbers becomes noise of its moments; integers and masks stay."""
    rng = np.random.default_rng([seed, 1])

    def of(item: Any) -> Any:
        signal = signal_of(item) if isinstance(item, torch.Tensor) else None
        if signal is None:
            return item
        if item.is_complex():
            made: Any = complex_sample(signal, rng)
        else:
            made = noise_like(signal, item.detach().to("cpu", torch.float64).numpy(), rng)
        return torch.from_numpy(made).to(device=item.device, dtype=item.dtype)

    return of
