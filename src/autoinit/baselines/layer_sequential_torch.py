"""LSUV on PyTorch modules, in one forward pass, however deep the model is.

Only a weight that forward computes from parameters (weight norm, standardisation) may need more passes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten

from ..api import plan as analyse
from ..core.inputs import Input
from ..frontends.torch.inputs import call_arguments
from ..frontends.torch.measure import moments, record
from ..frontends.torch.structures import mapped
from ..measurement import Key, key_of
from ..plans import Plan
from .schemes import classical, fits, scheme_plan

PASSES = 4


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
    scaler = _Scaler(model, plan, target, tolerance, iterations)
    for _ in range(PASSES):
        scaler.begin()
        record(model, args, kwargs, training=training, seed=seed, wanted=set(scaler.layers), observe=scaler)
        if not scaler.unsettled:
            break
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


class _Scaler:
    """Looks at every weight layer's output as it is made; rescales weight and output together."""

    def __init__(self, model: nn.Module, plan: Plan, target: float, tolerance: float, iterations: int):
        self.target, self.tolerance, self.iterations = target, tolerance, iterations
        self.parameters = dict(model.named_parameters())
        self.by_storage = {_storage(p): n for n, p in self.parameters.items()}
        made_of = defaultdict(list)
        for p in plan.parameters:
            if p.layer is not None and p.action in ("set", "gain"):
                made_of[p.layer].append(p.name)
        self.layers: dict[Key, list[str]] = {
            key_of(row): made_of[row.index] for row in plan.tensors if row.weight is not None and row.output == 0
        }
        self.variances: dict[str, float] = {}
        self.failed: list[str] = []
        self.begin()

    def begin(self) -> None:
        self.done: set[tuple[int, int, tuple[int, ...]]] = set()
        self.unsettled = False

    def __call__(self, key: Key, func: Callable[..., Any], args: Any, kwargs: Any, out: Tensor) -> None:
        weights = [t for t in tree_flatten((args, kwargs))[0] if isinstance(t, Tensor) and self._is_weight(t)]
        if weights:
            region = (_storage(weights[0]), int(weights[0].storage_offset()), tuple(weights[0].shape))
            if region in self.done:
                return
            self.done.add(region)
            name = self.by_storage[region[0]]
            if self.parameters[name].requires_grad:
                self._scale(name, weights[0], func, args, kwargs, out)
        elif any(self.parameters[n].requires_grad for n in self.layers[key]):
            self._scale_computed(key, out)

    def _is_weight(self, tensor: Tensor) -> bool:
        name = self.by_storage.get(_storage(tensor))
        return name is not None and tensor.dim() >= 2

    def _factor(self, variance: float) -> float | None:
        """What to multiply the weight with; None if nothing helps."""
        return (self.target / variance) ** 0.5 if variance > 0 and isfinite(variance) else None

    def _right(self, variance: float) -> bool:
        return abs(variance / self.target - 1) <= self.tolerance

    def _scale(self, name: str, weight: Tensor, func: Any, args: Any, kwargs: Any, out: Tensor) -> None:
        variance = moments(out)[1]
        for _ in range(self.iterations):
            factor = self._factor(variance)
            if factor is None:
                self.failed.append(name)
                return
            if self._right(variance):
                break
            weight.detach().mul_(factor)
            out.copy_(func(*args, **kwargs))
            variance = moments(out)[1]
        self.variances[name] = variance

    def _scale_computed(self, key: Key, out: Tensor) -> None:
        """The op saw no parameter but something made of them: scale those, and check in another pass."""
        variance = moments(out)[1]
        names = [n for n in self.layers[key] if self.parameters[n].requires_grad]
        factor = self._factor(variance)
        if factor is None:
            self.failed.append(names[0])
        elif not self._right(variance):
            for name in names:
                self.parameters[name].detach().mul_(factor ** (1 / len(names)))
            out.mul_(factor)
            self.unsettled = True
        self.variances[names[0]] = variance


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else -1
