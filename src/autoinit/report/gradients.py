"""The table of predicted (and measured) gradients."""

from __future__ import annotations

from math import sqrt

from ..core.plan.gradients import GradientData, GradientRow
from ..names import shown
from .layout import WIDTH, Column, aligned, cut, number, times

COLUMNS = (
    Column("parameter", left=True),
    Column("shape", left=True, spare=5),
    Column("|g|"),
    Column("meas.", spare=1),
    Column("ratio", spare=2),
    Column("|g|/|w|"),
    Column("chi", spare=3),
    Column("depth", spare=4),
    Column("verdict", left=True),
)


class GradientTable(GradientData):
    """Gradients of the parameters: iterable, by index or name, and a table when printed."""

    def __str__(self) -> str:
        return "\n".join(cut(shown(line), WIDTH) for line in [*problem(self), *_lines(self)])

    def __repr__(self) -> str:
        return f"<gradients of {len(self)} parameters>"


def _lines(table: GradientData) -> list[str]:
    middle = table.median_ratio
    end = f"{len(table)} parameters" + ("" if middle is None else f", median |g|/|w| of weights {number(middle)}")
    given = "for independent N(0, 1) gradients at the outputs"
    return [*aligned(COLUMNS, [_cells(row) for row in table]), "", f"{end}, {given}"]


def problem(table: GradientData) -> list[str]:
    """What the reader must see first; nothing unless it is an extreme."""
    bad = table.first_bad
    if bad is None:
        return []
    ratio = "" if bad.ratio is None else f", |g|/|w| {number(bad.ratio)}"
    return [f"first bad gradient on the way back: {bad.parameter}: |g| {number(bad.rms)}{ratio}, {bad.verdict}"]


def _cells(row: GradientRow) -> list[str]:
    measured = row.measured
    return [
        row.parameter,
        times(row.shape),
        number(row.rms),
        "" if measured is None else number(sqrt(measured)),
        "" if not measured else number(row.rms / sqrt(measured)),
        "" if row.ratio is None else number(row.ratio),
        "" if row.chi is None else f"{row.chi:.3f}",
        "" if row.depth is None else number(row.depth),
        row.verdict,
    ]
