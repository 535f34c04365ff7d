"""Markdown tables and the numbers in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .trials import mostly_diverged


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; bars inside cells are escaped."""
    lines = [_line(head), "|" + "---|" * len(head), *(_line(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def accuracy(spread: Mapping[str, Any] | None) -> str:
    """Median and range in percent; "-" where most runs diverged; nothing where there was no run with a result."""
    if spread is None:
        return ""
    failed = f", {spread['failed']} failed" if spread["failed"] else ""
    if mostly_diverged(spread):
        return "-" + failed
    shown = percent(spread["median"])
    if spread["runs"] > 1:
        shown += f" ({percent(spread['low'])} to {percent(spread['high'])})"
    return shown + (f", {spread['diverged']} of {spread['runs']} diverged" if spread["diverged"] else "") + failed


def number(value: Any) -> str:
    """0.01, 1e-08, 64: as short as possible."""
    return f"{value:g}" if isinstance(value, float) else str(value)
