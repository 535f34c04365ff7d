"""The worker's side of the engine "processes": a process that imports the work once and takes jobs from a pipe.

Lines of JSON come in on its standard input (jobs) and go out on its standard output (events: "ready" or "failed"
once, then "begin" and "end" for each job). What the work itself prints goes to standard error.
"""

from __future__ import annotations

import faulthandler
import os
import queue
import signal
import sys
import threading
from typing import Any, TextIO

from ..encoding import decode, encode
from ..errors import WorkError
from ..jobs import Job
from .work import load, perform


def main(work: str) -> None:
    inbox, outbox = _take_over_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable(all_threads=False)
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(inbox, jobs), daemon=True).start()
    try:
        function = load(work)
    except WorkError as error:
        _say(outbox, "failed", why=error.why, where=error.where, received=str(error.received), fix=error.fix)
        return
    _say(outbox, "ready")
    while True:
        job = jobs.get()
        _empty_output()
        _say(outbox, "begin")
        _say(outbox, "end", outcome=perform(function, job).to_dict())


def _take_over_pipes() -> tuple[TextIO, TextIO]:
    """Keep the pipes for ourselves; the work reads nothing, and prints to standard error."""
    inbox, outbox = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return inbox, outbox


def _listen(inbox: TextIO, jobs: queue.SimpleQueue[Job]) -> None:
    """Everywhere: the pipe ends when the parent is gone, and the worker with it."""
    for line in inbox:
        message = decode(line)
        jobs.put(Job(message["key"], message["payload"]))
    os._exit(1)


def _empty_output() -> None:
    """What earlier jobs printed is of no use to anybody: the output is kept to explain a crash."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.ftruncate(2, 0)
    os.lseek(2, 0, os.SEEK_SET)


def _say(outbox: TextIO, event: str, **more: Any) -> None:
    outbox.write(encode({"event": event, **more}) + "\n")
    outbox.flush()
