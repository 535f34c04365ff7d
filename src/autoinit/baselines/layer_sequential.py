"""Layer-sequential unit variance (Mishkin and Matas, 2016) for any module: scale weights by a batch.

The weights are pre-initialized, S samples go through the model once, and every op that contracts with a
weight rescales it until its own output has the target variance; the rescaled output then flows on.
One forward pass is therefore enough, however deep the model is. Only a weight that forward computes from
parameters (weight norm, standardisation) may need more passes.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map

from ..api import plan as analyse
from ..core.inputs import Input
from ..core.plan import Plan
from ..errors import OptionError
from ..frontends.torch.inputs import call_arguments
from ..frontends.torch.measure import Key, moments, record
from ..measurement import key_of
from .schemes import SCHEMES, classical, fill

PASSES = 4


def lsuv(
    model: nn.Module,
    inputs: Any,
    *,
    samples: int | None = None,
    pre: str | None = "orthogonal",
    tolerance: float = 0.1,
    iterations: int = 10,
    seed: int = 0,
    target: float = 1.0,
    training: bool = True,
) -> dict[str, float]:
    """Initialize `model` in place; return the variance that every rescaled weight's output ended with.

    inputs: as for `autoinit.plan`; a real batch, or a description of noise.
    samples: how many entries of the batch (the first axis of every input) are used; default all.
    pre: the classical scheme that is rescaled; None keeps the present weights.
    tolerance: the relative deviation from `target` that is accepted.
    iterations: how often one weight is rescaled at most.

    Frozen parameters are left alone. A parameter that several layers share is scaled for the first of them.
    """
    if pre is not None and pre not in SCHEMES:
        raise OptionError("unknown scheme", where="pre", received=repr(pre),
                          fix=f"None, or one of {', '.join(SCHEMES)}")  # fmt: skip
    if samples is not None and (isinstance(samples, bool) or not isinstance(samples, int) or samples < 1):
        raise OptionError("'samples' takes a positive integer", received=repr(samples), fix="samples=64")
    if not 0 < target < float("inf") or not tolerance > 0:
        raise OptionError("'target' and 'tolerance' take positive numbers", received=f"{target}, {tolerance}",
                          fix="target=1.0, tolerance=0.1")  # fmt: skip
    args, kwargs = tree_map(lambda item: _first(item, samples), call_arguments(inputs))
    plan = analyse(model, (*args, kwargs) if kwargs else tuple(args), variance=target, training=training)
    if pre is not None:
        _prepare(model, plan, pre, seed)
    scaler = _Scaler(model, plan, target, tolerance, iterations)
    for _ in range(PASSES):
        scaler.begin()
        record(model, args, kwargs, training=training, seed=seed, wanted=set(scaler.layers), observe=scaler)
        if not scaler.unsettled:
            break
    if scaler.failed:
        what = f"{len(scaler.failed)} layers, the first {scaler.failed[0]}: output constant or not finite"
        warnings.warn(f"LSUV could not scale {what}", stacklevel=2)
    return scaler.variances


def _first(item: Any, samples: int | None) -> Any:
    if samples is None:
        return item
    if isinstance(item, Input) and item.shape:
        return replace(item, shape=(min(samples, item.sizes[0]), *item.shape[1:]))
    return item[:samples] if isinstance(item, Tensor) and item.dim() else item


def _prepare(model: nn.Module, plan: Plan, pre: str, seed: int) -> None:
    """The classical scheme on every weight that the plan would set; biases to zero."""
    if pre == "default":
        classical(model, pre, seed)
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for entry in plan.changed():
            parameter = parameters[entry.name]
            if not parameter.requires_grad:
                continue
            if entry.action == "zero":
                parameter.zero_()
            elif pre != "default" and entry.action == "set" and parameter.dim() >= 2:
                fill(parameter, pre, seed, entry.name)


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
