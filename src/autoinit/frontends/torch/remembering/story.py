"""What a tensor that has no memory would hold."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt
from types import FunctionType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ....core.graph.graph import ParameterView
from ..private_random import is_random
from ..schema import arguments, op_name
from .log import Entry, Log

LARGEST = 2**28
"""Entries of a tensor that are worked out; plain fills know no such bound."""
SAMPLE = 2**20
"""Entries of a plain random fill that are looked at."""
CONSTANTS = {"aten.zeros": 0.0, "aten.zeros_like": 0.0, "aten.zero_": 0.0, "aten.new_zeros": 0.0, "aten.ones": 1.0,
             "aten.ones_like": 1.0, "aten.new_ones": 1.0}  # fmt: skip
FILLS = {"aten.full", "aten.full_like", "aten.fill_", "aten.new_full"}


@dataclass(frozen=True)
class Fill:
    """Every entry the same number, or drawn independently: uniform from low to high, or normal."""

    kind: str
    mean: float
    std: float = 0.0


@dataclass(frozen=True, eq=False)
class Story:
    """A tensor on the meta device, and the log of what was written there."""

    log: Log
    tensor: torch.Tensor

    @property
    def fill(self) -> Fill | None:
        """What a single op wrote to all of it, if that was so."""
        written = self.log.writers[self.tensor.untyped_storage()._cdata]
        entry = self.log.entries[written[-1]]
        target = entry.outputs[0] if entry.outputs else None
        whole = target is not None and target.numel() * target.element_size() >= target.untyped_storage().nbytes()
        return _fill(entry) if whole else None

    def values(self, seed: int = 0) -> torch.Tensor:
        """The values; random ones follow from the seed."""
        return self.log.worked_out(self.tensor, seed)

    def is_zero(self) -> bool:
        fill = self.fill
        if fill is not None:
            return fill.kind == "constant" and fill.mean == 0.0
        return not self.is_random and self.can_be_worked_out and not bool(self.values().any())

    def read(self, view: ParameterView | None) -> NDArray[Any] | None:
        """Values of a part, or (of plain fills) a sample with the same moments; None if it is too large to know."""
        shape = tuple(self.tensor.shape) if view is None else view.shape
        fill = self.fill
        if fill is not None and fill.kind == "constant":
            return np.broadcast_to(np.float64(fill.mean), shape)
        if fill is not None and prod(shape) > SAMPLE:
            return _sample(fill, shape)
        if not self.can_be_worked_out:
            return None
        values = self.values().contiguous()
        if view is not None:
            values = torch.as_strided(values, view.shape, view.stride, view.offset)
        return np.asarray(values.numpy() if values.is_complex() else values.double().numpy())

    @property
    def can_be_worked_out(self) -> bool:
        return self.tensor.numel() <= LARGEST

    @property
    def is_random(self) -> bool:
        functions = [self.log.entries[k].func for k in self.log.history(self.tensor)]
        return any(is_random(f) or isinstance(f, FunctionType) for f in functions)


def _sample(fill: Fill, shape: tuple[int, ...]) -> NDArray[Any]:
    """Fewer rows of each axis."""
    rng, small = np.random.default_rng(0), list(shape)
    while prod(small) > SAMPLE:
        k = small.index(max(small))
        small[k] = (small[k] + 1) // 2
    unit = rng.standard_normal(small) if fill.kind == "normal" else rng.uniform(-sqrt(3.0), sqrt(3.0), small)
    return np.asarray(fill.mean + fill.std * unit)


def _fill(entry: Entry) -> Fill | None:
    if isinstance(entry.func, FunctionType):
        return None
    name = op_name(entry.func)
    args = entry.flat
    if name in CONSTANTS:
        return Fill("constant", CONSTANTS[name])
    values = arguments(entry.func, *entry.form.holding(args))
    if name in FILLS:
        number = values.get("fill_value", values.get("value"))
        return Fill("constant", float(number)) if isinstance(number, (int, float, bool)) else None
    if name == "aten.normal_":
        return Fill("normal", float(values.get("mean", 0.0)), float(values.get("std", 1.0)))
    if name in ("aten.randn", "aten.randn_like"):
        return Fill("normal", 0.0, 1.0)
    if name == "aten.uniform_":
        low, high = float(values.get("from", 0.0)), float(values.get("to", 1.0))
        return Fill("uniform", (low + high) / 2, (high - low) / sqrt(12.0))
    if name in ("aten.rand", "aten.rand_like"):
        return Fill("uniform", 0.5, 1 / sqrt(12.0))
    return None
