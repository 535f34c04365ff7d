"""Draw weights many times, and compare what a module puts out with a prediction.

Measured variances are means over `SEEDS` draws of the weights. Their relative standard error is taken from the
draws themselves, and a prediction has to lie within five of them (plus a stated model error where the rule is not
exact).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import torch
from torch import nn

import autoinit

SEEDS = 16


def outputs(model: nn.Module, module: nn.Module, x, seeds: int = SEEDS, **options) -> list[torch.Tensor]:
    """What `module` puts out after `model` was initialized, once for each seed, on fresh N(0, 1) inputs."""
    collected: list[torch.Tensor] = []
    plan = autoinit.plan(model, x, **options)
    hook = module.register_forward_hook(lambda m, args, out: collected.append(out.detach().double()))
    shapes = x if isinstance(x, list) else [x]
    for seed in range(seeds):
        plan.apply(model, seed=seed)
        generator = torch.Generator().manual_seed(1000 + seed)
        with torch.no_grad():
            model(*[torch.randn(s, generator=generator) for s in shapes])
    hook.remove()
    return collected


def assert_second_moment(tensors: list[torch.Tensor], expected: float, model_error: float = 0.0) -> None:
    found = np.array([float(t.square().mean()) for t in tensors])
    error = found.std(ddof=1) / sqrt(len(found))
    assert abs(found.mean() - expected) <= 5 * error + model_error * expected, (found.mean(), error, expected)
