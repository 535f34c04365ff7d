"""The engine "ray": the same workers on all machines of a Ray cluster.

Each Ray actor is a supervisor that runs one worker process on its machine with the engine "processes", so limits,
crashes and messages are what they are there. Ray distributes the supervisors and says when a machine is lost: then
the job is tried once more elsewhere. Only the driver, the process that calls `run`, writes to the journal.

The cluster is the one that Ray is connected to already, or that `RAY_ADDRESS` names, or a local one that is started
for the run. The other machines need autoinit and the module of the work function installed. `AUTOINIT_RAY_GPUS`
says how much of an accelerator each worker gets (1, 0.5, …); without it, none.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Any

from ....errors import OptionError
from ..errors import WorkError
from ..jobs import Job, Limits, Outcome
from .processes import STARTS, Processes
from .protocol import Engine

GPUS = "AUTOINIT_RAY_GPUS"
TRIES = 2
"""How often a job is begun when the machines under it are lost."""


class Supervisor:
    """What runs inside a Ray actor."""

    def __init__(self, path: list[str], work: str, limits: Limits, threads: int | None) -> None:
        sys.path += [entry for entry in path if entry not in sys.path and os.path.exists(entry)]
        self._engine = Processes(work, workers=1, limits=limits, threads=threads)

    def ready(self) -> None:
        """Answers once the actor has its place."""

    def perform(self, key: str, payload: dict[str, Any]) -> dict[str, Any]:
        self._engine.submit(Job(key, payload))
        while True:
            for outcome in self._engine.wait(60):
                return outcome.to_dict()


def _share_of_gpu() -> float:
    given = os.environ.get(GPUS, "0")
    try:
        share = float(given)
    except ValueError:
        share = -1.0
    if not 0 <= share < float("inf"):
        raise OptionError("takes a number of accelerators for each worker", where=f"${GPUS}", received=repr(given),
                          fix=f"{GPUS}=1")  # fmt: skip
    return share


class Cluster(Engine):
    def __init__(self, work: str, *, workers: int = 2, limits: Limits | None = None, threads: int | None = 1) -> None:
        super().__init__(work, workers=workers, limits=limits, threads=threads)
        try:
            import ray
        except ImportError as error:
            raise WorkError("the engine 'ray' needs Ray", where="engine", fix="pip install 'ray[default]'") from error
        self._ray: Any = ray
        self._gpus = _share_of_gpu()
        self._started = not ray.is_initialized()
        if self._started:
            self._connect()
        self._actors: dict[Any, Any] = {}  # the reference that tells when an actor is ready: the actor
        self._idle: list[Any] = []
        self._running: dict[Any, tuple[Any, Job, float]] = {}  # reference of the result: actor, job, begin
        self._lost: dict[str, int] = {}
        self._failed_starts = 0
        self._again: list[Job] = []
        for _ in range(workers):
            self._begin_actor()

    def _connect(self) -> None:
        quiet = {"log_to_driver": False, "logging_level": "error"}
        address = os.environ.get("RAY_ADDRESS")
        if address:
            self._ray.init(address=address, **quiet)
        else:
            self._ray.init(address="local", num_cpus=self.workers, include_dashboard=False, **quiet)

    def _begin_actor(self) -> None:
        kind = self._ray.remote(num_cpus=self.threads or 1, num_gpus=self._gpus, max_restarts=0)(Supervisor)
        path = [os.path.abspath(entry) for entry in sys.path]
        actor = kind.remote(path, self.work, self.limits, self.threads)
        self._actors[actor.ready.remote()] = actor

    @property
    def free(self) -> int:
        """Places that the cluster has really given; those it still owes join when they come."""
        return max(0, len(self._idle) - len(self._again))

    def submit(self, job: Job) -> None:
        actor = self._idle.pop()
        self._running[actor.perform.remote(job.key, dict(job.payload))] = (actor, job, time.monotonic())

    def wait(self, timeout: float) -> list[Outcome]:
        references = [*self._actors, *self._running]
        if not references:
            return []
        ready, _ = self._ray.wait(references, num_returns=1, timeout=timeout)
        ended = []
        for reference in ready:
            if reference in self._actors:
                self._arrived(reference)
            else:
                outcome = self._ended(reference)
                ended += [outcome] if outcome is not None else []
        while self._again and self._idle:
            self.submit(self._again.pop())
        return ended

    def _arrived(self, reference: Any) -> None:
        actor = self._actors.pop(reference)
        try:
            self._ray.get(reference)
        except self._ray.exceptions.RayActorError as error:
            self._failed_starts += 1
            if self._failed_starts > STARTS * self.workers:
                raise WorkError("no worker can be started on the cluster", where=self.work, received=str(error),
                                fix="install autoinit on its machines; Ray's logs say more") from error  # fmt: skip
            self._begin_actor()
        else:
            self._failed_starts = 0
            self._idle.append(actor)

    def _ended(self, reference: Any) -> Outcome | None:
        actor, job, begin = self._running.pop(reference)
        try:
            outcome = Outcome.from_dict(self._ray.get(reference))
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            return self._lost_machine(job, time.monotonic() - begin, error)
        self._idle.append(actor)
        return outcome

    def _lost_machine(self, job: Job, seconds: float, error: Exception) -> Outcome | None:
        self._begin_actor()
        self._lost[job.key] = self._lost.get(job.key, 0) + 1
        if self._lost[job.key] < TRIES:
            self._again.append(job)
            return None
        return Outcome(job.key, "crashed", None, seconds, None, f"its machine was lost {TRIES} times: {error}")

    def close(self) -> None:
        for actor in [*self._actors.values(), *self._idle, *(actor for actor, _, _ in self._running.values())]:
            with contextlib.suppress(Exception):  # it, or the whole cluster, may be gone already
                self._ray.kill(actor)
        self._actors, self._idle, self._running = {}, [], {}
        if self._started:
            self._ray.shutdown()
