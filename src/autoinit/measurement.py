"""A measurement as users have it: predicted beside measured, with tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .core.plan.measured import Key, MeasurementData, Moments, Result, Row, key_of
from .plans import Plan
from .report.gradients import GradientTable
from .report.notebook import measurement_html
from .report.page import page
from .report.plot import plot
from .report.terminal import coloured, show
from .report.text import measurement_table


class Measurement(MeasurementData):
    """Rows in the order of execution, and the prediction (a `check` plan) that they belong to."""

    __slots__ = ()
    plan: Plan

    def __str__(self) -> str:
        return measurement_table(self)

    @property
    def gradients(self) -> GradientTable:
        """Predicted and measured gradients, with ``gradients=True``: iterate over it, or print it."""
        return GradientTable(self.plan.gradients.measured(self.gradient_seconds))

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        yield coloured(self, options.max_width)

    def _repr_html_(self) -> str:
        return measurement_html(self)

    def show(self) -> None:
        """Print the table; in a terminal with rich installed in colour."""
        show(self)

    def plot(
        self,
        path: str | Path | None = None,
        *,
        labels: Sequence[str] | None = None,
        title: str | None = None,
        compare: Mapping[str, Result] | None = None,
    ) -> Any:
        """Draw predicted and measured variance and mean against depth; see `Plan.plot`."""
        return plot(self, path, labels=labels, title=title, compare=compare)

    def to_html(self, path: str | Path | None = None, *, default: Result | None = None) -> str:
        """The prediction and what was measured, as one interactive page (see `Plan.to_html`)."""
        return page(self.plan, path, default=default, measured=self)


__all__ = ["Key", "Measurement", "Moments", "Row", "key_of"]
