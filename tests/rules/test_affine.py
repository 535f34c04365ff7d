"""Known scales and shifts per feature, and resampling by known weights: exact."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from .harness import check, components


@pytest.mark.parametrize("mean", [0.0, 1.3])
def test_affine_with_tables_that_go_together(mean: float) -> None:
    """Scale and shift rise together along the features: their product counts wherever x has a mean."""
    scale, shift = np.linspace(0.5, 2.0, 6), np.linspace(-1.0, 1.0, 6)
    x = components((8, 5, 6), mean, {(0, 1, 2): 1.0, (0, 2): 0.5, (1,): 0.3})
    check("affine", [x], lambda t: t * torch.from_numpy(scale) + torch.from_numpy(shift),
          arrays={1: scale, 2: shift}, extra=[None, None])  # fmt: skip


def test_affine_along_another_axis() -> None:
    scale, shift = np.linspace(0.5, 2.0, 5).reshape(5, 1), np.asarray(0.7)
    x = components((8, 5, 6), -0.4, {(0, 1, 2): 1.0, (0, 1): 0.5})
    check("affine", [x], lambda t: t * torch.from_numpy(scale) + 0.7, arrays={1: scale, 2: shift}, extra=[None, None])


def test_interpolation_by_known_weights() -> None:
    """Means over windows whose border repeats the last entry."""
    W = np.zeros((3, 5))
    for i in range(3):
        for k in range(3):
            W[i, min(max(2 * i + k - 1, 0), 4)] += 1 / 3
    x = components((16, 5, 4), 0.6, {(0, 1, 2): 1.0, (0, 2): 0.5})
    check("interpolate", [x], lambda t: torch.einsum("oi,bic->boc", torch.from_numpy(W), t), axes=(1,), mode="linear",
          align_corners=False, matrices={1: W})  # fmt: skip
