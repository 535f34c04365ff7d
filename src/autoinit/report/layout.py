"""Columns of text: one width each, as many as fit."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 120
READABLE, SHORTEST = 24, 12
"""Columns are left out before the first one gets narrower than READABLE; it never gets narrower than SHORTEST."""
GAP = 2


@dataclass(frozen=True, slots=True)
class Column:
    """A head, the side its cells are flush with, and when it is left out: high numbers first, 0 never."""

    head: str
    left: bool = False
    spare: int = 0


def aligned(columns: Sequence[Column], rows: Sequence[Sequence[str] | str], width: int = WIDTH) -> list[str]:
    """Heads, a rule and rows; a plain string is a line of its own.

    Columns in which no row says anything are left out, then spare ones and the middle of long names until lines fit.
    """
    full = [r for r in rows if not isinstance(r, str)]
    keep = [k for k, _ in enumerate(columns) if not full or any(r[k] for r in full)]
    widths = {k: max(len(r[k]) for r in [[c.head for c in columns], *full]) for k in keep}
    spare = sorted((k for k in keep if columns[k].spare), key=lambda k: -columns[k].spare)
    while spare and _needed(widths) > width:
        del widths[spare.pop(0)]
    keep = list(widths)
    widths[0] = min(widths[0], max(width - _needed({**widths, 0: 0}), SHORTEST))

    def line(cells: Sequence[str]) -> str:
        shown = [shortened(cells[k], widths[k]) for k in keep]
        padded = [
            c.ljust(widths[k]) if columns[k].left else c.rjust(widths[k]) for k, c in zip(keep, shown, strict=True)
        ]
        return (" " * GAP).join(padded).rstrip()

    rule = "─" * (sum(widths.values()) + GAP * (len(widths) - 1))
    return [line([c.head for c in columns]), rule, *(cut(r, width) if isinstance(r, str) else line(r) for r in rows)]


def _needed(widths: dict[int, int]) -> int:
    """Columns of a line with names of readable length."""
    return min(widths[0], READABLE) + sum(w for k, w in widths.items() if k) + GAP * (len(widths) - 1)


def shortened(name: str, longest: int) -> str:
    """Both ends of a module's path tell more than its middle."""
    head = longest // 3
    return name if len(name) <= longest else f"{name[:head]}…{name[-(longest - head - 1) :]}"


def cut(line: str, width: int = WIDTH) -> str:
    return line if len(line) <= width else line[: width - 1] + "…"


def wrapped(line: str, width: int = WIDTH) -> str:
    """A sentence as lines that fit; what follows the first is indented."""
    return textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False)


def number(value: float | None) -> str:
    """Three digits or so."""
    if value is None or value != value:
        return "nan"
    if abs(value) < 5e-17:  # what rounding leaves of a mean of zero
        return "0"
    return f"{value:.3f}" if 0.01 <= abs(value) < 1000 else f"{value:.2e}"


def times(shape: Sequence[int]) -> str:
    return "×".join(str(n) for n in shape)
