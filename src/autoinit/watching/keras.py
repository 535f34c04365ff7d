"""For Keras: `model.fit(..., callbacks=[WatchSignals(plan, batch=x[:64])])`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from ..frontends.keras_missing import keras_missing

try:
    import keras
except ModuleNotFoundError as error:
    raise keras_missing("autoinit.watching.keras", error) from None

from ..plans import Plan
from .schedule import schedule
from .watcher import Watch


class WatchSignals(keras.callbacks.Callback):  # type: ignore[misc]
    """Records the signals of the model on `batch`, a batch of its inputs that stays the same (default: noise).

    Keras does not show callbacks the batch of the step. Other options as of `autoinit.watch`; the record is in `.watch`
    once training has begun.
    """

    def __init__(
        self,
        plan: Plan | None = None,
        *,
        batch: Any = None,
        steps: Iterable[int] | None = None,
        first: int | None = None,
        every: int | None = None,
    ) -> None:
        super().__init__()
        self._plan, self._batch = plan, batch
        self._schedule = schedule(steps, first, every)
        self._epoch_start, self._next = 0, 0
        self._stopped = False
        self.watch: Watch | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        self.watch = Watch(self.model, self._plan, self._schedule)
        self._epoch_start = self._next = 0
        self._stopped = False

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._epoch_start = self._next

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        step = self._epoch_start + batch
        if self.watch is None or self._stopped or not self.watch.due(step):
            return
        try:
            self.watch.look(self._batch, step)
        except Exception as error:  # training is worth more than its record
            self._stopped = True
            warnings.warn(f"autoinit's watch stopped at step {step}: {error}", stacklevel=2)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._next = self._epoch_start + batch + 1
