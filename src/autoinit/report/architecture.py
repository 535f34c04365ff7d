"""A model as a table: its layers in the order of execution, what they put out, how many parameters they have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from math import isclose, prod
from typing import Any

from ..core.plan.layers import SEPARATORS
from ..core.plan.plan import PlanData, TensorPlan
from ..core.plan.verdicts import PROBLEMS
from ..names import shown
from .data import layer_rows, short_op
from .fold import Fold, fold
from .layout import WIDTH, Column, aligned, cut, number, times
from .notebook import html_table

SAME = 1e-9
COLUMNS = (
    Column("layer", left=True), Column("op", left=True, spare=1), Column("output", left=True, spare=2),
    Column("parameters"), Column("std", spare=4), Column("mean", spare=3), Column("variance"),
    Column("verdict", left=True),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One operation of a layer."""

    name: str
    op: str
    shape: tuple[int, ...]
    parameters: int
    """Numbers in the parameters that it has; those of a layer that is called twice count at its first call."""
    std: float | None
    """What its weight is drawn with; None if nothing is drawn, as in a summary of the present weights."""
    mean: float
    variance: float
    """Predicted for the whole output."""
    verdict: str
    """Of a weight layer, otherwise empty."""
    index: int


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """What `autoinit.summary` returns: printed, the table of a model's architecture."""

    model: str
    checked: bool
    """Of the weights that the model has, not of those that it would get."""
    rows: tuple[SummaryRow, ...]
    parameters: int
    """Numbers in all parameters of the model."""
    frozen: int
    """Of these, in parameters that are not trained."""

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<Summary of {shown(self.model)}: {self.last_line()}>"

    def _repr_html_(self) -> str:
        cells = [folded_cells(item) if isinstance(item, Fold) else row_cells(item) for item in fold(list(self.rows))]
        return html_table(self.heading(), [], COLUMNS, cells, self.last_line())

    def table(self, width: int = WIDTH) -> str:
        """As text of so many columns; alike blocks are one line."""
        cells = [_folded(item) if isinstance(item, Fold) else row_cells(item) for item in fold(list(self.rows))]
        lines = [self.heading(), "", *aligned(COLUMNS, cells, width), "", self.last_line()]
        return "\n".join(cut(line, width) for line in lines)

    def heading(self) -> str:
        return f"{shown(self.model)}, {'as it is now' if self.checked else 'as it is planned'}"

    def last_line(self) -> str:
        """Parameters, and what is wrong."""
        words = [f"{self.parameters:,} parameters"]
        if self.frozen:
            words.append(f"{self.frozen:,} of them frozen")
        counts = Counter(r.verdict for r in self.rows if r.verdict in PROBLEMS)
        words += [f"{count} weight layer{'' if count == 1 else 's'} {word}" for word, count in counts.items()]
        return ", ".join(words)


def architecture(plan: PlanData) -> Summary:
    """The summary of the model that a plan is of."""
    kept = [t for t in _telling(plan.tensors) if t.output == 0]
    own = _owned(plan, kept)
    layers = {row.index: row for row in layer_rows(plan)}
    rows = []
    for tensor in kept:
        layer = layers.get(tensor.index)
        made = SummaryRow(
            shown(tensor.module) or "(model)", short_op(tensor.shown or tensor.op), tuple(tensor.shape),
            own.get(tensor.index, 0), layer.std if layer else None, _value(tensor.mean),
            _value(tensor.tensor_variance), layer.verdict if layer else "", tensor.index,
        )  # fmt: skip
        rows.append(made)
    size = sum(prod(p.shape) for p in plan.parameters)
    frozen = sum(prod(p.shape) for p in plan.parameters if p.frozen)
    return Summary(plan.model, plan.checked, tuple(rows), size, frozen)


def _telling(tensors: list[TensorPlan]) -> Iterator[TensorPlan]:
    """Without what hands a signal on (views, copies, casts): of each stay in a module at least one."""
    before: TensorPlan | None = None
    for _, stay in groupby(tensors, key=lambda t: t.module):
        told = []
        for tensor in (run := list(stay)):
            if tensor.weight is not None or before is None or not _same(tensor, before):
                told.append(tensor)
            before = tensor
        yield from told or run[-1:]


def _same(one: TensorPlan, two: TensorPlan) -> bool:
    pairs = ((one.mean, two.mean), (one.tensor_variance, two.tensor_variance))
    return all(isclose(_value(a), _value(b), rel_tol=SAME, abs_tol=1e-300) for a, b in pairs)


def _owned(plan: PlanData, rows: list[TensorPlan]) -> Counter[int]:
    """How many numbers of parameters each row has: those of its weight, and what belongs to the same layer."""
    by_weight: dict[str, int] = {}
    by_owner: dict[str, int] = {}
    by_module: dict[str, int] = {}
    for row in rows:
        if row.weight is not None:
            by_weight.setdefault(row.weight, row.index)
            by_owner.setdefault(owner(row.weight), row.index)
        by_module.setdefault(row.module, row.index)
    own: Counter[int] = Counter()
    for parameter in plan.parameters:
        name = parameter.name
        found = by_weight.get(name, by_owner.get(owner(name)))
        while found is None and (name := owner(name)[:-1]):
            found = by_module.get(name)
        if found is not None:
            own[found] += prod(parameter.shape)
    return own


def owner(name: str) -> str:
    """The layer that a name says something is of, with the separator; empty for what is the model's own."""
    return name[: max(name.rfind(separator) for separator in SEPARATORS) + 1]


def row_cells(row: SummaryRow) -> list[str]:
    return [
        row.name,
        row.op,
        times(row.shape),
        f"{row.parameters:,}" if row.parameters else "",
        "" if row.std is None else f"{row.std:.4g}",
        number(row.mean),
        number(row.variance),
        row.verdict,
    ]


def folded_cells(item: Fold[Any]) -> tuple[str, str]:
    """(names, what they are like)"""
    names = item.first if item.first == item.last else f"{item.first} … {item.last}"
    return names, f"as {item.like} ({sum(row.parameters for row in item.rows):,} parameters)"


def _folded(item: Fold[SummaryRow]) -> str:
    return ": ".join(folded_cells(item))


def _value(number: float | None) -> float:
    return float("nan") if number is None else number
