"""What an engine is: something that takes jobs, and says how they ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType

from ..jobs import Job, Limits, Outcome


class Engine(ABC):
    """Carries out jobs with `workers` at once. A new engine is a subclass with the four members below.

    work: "package.module:function"; the function takes a payload and returns a dict.
    threads: how many threads numerical libraries may use in one worker; None leaves that to them.

    A job that fails is an outcome. An exception from an engine means that the run cannot go on.
    """

    def __init__(self, work: str, *, workers: int = 2, limits: Limits | None = None, threads: int | None = 1) -> None:
        self.work, self.workers, self.limits, self.threads = work, workers, limits or Limits(), threads

    @property
    @abstractmethod
    def free(self) -> int:
        """How many jobs it would take now."""

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Take a job; only called while `free` is positive."""

    @abstractmethod
    def wait(self, timeout: float) -> list[Outcome]:
        """The jobs that ended: returns as soon as there is one, with none after `timeout` seconds."""

    @abstractmethod
    def close(self) -> None:
        """End all workers at once, whatever they are doing."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
