"""Where a run takes place: folder of the data, device, folder of the checkpoints.

None of this changes what is computed, so it is no part of a job: a run may go on elsewhere. Workers read it from their
environment, which they inherit; machines of a Ray cluster need the variables in their own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoinit.labs.evolution.encoding import encode

DATA, DEVICE, CHECKPOINTS, LOADERS = "AUTOINIT_DATA", "AUTOINIT_DEVICE", "AUTOINIT_CHECKPOINTS", "AUTOINIT_LOADERS"


@dataclass(frozen=True)
class Place:
    """`data`: the folder that `autoinit.labs.data.load` looks in; `loaders`: threads that prepare batches ahead."""

    data: Path | None = None
    device: str = "cpu"
    checkpoints: Path | None = None
    loaders: int = 0

    def into_environment(self) -> None:
        """What is None leaves its variable as it is, but for the checkpoints, which are off then."""
        if self.data is not None:
            os.environ[DATA] = str(self.data.resolve())
        os.environ[DEVICE], os.environ[LOADERS] = self.device, str(self.loaders)
        os.environ[CHECKPOINTS] = "" if self.checkpoints is None else str(self.checkpoints.resolve())

    def discard_checkpoints(self) -> None:
        """When everything has ended there is nothing to go on with."""
        if self.checkpoints is not None:
            shutil.rmtree(self.checkpoints, ignore_errors=True)

    @classmethod
    def from_environment(cls) -> Place:
        data, checkpoints = os.environ.get(DATA), os.environ.get(CHECKPOINTS)
        return cls(
            Path(data) if data else None,
            os.environ.get(DEVICE) or "cpu",
            Path(checkpoints) if checkpoints else None,
            int(os.environ.get(LOADERS) or 0),
        )

    def checkpoint(self, payload: Mapping[str, Any]) -> Path | None:
        """The file of one job, named by all that the job is."""
        if self.checkpoints is None:
            return None
        return self.checkpoints / f"{hashlib.sha256(encode(payload).encode()).hexdigest()[:24]}.pt"
