"""Processes that take one task after the other, each task within limits of time and memory.

A task that crashes its process or is stopped at a limit is lost alone: its process is replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from . import memory

POLL = 0.1
"""Seconds between two looks at the limits."""
START = 300.0
"""Seconds that a process may take to begin."""
Work = Callable[[str, Callable[[dict[str, Any]], None]], dict[str, Any]]
"""(task, report) -> result; what is reported is kept if the task is lost."""


@dataclass(frozen=True)
class Limits:
    """Per task: seconds, and MB of the process. A process is replaced after some tasks, or when it stays large."""

    seconds: float = 180.0
    megabytes: float = 8192.0
    tasks: int = 40
    kept: float = 3072.0


@dataclass
class Worker:
    """A process and what it is doing."""

    process: Any
    connection: Connection
    since: float
    task: str | None = None
    known: dict[str, Any] = field(default_factory=dict)
    ready: bool = False
    finished: int = 0

    def give(self, task: str) -> None:
        self.task, self.known, self.since = task, {}, time.monotonic()
        self.connection.send(task)

    def end(self) -> None:
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.connection.close()


def run(
    tasks: Sequence[str],
    work: Work,
    jobs: int,
    limits: Limits,
    started: Callable[[str], None] = lambda task: None,
    prepare: Callable[[], None] | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(task, result) as they finish. A lost task has "outcome": "time limit", "memory limit" or "crash"."""
    waiting = list(reversed(tasks))
    workers: list[Worker] = []
    try:
        while waiting or any(w.task for w in workers):
            busy = sum(w.task is not None for w in workers)
            while len(workers) < min(jobs, busy + len(waiting)):
                workers.append(_start(work, prepare))
            for worker in workers:
                if worker.ready and worker.task is None and waiting:
                    worker.give(waiting.pop())
                    started(str(worker.task))
            wait([w.connection for w in workers], timeout=POLL)
            for worker in list(workers):
                task, result = worker.task, _look(worker, limits)
                if result is not None:
                    if result.get("outcome") == "never began":
                        raise RuntimeError(f"a worker process could not start: {result['error']}")
                    yield str(task), result
                if not worker.process.is_alive() or _spent(worker, limits):
                    worker.end()
                    workers.remove(worker)
    finally:
        for worker in workers:
            worker.end()


def _look(worker: Worker, limits: Limits) -> dict[str, Any] | None:
    """Read what the worker sent; its result if it has one or never will."""
    lost = ""
    try:
        while worker.connection.poll():
            kind, value = worker.connection.recv()
            if kind == "ready":
                worker.ready = True
            elif kind == "known":
                worker.known = value
            else:
                worker.task = None
                worker.finished += 1
                return dict(value)
    except (EOFError, OSError):
        worker.process.join(5)
        lost = "crash"
    used = time.monotonic() - worker.since
    if worker.task is None:
        if not worker.ready and (lost or used > START):
            worker.process.kill()
            return {"outcome": "never began", "error": f"exit code {worker.process.exitcode}"}
        return None
    size = memory.resident(worker.process.pid)
    if used > limits.seconds:
        lost = lost or "time limit"
    if size > limits.megabytes:
        lost = lost or "memory limit"
    if not lost:
        return None
    worker.process.kill()
    worker.process.join()
    what = {
        "crash": f"the process ended with exit code {worker.process.exitcode}",
        "time limit": f"stopped after {used:.0f} s",
        "memory limit": f"stopped at {size:.0f} MB",
    }[lost]
    worker.task = None
    return {**worker.known, "outcome": lost, "error": what, "seconds": round(used, 2)}


def _spent(worker: Worker, limits: Limits) -> bool:
    """Is it time for a fresh process?"""
    if worker.task is not None or not worker.finished:
        return False
    return worker.finished >= limits.tasks or memory.resident(worker.process.pid) > limits.kept


def _start(work: Work, prepare: Callable[[], None] | None) -> Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work, prepare), daemon=True)
    process.start()
    theirs.close()
    return Worker(process, ours, time.monotonic())


def _serve(connection: Connection, work: Work, prepare: Callable[[], None] | None) -> None:
    """The life of a worker process."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    if prepare is not None:
        prepare()
    connection.send(("ready", None))
    while True:
        try:
            task = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        connection.send(("done", work(task, lambda known: connection.send(("known", known)))))


def _end_with_parent(parent: int) -> None:
    """A worker must not outlive the run, however that ended."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
