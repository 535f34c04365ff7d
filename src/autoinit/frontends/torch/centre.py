"""Biases that cancel the incoming mean: b = -mu * (sum of the weight over its fan)."""

from __future__ import annotations

import torch

from ...core.plan import PartPlan
from .memory import in_c_order, region


def centred_bias(bias: torch.Tensor, part: PartPlan, weight: torch.Tensor) -> None:
    """Write the bias that belongs to the (freshly drawn) weight."""
    dense = weight.contiguous()
    dense = dense if dense.is_complex() else dense.float()
    sums = row_sums(region(dense, part.of_shape, part.of_stride, part.of_offset), part.rows, part.groups)
    wanted = -part.value * sums
    if wanted.is_complex() and not bias.is_complex():
        wanted = wanted.real
    with in_c_order(bias) as entries:
        target = region(entries, part.shape, part.stride, part.offset)
        target.copy_(wanted.reshape(target.shape).to(target.dtype))


def row_sums(weight: torch.Tensor, rows: list[int], groups: int) -> torch.Tensor:
    """The sum over the fan of every output.

    Outputs run along `rows`. Where that is not the first axis (a transposed convolution: inputs, outputs per group,
    taps) the groups divide the inputs.
    """
    if groups > 1 and 0 not in rows:
        parts = weight.unflatten(0, (groups, weight.shape[0] // groups))
        return parts.sum(dim=[a for a in range(parts.dim()) if a not in (0, *(r + 1 for r in rows))]).reshape(-1)
    over = [a for a in range(weight.dim()) if a not in rows]
    return (weight.sum(dim=over) if over else weight).reshape(-1)
