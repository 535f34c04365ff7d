"""LSUV on PyTorch modules, in one forward pass, however deep the model is.

Only a weight that forward computes from parameters (weight norm, standardisation) may need more passes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from ..api import plan as analyse
from ..core.inputs import Input
from ..core.plan.calibration import goals
from ..frontends.torch.inputs import call_arguments
from ..frontends.torch.measure import record
from ..frontends.torch.scaling import Scaler
from ..frontends.torch.structures import mapped
from ..plans import Plan
from .schemes import classical, fits, scheme_plan


def scaled(
    model: nn.Module, inputs: Any, *, samples: int | None, pre: str | None, tolerance: float, iterations: int,
    seed: int, target: float, training: bool, plan: Plan | None = None,
) -> tuple[dict[str, float], list[str]]:  # fmt: skip
    """The variances that the outputs of rescaled weights ended with, and the weights that could not be scaled."""
    args, kwargs = mapped(lambda item: _first(item, samples), call_arguments(inputs, model))
    given = kwargs if not args else (*args, kwargs) if kwargs else tuple(args)
    plan = plan or analyse(model, given, variance=target, training=training, keep_zeros=pre is None, warn=False)
    fits(plan, dict(model.named_parameters()))
    _prepare(model, plan, pre, seed)
    scaler = Scaler(model, plan, goals(plan, target), tolerance, iterations)
    scaler.settle(lambda: record(model, args, kwargs, training=training, seed=seed, wanted=set(scaler.goals),
                                 observe=scaler))  # fmt: skip
    return scaler.variances, scaler.failed


def _first(item: Any, samples: int | None) -> Any:
    if samples is None:
        return item
    if isinstance(item, Input) and item.shape:
        return replace(item, shape=(min(samples, item.sizes[0]), *item.shape[1:]))
    return item[:samples] if isinstance(item, Tensor) and item.dim() else item


def _prepare(model: nn.Module, plan: Plan, pre: str | None, seed: int) -> None:
    """The classical scheme on every weight that the plan would set; biases to zero."""
    if pre == "default":
        classical(model, pre, seed)
        parameters = dict(model.named_parameters())
        with torch.no_grad():
            for entry in plan.changed():
                if entry.action == "zero" and parameters[entry.name].requires_grad:
                    parameters[entry.name].zero_()
    elif pre is not None:
        scheme_plan(plan, pre, tables=True).apply(model, seed)
