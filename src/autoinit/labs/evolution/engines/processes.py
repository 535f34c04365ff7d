"""The engine "processes": long-lived workers on this machine, each job within its limits of time and memory.

The parent watches: a worker whose job takes too long or whose resident set grows too large is killed (SIGKILL, with
all that it started) and replaced, so no job can evade its limits. Memory is looked at every `TICK` seconds: what is
allocated and touched faster than that can exceed the limit for a moment.
"""

from __future__ import annotations

import os
import queue
import signal
import time
from typing import Any

from ....errors import OptionError
from ..errors import WorkError
from ..jobs import Job, Limits, Outcome
from ..memory import resident_bytes
from .handle import Event, WorkerProcess
from .protocol import Engine

TICK = 0.02
STARTS = 3
"""How often in a row a worker may die before it has begun its job, until the run is given up."""
GROWTH = 0.25
"""A worker that holds so much of the memory limit more than at first is replaced before the next job."""


class Processes(Engine):
    def __init__(self, work: str, *, workers: int = 2, limits: Limits | None = None, threads: int | None = 1) -> None:
        super().__init__(work, workers=workers, limits=limits, threads=threads)
        if self.limits.bytes is not None and resident_bytes(os.getpid()) is None:
            raise OptionError("nothing on this system tells how much memory a process holds", where="limits",
                              received=repr(self.limits), fix="install psutil, or leave 'bytes' out")  # fmt: skip
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._idle: list[WorkerProcess] = []
        self._busy: list[WorkerProcess] = []
        self._failed_starts = 0

    @property
    def free(self) -> int:
        return self.workers - len(self._busy)

    def submit(self, job: Job) -> None:
        worker = self._idle.pop() if self._idle else WorkerProcess(self.work, self.threads, self._events)
        self._busy.append(worker)
        worker.send(job)

    def wait(self, timeout: float) -> list[Outcome]:
        end = time.monotonic() + timeout
        ended: list[Outcome] = []
        while not ended:
            left = end - time.monotonic()
            ended += self._events_within(min(TICK, max(left, 0.0)))
            ended += self._over_their_limits()
            if left <= 0:
                break
        return ended

    def close(self) -> None:
        for worker in [*self._busy, *self._idle]:
            worker.kill()
        self._busy, self._idle = [], []

    def _events_within(self, timeout: float) -> list[Outcome]:
        ended: list[Outcome] = []
        while True:
            try:
                worker, event = self._events.get(timeout=timeout) if timeout else self._events.get_nowait()
            except queue.Empty:
                return ended
            timeout = 0.0
            if worker.alive:
                outcome = self._died(worker) if event is None else self._heard(worker, event)
                ended += [outcome] if outcome is not None else []

    def _heard(self, worker: WorkerProcess, event: dict[str, Any]) -> Outcome | None:
        if event["event"] == "failed":
            raise WorkError(event["why"], where=event["where"], received=event["received"], fix=event["fix"])
        if event["event"] == "ready":
            worker.idle_bytes = resident_bytes(worker.process.pid)
        elif event["event"] == "begin":
            worker.began, self._failed_starts = time.monotonic(), 0
        elif event["event"] == "end":
            outcome = Outcome.from_dict(event["outcome"])
            resident = worker.resident()
            self._busy.remove(worker)
            worker.job = None
            if outcome.status == "memory" or self._has_grown(worker, resident):
                worker.kill()
            else:
                self._idle.append(worker)
            return outcome
        return None

    def _has_grown(self, worker: WorkerProcess, resident: int) -> bool:
        """What earlier jobs left behind must not count against the next one."""
        limit = self.limits.bytes
        return limit is not None and resident - (worker.idle_bytes or 0) > GROWTH * limit

    def _died(self, worker: WorkerProcess) -> Outcome | None:
        output = worker.output()
        seconds, peak, job, begun = worker.seconds, worker.peak, worker.job, worker.began is not None
        code = worker.kill()
        if job is None:
            self._idle.remove(worker)
            return None
        self._busy.remove(worker)
        if begun:
            return Outcome(job.key, "crashed", None, seconds, peak, f"{_how(code)}\n{output}".strip())
        self._failed_starts += 1
        if self._failed_starts >= STARTS:
            raise WorkError(f"{STARTS} workers in a row died before they began their job", where=self.work,
                            received=f"{_how(code)}\n{output}", fix="import the module by hand to see why")  # fmt: skip
        self.submit(job)
        return None

    def _over_their_limits(self) -> list[Outcome]:
        ended = []
        for worker in list(self._busy):
            if worker.process.poll() is not None:
                worker.end_group()  # whoever it left behind holds its pipe open
                continue
            resident = worker.resident() if self.limits.bytes is not None else 0
            if self.limits.seconds is not None and worker.seconds > self.limits.seconds:
                ended.append(self._stop(worker, "time", f"stopped after {self.limits.seconds:g} s"))
            elif self.limits.bytes is not None and resident > self.limits.bytes:
                ended.append(self._stop(worker, "memory", f"stopped at {resident} of {self.limits.bytes} bytes"))
        return ended

    def _stop(self, worker: WorkerProcess, status: str, message: str) -> Outcome:
        job, seconds = worker.job, worker.seconds
        assert job is not None
        if worker.began is None:
            raise WorkError("loading the work function alone takes more memory than a job may have", where=self.work,
                            received=message, fix="raise Limits(bytes=...)")  # fmt: skip
        worker.kill()
        self._busy.remove(worker)
        return Outcome(job.key, status, None, seconds, worker.peak, message)


def _how(code: int) -> str:
    if code >= 0:
        return f"the worker ended with code {code}"
    hint = " (by the system, perhaps for want of memory)" if -code == signal.SIGKILL else ""
    name = {each.value: each.name for each in signal.Signals}.get(-code, f"signal {-code}")
    return f"the worker was ended by {name}{hint}"
