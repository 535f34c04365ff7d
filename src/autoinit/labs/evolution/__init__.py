"""What the labs share: many evaluations in parallel, within limits, with a journal that survives anything.

    outcomes = run([Job("a", {"x": 1.0}), Job("b", {"x": 2.0})], "package.module:function", "journal.jsonl")

Nothing here knows what is evaluated. `run` carries out a list of jobs, `evolve` searches; both go on where they
were when they are called again with the same journal.
"""

from __future__ import annotations

from .engines import Engine
from .errors import JournalError, WorkError
from .evolving import History, Individual, evolve
from .jobs import Job, Limits, Outcome
from .journal import Contents, Journal, Record
from .running import run

__all__ = [
    "Contents", "Engine", "History", "Individual", "Job", "Journal", "JournalError", "Limits", "Outcome", "Record",
    "WorkError", "evolve", "run",
]  # fmt: skip
