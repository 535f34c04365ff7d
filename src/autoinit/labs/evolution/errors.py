"""What can go wrong with a run as a whole; a job that fails is an outcome, not an error."""

from __future__ import annotations

from ...errors import AutoInitError


class JournalError(AutoInitError, ValueError):
    """A file that is not a journal, a journal of another run, or one that somebody else writes to."""


class WorkError(AutoInitError, RuntimeError):
    """The function that does the work cannot be loaded, or no worker can be started."""
