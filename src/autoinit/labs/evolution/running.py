"""Many independent evaluations, a few at a time, each of them once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from ...errors import OptionError
from .encoding import normalised, same
from .engines import Engine, engine_class
from .engines.work import check_name
from .errors import JournalError
from .jobs import STATUSES, Job, Limits, Outcome
from .journal import Journal
from .progress import Silent, watcher

PATIENCE = 0.5
"""Seconds between two looks at the progress."""


def run(
    jobs: Iterable[Job],
    work: str,
    journal: Path | str,
    *,
    engine: str | type[Engine] = "processes",
    workers: int = 2,
    limits: Limits | None = None,
    threads: int | None = 1,
    progress: bool = True,
    title: str = "",
    retry: Iterable[str] = (),
    config: Mapping[str, Any] | None = None,
) -> dict[str, Outcome]:
    """Carry out the jobs that the journal does not have yet; return every outcome in the journal.

    jobs: taken one by one as workers become free.
    work: "package.module:function"; the function takes a job's payload and returns a dict.
    retry: how jobs must have ended to be tried again, e.g. ("time", "crashed").
    config: what the run is; a journal that was begun with another one is refused.

    Interrupting it (Ctrl-C, or any signal) ends the workers; the same call goes on where it was.
    """
    again = _statuses(retry)
    start = starter(engine, work, workers, limits, threads)
    listed = isinstance(jobs, Sequence)
    total = len(jobs) if isinstance(jobs, Sequence) else None
    with Journal(journal, {"work": work, **(config or {})}) as book, watcher(progress, title, total) as show:
        payloads: dict[str, dict[str, Any]] = {}
        repeated: set[str] = set()

        def is_done(job: Job) -> bool:
            return job.key in book.records and book.records[job.key].outcome.status not in again

        for job in jobs if listed else ():  # all of them now, wherever they stand: the estimate counts on it
            if is_done(job):
                show.add(book.records[job.key].outcome, fresh=False)

        def unfinished() -> Iterator[Job]:
            for job in jobs:
                payload = _checked(job, payloads)
                payloads[job.key] = payload
                record = book.records.get(job.key)
                if record is not None and not same(record.payload, payload):
                    raise JournalError("the journal has this key with another payload", where=f"job '{job.key}'",
                                       received=f"{record.payload} in {book.path}, {payload} now",
                                       fix="give it another key, or the run another journal")  # fmt: skip
                if record is not None and is_done(job):
                    if not listed:
                        show.add(record.outcome, fresh=False)
                    continue
                if record is not None:
                    repeated.add(job.key)
                yield Job(job.key, payload)

        def finished(outcome: Outcome) -> None:
            book.append(outcome, payloads[outcome.key], again=outcome.key in repeated)
            show.add(outcome)

        drive(start, unfinished(), finished, show)
        return book.outcomes


def drive(start: Callable[[], Engine], jobs: Iterator[Job], finished: Callable[[Outcome], None], show: Silent) -> None:
    """Keep an engine busy. A job is asked for only when it can begin; without jobs no engine is started."""
    first = next(jobs, None)
    if first is None:
        return
    with start() as engine:
        keep_busy(engine, chain([first], jobs), finished, show)


def keep_busy(engine: Engine, jobs: Iterator[Job], finished: Callable[[Outcome], None], show: Silent) -> None:
    """Give jobs to a running engine until all have ended."""
    running, more = 0, True
    try:
        while more or running:
            while more and engine.free:
                job = next(jobs, None)
                if job is None:
                    more = False
                else:
                    engine.submit(job)
                    running += 1
            for outcome in engine.wait(PATIENCE) if running or more else ():
                running -= 1
                finished(outcome)
            show.tick()
    except KeyboardInterrupt:
        for outcome in engine.wait(0):
            finished(outcome)
        raise


def starter(
    engine: str | type[Engine], work: str, workers: int, limits: Limits | None, threads: int | None
) -> Callable[[], Engine]:
    """Checks the options now; makes the engine when it is called."""
    chosen = engine_class(engine)
    for name, value in (("workers", workers), ("threads", 1 if threads is None else threads)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise OptionError(f"'{name}' takes a positive integer", received=repr(value), fix=f"{name}=2")
    check_name(work)
    return lambda: chosen(work, workers=workers, limits=limits, threads=threads)


def _statuses(retry: Iterable[str]) -> set[str]:
    given = {retry} if isinstance(retry, str) else set(retry)
    if not given <= set(STATUSES):
        raise OptionError("unknown status", where="retry", received=", ".join(sorted(given - set(STATUSES))),
                          fix=f"some of {', '.join(STATUSES)}")  # fmt: skip
    return given


def _checked(job: Job, taken: Mapping[str, Any]) -> dict[str, Any]:
    if job.key in taken:
        raise OptionError("two jobs have the same key", where=f"job '{job.key}'", received=repr(job.payload),
                          fix="give every job its own key")  # fmt: skip
    return json_payload(job)


def json_payload(job: Job) -> dict[str, Any]:
    try:
        payload: dict[str, Any] = normalised(job.payload)
    except TypeError as error:
        raise OptionError("the payload cannot be written as JSON", where=f"job '{job.key}'", received=str(error),
                          fix="use dicts, lists, texts, numbers, booleans and None") from error  # fmt: skip
    return payload
