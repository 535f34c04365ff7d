"""The state of a run on disk, so that it can be stopped at any moment and go on as if nothing had happened.

A file is written beside its place, brought to the disk, and then renamed: whenever the process dies, the old file or
the new one is there, whole. Random numbers need no state of their own: they follow from the seed and the number of the
step (`streams`), which are kept.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ...core.files import replacing
from ...errors import ModelError, OptionError
from .record import Record

FORMAT = 1


@dataclass
class State:
    """How far a run has come."""

    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0
    record: Record | None = None
    """Set when the run is over."""


class Checkpoint:
    """Saves a run at most every so many seconds. Without a path it does nothing.

    identity: what the run is (recipe, seed, data); a file of another run is refused.
    keep_weights: whether the file of a run that has ended has its weights, or the record alone.
    """

    def __init__(
        self,
        path: str | Path | None,
        every: float,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        identity: dict[str, Any],
        keep_weights: bool = True,
    ) -> None:
        self.path = None if path is None else Path(path)
        self.model = model.module if isinstance(model, nn.DataParallel) else model  # with as many GPUs as there are
        self.every, self.optimizer, self.identity, self.keep_weights = every, optimizer, identity, keep_weights
        self.saved = time.monotonic()

    def resume(self) -> State:
        """Put model and optimizer into the saved state, if there is one, and say how far it had come."""
        if self.path is None or not self.path.exists():
            return State()
        content = self._read(self.path)
        differences = [
            f"{name}: {content['identity'].get(name)} in the file, {value} now"
            for name, value in self.identity.items()
            if content["identity"].get(name) != value
        ]
        if differences:
            raise OptionError("this checkpoint belongs to another run", where=str(self.path),
                              received="; ".join(differences), fix="another path, or delete the file")  # fmt: skip
        if content["model"] is not None:
            self._fits(content["model"])
            self.model.load_state_dict(content["model"])
            self.optimizer.load_state_dict(content["optimizer"])
        record = None if content["record"] is None else Record.from_dict(content["record"])
        return State(content["losses"], content["seconds"], record)

    def save(self, state: State) -> None:
        if self.path is None:
            return
        weights = state.record is None or self.keep_weights
        content = {
            "format": FORMAT,
            "identity": self.identity,
            "model": self.model.state_dict() if weights else None,
            "optimizer": self.optimizer.state_dict() if weights else None,
            "losses": state.losses,
            "seconds": state.seconds,
            "record": None if state.record is None else state.record.to_dict(),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as file:
            torch.save(content, file)
        self.saved = time.monotonic()

    def save_if_due(self, state: State) -> None:
        if time.monotonic() - self.saved >= self.every:
            self.save(state)

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"[:300]
            raise OptionError("this file cannot be read as a checkpoint", where=str(self.path), received=what,
                              fix="delete it, or use another path") from error  # fmt: skip
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise OptionError(f"this file is no checkpoint of format {FORMAT}", where=str(self.path),
                              received=type(content).__name__, fix="delete it, or use another path")  # fmt: skip
        return content

    def _fits(self, saved: dict[str, Any]) -> None:
        """Compare names and shapes before anything is loaded."""
        ours = {name: tuple(value.shape) for name, value in self.model.state_dict().items()}
        theirs = {name: tuple(value.shape) for name, value in saved.items()}
        if ours != theirs:
            names = sorted(n for n in ours.keys() | theirs.keys() if ours.get(n) != theirs.get(n))
            first = f"'{names[0]}': {theirs.get(names[0])} in the file, {ours.get(names[0])} in the model"
            raise ModelError("the checkpoint is of another model", where=str(self.path),
                             received=f"{len(names)} differences, the first {first}",
                             fix="build the model as it was, or use another path")  # fmt: skip
