"""Looking at a model while it is trained: its operations run once more on a batch, with the present parameters."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ...core.options import Options
from ...core.plan.measured import Key
from ..base import Statistics
from .adapters import adapted
from .measure import observed
from .names import named_leaves


class Probe:
    """Takes statistics of a model. JAX says nothing before a call, so the loop asks."""

    calls_back = False

    def __init__(self, model: Any, training: bool) -> None:
        self.model, self.training = model, training

    def attach(self, seen: Callable[[Any], None]) -> Callable[[], None]:
        """Nothing to attach to: see `calls_back`."""
        return lambda: None

    def aside(self) -> AbstractContextManager[None]:
        """Where the model can be analysed in the middle of a training step: anywhere."""
        return nullcontext()

    def look(self, inputs: Any, wanted: set[Key], seed: int) -> dict[Key, Statistics]:
        """The statistics of the wanted tensors for a batch; nothing about the model changes."""
        found: dict[Key, Statistics] = {}

        def observe(key: Key, array: Any) -> None:
            if key in wanted:
                found[key] = statistics(array)

        program, inputs = adapted(self.model).program(inputs, self.training)
        observed(program, inputs, Options(training=self.training), seed, observe)
        return found

    def use(self, parameters: Any) -> None:
        """Look at other values from now on: those of a structure of parameters (or of a model) with the same names."""
        values = dict(named_leaves(parameters))
        self.model = adapted(self.model).changed(values)


def statistics(value: Any) -> Statistics:
    """(mean, variance over the whole tensor, entries that are not finite)."""
    x = np.asarray(value)
    x = x.astype(np.float32 if x.dtype.itemsize < 4 else x.dtype)
    bad = int(x.size - np.count_nonzero(np.isfinite(x)))
    if bad:
        return float("nan"), float("nan"), bad
    mean = float(x.mean(dtype=np.float64))
    return mean, float(np.square(x - x.dtype.type(mean)).mean(dtype=np.float64)), 0
