"""Mixtures of experts: products of groups of rows with slices of one weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..known import sample_of
from .table import aten

if TYPE_CHECKING:
    from ..call import Call


@aten("_grouped_mm", "transformers.grouped_mm_fallback")
def grouped_mm(call: Call) -> None:
    """(rows, in) x (experts, in, out): groups of rows; (groups, a, b) x (groups, b, c): one product per group."""
    x, w = call.args[0], call.args[1]
    if (x.dim(), w.dim()) == (3, 3):
        call.emit("matmul", [x, w])
    elif (x.dim(), w.dim()) == (2, 3) and call.values.get("bias") is None:
        call.emit("grouped_linear", [x, w], chance=_same_expert(sample_of(call.tracer, call.values.get("offs"))))
    else:
        call.unknown()


def _same_expert(ends: Any) -> float | None:
    """The chance that two different rows have the same expert, from the ends of the groups of rows."""
    if ends is None or ends.numel() == 0:
        return None
    sizes = np.diff(np.concatenate([[0.0], ends.double().numpy()]))
    rows = float(sizes.sum())
    if (sizes < 0).any() or rows < 2:
        return None
    return float(sizes @ (sizes - 1)) / (rows * (rows - 1))
