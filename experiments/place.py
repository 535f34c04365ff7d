"""Where a run takes place: folder of the data, device, folders of the checkpoints and of searches.

None of this changes what is computed, so it is no part of a job: a run may go on elsewhere. Workers read it from their
environment, which they inherit; machines of a Ray cluster need the variables in their own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoinit.labs.evolution.encoding import encode

DATA, DEVICE, CHECKPOINTS, LOADERS = "AUTOINIT_DATA", "AUTOINIT_DEVICE", "AUTOINIT_CHECKPOINTS", "AUTOINIT_LOADERS"
RUNS = "AUTOINIT_RUNS"


@dataclass(frozen=True)
class Place:
    """data: the folder that `autoinit.labs.data.load` looks in.
    loaders: threads that prepare batches ahead.
    runs: folder of jobs that keep a journal of their own.
    """

    data: Path | None = None
    device: str = "cpu"
    checkpoints: Path | None = None
    loaders: int = 0
    runs: Path | None = None

    def into_environment(self) -> None:
        """What is None leaves its variable as it is, but for checkpoints and runs, which are off then."""
        if self.data is not None:
            os.environ[DATA] = str(self.data.resolve())
        os.environ[DEVICE], os.environ[LOADERS] = self.device, str(self.loaders)
        for name, folder in ((CHECKPOINTS, self.checkpoints), (RUNS, self.runs)):
            os.environ[name] = "" if folder is None else str(folder.resolve())

    def discard_checkpoints(self) -> None:
        """When everything has ended there is nothing to go on with."""
        if self.checkpoints is not None:
            shutil.rmtree(self.checkpoints, ignore_errors=True)

    @classmethod
    def from_environment(cls) -> Place:
        data, checkpoints, runs = (os.environ.get(name) for name in (DATA, CHECKPOINTS, RUNS))
        return cls(
            Path(data) if data else None,
            os.environ.get(DEVICE) or "cpu",
            Path(checkpoints) if checkpoints else None,
            int(os.environ.get(LOADERS) or 0),
            Path(runs) if runs else None,
        )

    def checkpoint(self, payload: Mapping[str, Any]) -> Path | None:
        """The file of one job, named by all that the job is."""
        if self.checkpoints is None:
            return None
        return self.checkpoints / f"{hashlib.sha256(encode(payload).encode()).hexdigest()[:24]}.pt"

    @contextmanager
    def run_folder(self, name: str) -> Iterator[Path]:
        """The folder of one such job; one that is gone afterwards where none are kept."""
        if self.runs is not None:
            yield self.runs / name
            return
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / name
