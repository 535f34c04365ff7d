"""Small building blocks for tests of the PyTorch front end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

import autoinit

torch.set_num_threads(1)


class Free(nn.Module):
    """A forward given as a function of the module, with named children or parameters."""

    def __init__(self, function: Callable[..., Any], **parts: Any) -> None:
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self, *args, **kwargs)


def state_of(model: nn.Module) -> dict[str, Any]:
    """Everything that an analysis must leave alone."""
    tensors = {f"tensor {n}": (id(t), t.detach().clone()) for n, t in model.state_dict(keep_vars=True).items()}
    buffers = {f"buffer {n}": (id(t), t.clone()) for n, t in model.named_buffers()}
    modules = {
        f"module {n}": (
            m.training, sorted(m.__dict__), {k: len(v) for k, v in m.__dict__.items() if k.endswith("_hooks")},
            {k: id(v) for k, v in m.__dict__.items()},
        )
        for n, m in model.named_modules()
    }  # fmt: skip
    grads = {
        f"grad {n}": (p.requires_grad, None if p.grad is None else p.grad.clone()) for n, p in model.named_parameters()
    }
    return {
        **tensors,
        **buffers,
        **modules,
        **grads,
        "torch rng": torch.get_rng_state(),
        "numpy rng": np.random.get_state()[1],
    }


def assert_same_state(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert before.keys() == after.keys()
    for key, value in before.items():
        assert _same(value, after[key]), key


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and a.shape == b.shape and torch.equal(a, b)
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b))
    if isinstance(a, tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def ratios(
    model: nn.Module, inputs: Any, *, seeds: int = 8, every: bool = True, **options: Any
) -> dict[tuple[str, str, int, int], tuple[float, float, float]]:
    """(measured / planned variance, its standard error, planned variance) per tensor, over draws of the weights.

    Measured on noise (or the given batch) through the real model, planned before a single weight was drawn.
    """
    plan = autoinit.plan(model, inputs, **options)
    predicted = {(t.module, t.op, t.call, t.output): t for t in plan.tensors}
    found: dict[tuple[str, str, int, int], list[float]] = {}
    for seed in range(seeds):
        plan.apply(model, seed=seed)
        measured = autoinit.measure(model, inputs, seed=seed, **options)
        for row in measured.rows:
            t = row.predicted
            found.setdefault((t.module, t.op, t.call, t.output), []).append(row.variance)
    answer = {}
    for key, values in found.items():
        tensor = predicted.get(key)  # kept weights have rows of their own in a measurement
        if tensor is None:
            continue
        if (every or tensor.weight is not None) and tensor.tensor_variance > 1e-12:
            scaled = np.array(values) / tensor.tensor_variance
            answer[key] = float(scaled.mean()), float(scaled.std(ddof=1) / np.sqrt(seeds)), tensor.tensor_variance
    return answer


def assert_as_planned(model: nn.Module, inputs: Any, *, model_error: float = 0.0, **options: Any) -> None:
    """Every tensor is measured at its planned variance: within 5 standard errors plus a stated model error."""
    found = ratios(model, inputs, **options)
    assert any(tensor for tensor in found)
    for key, (mean, error, variance) in found.items():
        assert abs(mean - 1) <= 5 * error + model_error + 1e-3, (key, mean, error, variance)
