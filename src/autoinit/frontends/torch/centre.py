"""Biases that cancel the incoming mean: b = -mu * (sum of the weight over its fan)."""

from __future__ import annotations

import torch

from ...core.plan import ParameterPlan, PartPlan


def centred_bias(
    fresh: dict[str, torch.Tensor], parameters: dict[str, torch.nn.Parameter], entry: ParameterPlan, part: PartPlan
) -> None:
    weight = fresh.get(part.of, parameters.get(part.of))
    if weight is None:
        return
    rows = part.rows
    sums = weight.float().sum(dim=[a for a in range(weight.dim()) if a not in rows])
    target = torch.as_strided(fresh[entry.name], part.shape, part.stride, part.offset)
    start = part.groups  # first row of the weight that this bias belongs to
    del start
    target.copy_((-part.value * sums.reshape(-1)[: target.numel()]).to(target.dtype))
