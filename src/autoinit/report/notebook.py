"""Plans and measurements as a compact static table for notebooks: no script, styles in place, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from ..core.plan.measured import MeasurementData
from ..core.plan.plan import PlanData
from .data import first_problem, layer_rows, measured_rows
from .fold import Fold, fold
from .layout import Column
from .text import (
    MEASUREMENT_COLUMNS,
    PLAN_COLUMNS,
    closeness,
    folded_details,
    measured_cells,
    measurement_title,
    plan_cells,
    problem_line,
    problems,
    span,
    summary,
    title,
)

COLOURS = {
    "ok": "#2f9e5b",
    "low": "#c98a10",
    "high": "#c98a10",
    "vanishing": "#d64545",
    "exploding": "#d64545",
    "invalid": "#d64545",
}
"""Readable on light and on dark backgrounds."""
FAINT = "opacity:.65"


def plan_html(plan: PlanData) -> str:
    rows = layer_rows(plan)
    cells = [_folded(item) if isinstance(item, Fold) else plan_cells(item) for item in fold(rows)]
    return html_table(title(plan), problems(plan, rows), PLAN_COLUMNS, cells, summary(plan, rows))


def measurement_html(measurement: MeasurementData) -> str:
    rows = measured_rows(measurement)
    bad = first_problem(measurement)
    lines = [] if bad is None else [problem_line(next(r for r in rows if r.index == bad.index))]
    cells = [_folded(item) if isinstance(item, Fold) else measured_cells(item) for item in fold(rows)]
    return html_table(measurement_title(measurement), lines, MEASUREMENT_COLUMNS, cells, closeness(measurement))


def _folded(item: Fold[Any]) -> tuple[str, str]:
    """(names, what they are like): a row of two cells."""
    return span(item), f"as {item.like} ({folded_details(item)})"


def html_table(
    heading: str,
    lines: Sequence[str],
    columns: Sequence[Column],
    rows: Sequence[list[str] | tuple[str, str]],
    summary: str,
) -> str:
    """Lines over a table and one under it; a row of two cells is a fold."""
    full = [r for r in rows if isinstance(r, list)]
    keep = [k for k, _ in enumerate(columns) if not full or any(r[k] for r in full)]
    parts = [
        '<div style="font-size:13px;line-height:1.35;overflow-x:auto">',
        f'<div style="font-weight:600;margin:2px 0 4px">{escape(heading)}</div>',
        *(f'<div style="{_line_style(line)}">{escape(line)}</div>' for line in lines),
        '<table style="border-collapse:collapse;margin:6px 0;font-size:inherit;font-variant-numeric:tabular-nums">',
        "<thead><tr>",
        *(f'<th style="{_cell_style(columns[k])};border-bottom:1px solid #8888">{columns[k].head}</th>' for k in keep),
        "</tr></thead><tbody>",
    ]
    for row in rows:
        if isinstance(row, tuple):
            names, like = map(escape, row)
            style = f"text-align:left;padding:2px 8px;{FAINT}"
            parts.append(
                f'<tr><td style="{style}">{names}</td><td colspan="{len(keep) - 1}" style="{style}">{like}</td></tr>'
            )
            continue
        styles = [_cell_style(columns[k]) + (_verdict_style(row[k]) if k == keep[-1] else "") for k in keep]
        cells = [f'<td style="{style}">{escape(row[k])}</td>' for k, style in zip(keep, styles, strict=True)]
        parts.append(f"<tr>{''.join(cells)}</tr>")
    parts += ["</tbody></table>", f'<div style="{FAINT}">{escape(summary)}</div></div>']
    return "".join(parts)


def _line_style(line: str) -> str:
    return f"color:{COLOURS['invalid']};font-weight:600" if line.startswith("first problem") else FAINT


def _cell_style(column: Column) -> str:
    return f"text-align:{'left' if column.left else 'right'};padding:2px 8px;white-space:nowrap"


def _verdict_style(cell: str) -> str:
    return f";color:{COLOURS[cell]};font-weight:600" if cell in COLOURS else ""
