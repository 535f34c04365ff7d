"""What data there is: in the cache, installable, or where it is to be had."""

from __future__ import annotations

from . import cache
from .sets import SETS


def listing() -> str:
    """A line for each name."""
    return "\n".join(f"{name:<20}{whereabouts(name)}" for name in SETS)


def whereabouts(name: str) -> str:
    """Where one data set is, or comes from."""
    origin = SETS[name].origin
    if origin.bundled:
        return f"comes with {origin.originals}"
    if (cache.root() / name).is_dir():
        return f"installed in {cache.root() / name}"
    return origin.package or f"get {origin.originals}"
