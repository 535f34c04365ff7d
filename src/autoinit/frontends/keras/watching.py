"""Looking at a Keras model while it is trained: its operations run once more on a batch, with the present weights."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ...core.plan.measured import Key
from ..base import Statistics
from ..custom import CustomRules
from ..lock import WALKING
from .inputs import Leaf, call_arguments
from .measure import replayed
from .state import looking
from .tape import Entry, flattened
from .variables import as_array
from .walk import Walk, walk


class Probe:
    """Takes statistics of a model. Keras says nothing before a forward, so a callback or the user's loop asks."""

    calls_back = False

    def __init__(self, model: Any, training: bool) -> None:
        self.model, self.training = model, training
        self._walk: Walk | None = None

    def attach(self, seen: Callable[[Any], None]) -> Callable[[], None]:
        """Nothing to attach to: see `calls_back`."""
        return lambda: None

    def aside(self) -> AbstractContextManager[None]:
        """Where the model can be analysed in the middle of a training step: anywhere, once its weights are there."""
        self._fetch_weights()
        return nullcontext()

    def look(self, inputs: Any, wanted: set[Key], seed: int) -> dict[Key, Statistics]:
        """The statistics of the wanted tensors for a batch (None: noise); nothing about the model changes."""
        self._fetch_weights()
        found: dict[Key, Statistics] = {}

        def observe(entry: Entry, values: list[Any]) -> None:
            for k, value in enumerate(values):
                key = (entry.module, entry.name, entry.occurrence, k)
                if key in wanted:
                    found[key] = statistics(value)

        with WALKING, looking(self.model) as looks:
            replayed(self._walked(inputs, looks), self.model, seed, observe, looks)
        return found

    def _fetch_weights(self) -> None:
        """During fit on JAX the model's variables are empty, and the weights elsewhere."""
        if hasattr(self.model, "jax_state_sync"):
            self.model.jax_state_sync()

    def _walked(self, inputs: Any, looks: looking) -> Walk:
        """The model's tape, made for the first batch; later batches of the same shapes take its place."""
        args, kwargs, _ = call_arguments(self.model, inputs)
        leaves = [leaf for leaf in flattened((args, kwargs)) if isinstance(leaf, Leaf)]
        made = self._walk
        if made is None or [(a.shape, a.dtype) for a in made.leaves] != [(b.shape, b.dtype) for b in leaves]:
            made = walk(self.model, inputs, self.training, CustomRules(), looks=looks)
            self._walk = made if looks.was_built else None  # weights that are gone afterwards are no use later
        else:
            for known, given in zip(made.leaves, leaves, strict=True):
                known.item = given.item
        return made


def statistics(value: Any) -> Statistics:
    """(mean, variance over the whole tensor, entries that are not finite)."""
    x = as_array(value)
    if x.dtype.itemsize < 4:
        x = x.astype(np.float32)
    bad = int(x.size - np.count_nonzero(np.isfinite(x)))
    if bad:
        return float("nan"), float("nan"), bad
    mean = float(x.mean(dtype=np.float64))
    return mean, float(np.square(x - x.dtype.type(mean)).mean(dtype=np.float64)), 0
