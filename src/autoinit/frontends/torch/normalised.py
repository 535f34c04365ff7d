"""Python code of torch's own that is better seen as one node than as the ops that it is made of.

Spectral norm and orthogonal parametrizations make weights whose scale does not follow their parameter: what happens
inside (power iterations, Householder products) is hidden, and the effective weight is accounted as it comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from types import MethodType
from typing import Any

import torch
from torch.nn.utils import parametrizations
from torch.nn.utils.spectral_norm import SpectralNorm

from ...core.signal.signal import Signal, iid
from .shadow import Shadow

MOST_ITERATED = 2**20
"""Beyond this many entries the top singular value is that of a random matrix, not of the values."""
ITERATIONS = 30


class ScaleFree:
    """A rule for a module that takes the scale out of a weight; called like a user's rule, plus the real weight."""

    def __init__(self, rule: Callable[[Any, torch.Tensor, Signal], Signal], weight: torch.Tensor | None = None) -> None:
        self.rule, self.weight = rule, weight

    def of(self, weight: torch.Tensor) -> ScaleFree:
        return ScaleFree(self.rule, weight)

    def __call__(self, owner: Any, signal: Signal) -> Signal:
        assert self.weight is not None
        return self.rule(owner, self.weight, signal)


def spectral(owner: Any, weight: torch.Tensor, w: Signal) -> Signal:
    """W / (top singular value). Of an i.i.d. r x c matrix that value is std (sqrt r + sqrt c)."""
    rows = weight.shape[owner.dim] if weight.dim() > 1 else 1
    columns = weight.numel() // rows
    level = 1.0 / (sqrt(rows) + sqrt(columns)) if rows > 1 else 1.0 / sqrt(columns)
    if weight.device.type != "meta" and weight.numel() <= MOST_ITERATED:
        matrix = (
            weight.detach().movedim(owner.dim, 0).reshape(rows, -1).double()
            if rows > 1
            else weight.double().reshape(1, -1)
        )
        level = _root_mean_square_over_top(matrix) or level
    return w.scaled(level / sqrt(w.second)) if w.second > 0 else iid(w.shape, 0.0, level**2)


def _root_mean_square_over_top(matrix: torch.Tensor) -> float | None:
    """Root mean square of the entries over the top singular value, by power iteration from a fixed start."""
    size = float(matrix.square().mean()) ** 0.5
    if not 0.0 < size < float("inf"):
        return None
    start = torch.Generator().manual_seed(0)
    v = torch.randn(matrix.shape[1], generator=start, dtype=torch.float64).to(matrix.device)
    top = 0.0
    for _ in range(ITERATIONS):
        u = matrix @ (v / v.norm())
        top = float(u.norm())
        v = matrix.T @ u
    return size / top if top > 0 else None


def orthonormal(owner: Any, weight: torch.Tensor, w: Signal) -> Signal:
    """Orthonormal rows or columns: entries of mean square 1 / max(rows, columns)."""
    return iid(w.shape, 0.0, 1.0 / max(w.shape[-2:]))


SCALE_FREE: dict[type, ScaleFree] = {
    parametrizations._SpectralNorm: ScaleFree(spectral),
    parametrizations._Orthogonal: ScaleFree(orthonormal),
}


def hide_hooks(shadow: Shadow, tracer: Any, own_node: Callable[..., None]) -> None:
    """The old spectral norm (a forward hook, no module) becomes one node for each weight, in a model's shadow."""
    for _, _, module in shadow.named_modules():
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm):
                hook.compute_weight = MethodType(_recorded(tracer, own_node), hook)  # type: ignore[method-assign]


def _recorded(tracer: Any, own_node: Callable[..., None]) -> Callable[..., torch.Tensor]:
    def compute_weight(hook: SpectralNorm, module: torch.nn.Module, do_power_iteration: bool) -> torch.Tensor:
        weight = getattr(module, hook.name + "_orig")
        tracer.suppressed += 1
        try:
            made = SpectralNorm.compute_weight(hook, module, do_power_iteration)
        finally:
            tracer.suppressed -= 1
        if not tracer.suppressed:
            own_node(tracer, ScaleFree(spectral, weight), hook, (weight,), made, "SpectralNorm")
        return made

    return compute_weight
