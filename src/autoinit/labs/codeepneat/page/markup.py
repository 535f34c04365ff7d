"""Text for pages: everything that comes from elsewhere is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ....names import shown


def safe(text: object) -> str:
    """Nothing in it is markup, moves or hides."""
    return escape(shown(str(text)))


def number(value: float) -> str:
    """A place in a drawing."""
    return f"{value:.1f}".removesuffix(".0")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Cells are texts, not markup."""
    heads = "".join(f"<th>{safe(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{safe(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'


def legend(entries: Iterable[tuple[str, str]]) -> str:
    """Class of the mark, and its name."""
    marks = "".join(f'<span><i class="{mark}"></i>{safe(name)}</span>' for mark, name in entries)
    return f'<p class="legend">{marks}</p>'
