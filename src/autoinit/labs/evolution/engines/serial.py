"""The engine "serial": one job after the other in this very process, for a debugger or a profiler.

Nothing can stop a job here, so limits are not enforced; exceptions become outcomes as everywhere else, but a crash
is a crash of the whole run. `threads` has no effect either: the libraries of this process are loaded already.
"""

from __future__ import annotations

import warnings

from ..jobs import Job, Limits, Outcome
from .protocol import Engine
from .work import load, perform


class Serial(Engine):
    def __init__(self, work: str, *, workers: int = 1, limits: Limits | None = None, threads: int | None = 1) -> None:
        super().__init__(work, workers=1, limits=limits, threads=threads)
        if self.limits != Limits():
            warnings.warn("the engine 'serial' does not enforce limits", stacklevel=2)
        self._function = load(work)
        self._job: Job | None = None

    @property
    def free(self) -> int:
        return int(self._job is None)

    def submit(self, job: Job) -> None:
        self._job = job

    def wait(self, timeout: float) -> list[Outcome]:
        if self._job is None:
            return []
        job, self._job = self._job, None  # first, so that an interrupted job is not begun again
        return [perform(self._function, job)]

    def close(self) -> None:
        self._job = None
