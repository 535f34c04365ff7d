"""What can be wrong with a data set."""

from __future__ import annotations

from ...errors import AutoInitError


class DataError(AutoInitError, ValueError):
    """A data set that is not there, cannot be installed, or whose files are not what they should be."""
