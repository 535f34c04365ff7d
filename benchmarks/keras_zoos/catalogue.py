"""Both zoos together: which models there are, and the entry of a name."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from ..zoos.entry import Entry

ZOOS = ("applications", "hub")


def entries(zoos: Iterable[str] = ZOOS) -> list[Entry]:
    found: list[Entry] = []
    if "applications" in zoos:
        from . import applications

        found += applications.entries()
    if "hub" in zoos and find_spec("keras_hub") is not None:
        from . import hub

        found += hub.entries()
    return found


def find(name: str) -> Entry:
    """The entry of "zoo:model"."""
    return next(entry for entry in entries([name.partition(":")[0]]) if entry.name == name)
