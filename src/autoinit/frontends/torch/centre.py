"""Biases that cancel the incoming mean of the (freshly drawn) weight that they belong to."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ...core.drawing import Draw, centred_bias
from ...core.drawing.regions import Region
from ...core.plan.plan import ParameterPlan, PartPlan
from .filling import as_numbers, drawn_pieces, held_pieces
from .memory import distinct
from .shards import Local, is_sharded


def write_centred(
    entry: ParameterPlan, part: PartPlan, bias: Local, weight: torch.Tensor, drawn: Draw | None
) -> None:  # fmt: skip
    """Write a part of a bias. `drawn` is what was just drawn into the weight, None if that kept its values."""
    if not is_sharded(weight):
        pieces = held_pieces(weight.detach())
    elif drawn is not None:
        pieces = drawn_pieces(drawn, weight.dtype)
    else:
        whole: Any = weight
        pieces = held_pieces(whole.detach().full_tensor())
    made = centred_bias(part, list(weight.shape), pieces, pairs=weight.is_complex())
    if weight.is_complex():
        made = made if bias.tensor.is_complex() else made[..., 0]
    _put(bias, entry, part, made)


def _put(bias: Local, entry: ParameterPlan, part: PartPlan, values: NDArray[np.float64]) -> None:
    """Write the values of a part where this process has them."""
    tensor = distinct(bias.tensor)
    pairs = tensor.is_complex()
    if pairs and values.shape == tuple(part.shape):  # real sums for a complex bias
        values = np.stack([values, np.zeros_like(values)], axis=-1)
    present = as_numbers(torch.view_as_real(tensor) if pairs else tensor)
    region = Region.of(entry.shape, part.shape, part.stride, part.offset, pairs)
    region.put(present, [*bias.low, 0] if pairs else bias.low, values)
    made = torch.from_numpy(present)
    tensor.copy_(torch.view_as_complex(made) if pairs else made)
