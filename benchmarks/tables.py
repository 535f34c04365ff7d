"""One table, three ways out: rich in a terminal, plain text elsewhere, Markdown for a file."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field


@dataclass
class Table:
    """Title, column heads, rows of strings, and a sentence that says how to read it."""

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    caption: str = ""

    def add(self, *cells: object) -> None:
        self.rows.append([str(c) for c in cells])

    def show(self) -> None:
        """Print: with rich if it is installed and a person is watching."""
        if sys.stdout.isatty():
            try:
                self._rich()
                return
            except ImportError:
                pass
        print(self.text(), flush=True)

    def text(self) -> str:
        widths = [max(len(r[k]) for r in [self.columns, *self.rows]) for k in range(len(self.columns))]

        def line(cells: list[str]) -> str:
            first = cells[0].ljust(widths[0])
            return "  ".join([first, *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))]).rstrip()

        body = [self.title, "", line(self.columns), line(["-" * w for w in widths]), *map(line, self.rows)]
        return "\n".join([*body, *(["", self.caption] if self.caption else []), ""])

    def markdown(self) -> str:
        def line(cells: list[str]) -> str:
            return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"

        rule = "|---" + "|---:" * (len(self.columns) - 1) + "|"
        body = [f"## {self.title}", "", line(self.columns), rule, *map(line, self.rows)]
        return "\n".join([*body, *(["", self.caption] if self.caption else []), ""])

    def _rich(self) -> None:
        from rich.console import Console
        from rich.table import Table as RichTable

        made = RichTable(title=self.title, caption=self.caption or None, title_justify="left", caption_justify="left")
        for k, name in enumerate(self.columns):
            made.add_column(name, justify="left" if k == 0 else "right")
        for row in self.rows:
            made.add_row(*row)
        Console().print(made)


def percent(share: float) -> str:
    """A share as a percentage that never rounds up to 100."""
    if share != share:
        return "-"
    return "100 %" if share == 1 else f"{min(100 * share, 99.9):.1f} %"


def number(value: float) -> str:
    return "-" if value != value else f"{value:.3g}"
