"""The parent's side of one worker process."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

from ..encoding import decode, encode
from ..jobs import Job
from ..memory import resident_bytes
from .work import without_folders

START = Path(__file__).with_name("start.py")
THREADS = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS",
)  # fmt: skip
KEPT = 4000
"""How many characters of the output of a worker that died are kept."""

Event = tuple["WorkerProcess", dict[str, Any] | None]


class WorkerProcess:
    """Starts a fresh interpreter (never a fork) with this process's import path; its events arrive in a queue.

    The last event of a worker is None: its pipe has ended, so it is dead.
    """

    def __init__(self, work: str, threads: int | None, events: queue.SimpleQueue[Event]) -> None:
        environment = dict(os.environ)
        if threads is not None:
            environment |= dict.fromkeys(THREADS, str(threads))
        given = {
            "path": [os.path.abspath(entry) for entry in sys.path],
            "work": work,
            "parent": os.getpid(),
            # Linux ties a child to the thread that started it; only the main thread lives as long as the process.
            "tied": threading.current_thread() is threading.main_thread(),
        }
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  (closed in `kill`)
        self.process = subprocess.Popen(
            [sys.executable, str(START), encode(given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            env=environment,
            start_new_session=True,
            encoding="utf-8",
        )
        self.job: Job | None = None
        self.began: float | None = None
        self.alive = True
        self.idle_bytes: int | None = None
        self.peak: int | None = None
        threading.Thread(target=self._listen, args=(self.process.stdout, events), daemon=True).start()

    def _listen(self, pipe: IO[str], events: queue.SimpleQueue[Event]) -> None:
        with contextlib.suppress(ValueError, OSError):  # a line cut short by death, or a pipe closed by `kill`
            for line in pipe:
                events.put((self, decode(line)))
        events.put((self, None))

    def send(self, job: Job) -> None:
        self.job, self.began, self.peak = job, None, None
        pipe = self.process.stdin
        assert pipe is not None
        with contextlib.suppress(BrokenPipeError):  # it has died; its last event says so
            pipe.write(encode({"key": job.key, "payload": job.payload}) + "\n")
            pipe.flush()

    @property
    def seconds(self) -> float:
        """How long the job has been running; loading the work does not count."""
        return 0.0 if self.began is None else time.monotonic() - self.began

    def resident(self) -> int:
        now = resident_bytes(self.process.pid) or 0
        self.peak = max(self.peak or 0, now)
        return now

    def output(self) -> str:
        """The last it printed, or what the interpreter said when it crashed."""
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - KEPT))
        text = self._output.read().decode(errors="replace").partition("\nExtension modules:")[0]
        return without_folders(text.strip())

    def kill(self) -> int:
        """End it and all that it started; returns how it ended, as `subprocess` counts."""
        self.alive = False
        self.end_group()
        self.process.kill()
        code = self.process.wait()
        for pipe in (self.process.stdin, self._output):
            with contextlib.suppress(OSError):  # a job that it never read
                if pipe is not None:
                    pipe.close()
        return code

    def end_group(self) -> None:
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
