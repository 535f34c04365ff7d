"""How often two places of an index tensor hold the same index."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor

from ... import chance


def equal_chance(indices: Any) -> np.ndarray[Any, Any] | None:
    """P(index_i = index_j) for i, j that differ exactly on each subset of axes; None if the values are unknown."""
    if not isinstance(indices, torch.Tensor) or isinstance(indices, FakeTensor):
        return None
    return chance.equal_chance(indices.detach().cpu().numpy())
