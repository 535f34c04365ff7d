"""No test sees the data of the person who runs it."""

from tests.labs.data.conftest import cache_directory

__all__ = ["cache_directory"]
