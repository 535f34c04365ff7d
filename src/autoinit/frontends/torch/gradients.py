"""Gradients of the real model by automatic differentiation, which leave nothing behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_flatten

from .inputs import real_tensor
from .measure import Recorder, run
from .names import parameters_of
from .private_random import PrivateRandom
from .structures import mapped


def gradients(
    model: nn.Module, args: list[Any], kwargs: dict[str, Any], *, training: bool, seed: int
) -> dict[str, float]:
    """The mean square of every parameter's gradient for N(0, 1) gradients at the floating outputs, on noise (or the
    user's batch). The model's own gradients, state and random numbers are as before."""

    rng = np.random.default_rng(seed)
    made: dict[str, float] = {}

    def after(shadow: nn.Module, output: Any) -> None:
        outputs = [t for t in tree_flatten(output)[0] if _differentiable(t)]
        parameters = {name: p for name, p in parameters_of(shadow).items() if p.requires_grad}
        if not outputs or not parameters:
            return
        noise = [torch.as_tensor(rng.standard_normal(tuple(t.shape))).to(t) for t in outputs]
        seen = torch.autograd.grad(outputs, list(parameters.values()), noise, allow_unused=True)
        for name, g in zip(parameters, seen, strict=True):
            if g is not None and g.numel():
                made[name] = float(g.detach().to(torch.float64).square().mean())

    given, named = mapped(lambda a: real_tensor(a, model, rng), (args, kwargs))
    run(model, given, named, Recorder(set(), random=PrivateRandom(seed)), below=False, training=training, after=after)
    return made


def _differentiable(t: Any) -> bool:
    return isinstance(t, torch.Tensor) and t.is_floating_point() and t.requires_grad and t.numel() > 0
