"""For Lightning: `Trainer(callbacks=[WatchSignals(plan)])`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

try:
    from lightning.pytorch import Callback
except ImportError:
    try:
        from pytorch_lightning import Callback  # type: ignore[assignment]  # the same class under its older name
    except ImportError as error:
        raise ImportError("autoinit.watching.lightning needs Lightning 2: pip install lightning") from error

from ..plans import Plan
from .observation import Observation
from .parts import part_of
from .schedule import schedule
from .tables import scalars
from .watcher import Watch


class WatchSignals(Callback):
    """Records the signals of the module that `plan` is of: the LightningModule, or a part of it.

    module: the name of the part to watch, where there is no plan or several parts fit. log: pass the scalars on to the
    trainer's loggers. Other options as of `autoinit.watch`; the record is in `.watch` after the first batch.
    """

    def __init__(
        self,
        plan: Plan | None = None,
        *,
        module: str | None = None,
        log: bool = False,
        steps: Iterable[int] | None = None,
        first: int | None = None,
        every: int | None = None,
    ) -> None:
        self._plan, self._module, self._log = plan, module, log
        self._schedule = schedule(steps, first, every)
        self.watch: Watch | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self.watch = Watch(part_of(pl_module, self._plan, self._module), self._plan, self._schedule)
        if self._log:

            def log(step: int, seen: list[Observation]) -> None:
                for logger in trainer.loggers:
                    logger.log_metrics(scalars(seen), step)

            self.watch.on_step(log)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        if self.watch is not None:
            self.watch.begin_step(trainer.global_step)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if self.watch is not None:
            self.watch.finish()
