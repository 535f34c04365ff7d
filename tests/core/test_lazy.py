"""Attributes that are worked out once: no lock is left behind by whatever interrupts the work."""

from __future__ import annotations

import ast
import threading
from pathlib import Path

import pytest

from autoinit.core.lazy import lazy

SOURCE = Path(__file__).parents[2] / "src"


class Thing:
    calls = 0

    @lazy
    def value(self) -> int:
        """What it is."""
        Thing.calls += 1
        if Thing.calls == 1:
            raise KeyboardInterrupt
        return 7


def test_once_and_after_an_interrupt_again() -> None:
    thing = Thing()
    with pytest.raises(KeyboardInterrupt):
        _ = thing.value
    found: list[int] = []
    other = threading.Thread(target=lambda: found.append(thing.value), daemon=True)
    other.start()
    other.join(10)
    assert found == [7] and thing.value == 7 and Thing.calls == 2
    assert Thing.value.__doc__ == "What it is."


def test_nobody_uses_the_one_with_a_lock() -> None:
    for path in SOURCE.rglob("*.py"):
        names = {n.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)
                 for n in node.names}  # fmt: skip
        assert "cached_property" not in names, path
