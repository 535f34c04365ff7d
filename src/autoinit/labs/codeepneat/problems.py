"""What can be wrong with a space, a genome or a task."""

from __future__ import annotations

from ...errors import AutoInitError


class SpaceError(AutoInitError, ValueError):
    """A search space that no network can come from."""


class GenomeError(AutoInitError, ValueError):
    """Not a genome of the search space: a cycle, a loose end, a value out of its range, broken JSON."""


class TaskError(AutoInitError, ValueError):
    """A task that cannot be found, or that does not keep to what a task promises."""
