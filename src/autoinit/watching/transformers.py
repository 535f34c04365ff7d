"""For the Trainer of Hugging Face: `Trainer(..., callbacks=[WatchSignals(plan)])`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise ImportError("autoinit.watching.transformers needs transformers: pip install 'transformers[torch]'") from error

from ..plans import Plan
from .parts import part_of
from .schedule import schedule
from .watcher import Watch


class WatchSignals(TrainerCallback):
    """Records the signals of the model (or of the part that `plan` is of). Options as of `autoinit.watch`.

    The record is in `.watch` once training has begun.
    """

    def __init__(
        self,
        plan: Plan | None = None,
        *,
        module: str | None = None,
        steps: Iterable[int] | None = None,
        first: int | None = None,
        every: int | None = None,
    ) -> None:
        self._plan, self._module = plan, module
        self._schedule = schedule(steps, first, every)
        self.watch: Watch | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        self.watch = Watch(part_of(model, self._plan, self._module), self._plan, self._schedule)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.watch is not None:
            self.watch.begin_step(state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.watch is not None:
            self.watch.finish()
