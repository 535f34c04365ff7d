"""Biases that cancel the incoming mean: b = -mu * (sum of the weight over its fan)."""

from __future__ import annotations

import torch

from ...core.plan import ParameterPlan, PartPlan


def centred_bias(parameters: dict[str, torch.nn.Parameter], entry: ParameterPlan, part: PartPlan) -> None:
    """Write the bias that belongs to the (freshly drawn) weight."""
    weight = parameters.get(part.of)
    if weight is None:
        return
    view = torch.as_strided(weight.detach().float(), part.of_shape, part.of_stride, part.of_offset)
    target = torch.as_strided(parameters[entry.name].detach(), part.shape, part.stride, part.offset)
    target.copy_((-part.value * row_sums(view, part.rows, part.groups)).reshape(target.shape).to(target.dtype))


def row_sums(weight: torch.Tensor, rows: list[int], groups: int) -> torch.Tensor:
    """The sum over the fan of every output.

    Outputs run along `rows`. Where that is not the first axis (a transposed convolution: inputs, outputs per group,
    taps) the groups divide the inputs.
    """
    if groups > 1 and 0 not in rows:
        parts = weight.unflatten(0, (groups, weight.shape[0] // groups))
        return parts.sum(dim=[a for a in range(parts.dim()) if a not in (0, *(r + 1 for r in rows))]).reshape(-1)
    return weight.sum(dim=[a for a in range(weight.dim()) if a not in rows]).reshape(-1)
