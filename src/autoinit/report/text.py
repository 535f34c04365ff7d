"""Plans and measurements as text of at most 120 columns."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from ..core.plan import Plan
from ..measurement import Measurement
from .data import LayerRow, first_problem, is_problem, layer_rows, short_op, verdict
from .fold import Fold, fold

WIDTH = 120
SHORTEST = 12
"""The first column is not made narrower than this."""
MOST_NOTES = 6
COLOURS = {"ok": "green", "low": "yellow", "high": "yellow", "vanishing": "red", "exploding": "red", "invalid": "red"}


def table(plan: Plan) -> str:
    """The weight layers of a plan: scale, predicted signal and verdict; problems first, the summary last."""
    rows = layer_rows(plan)
    lines = [_title(plan), *_problems(plan, rows)]
    heads = ["layer", "op", "output", "fan", "std", "E[x²] in", "variance out", "corr.", "verdict"]
    cells: list[list[str] | str] = []
    for item in fold(rows):
        cells.append(_folded(item) if isinstance(item, Fold) else _cells(item))
    heads, cells = without_empty(heads, cells)
    lines += [*aligned(heads, cells, left=3), "", plan.summary()]
    return "\n".join(lines)


def measurement_table(measurement: Measurement) -> str:
    """The weight layers as predicted and as measured."""
    plan = measurement.plan
    rows = measurement.weight_layers
    lines = [f"{plan.model}: predicted and measured with the present weights"]
    bad = first_problem(measurement)
    if bad is not None:
        found = next(r for r in rows if r.predicted is bad)
        word = verdict(found.variance, plan.variance)
        lines.append(
            f"first problem: {bad.module or '(model)'} ({short_op(bad.op)}): variance {_n(found.variance)}, {word}"
        )
    heads = [
        "layer",
        "op",
        "output",
        "mean pred.",
        "meas.",
        "var. pred.",
        "meas.",
        "ratio",
        "verdict",
    ]
    cells: list[list[str] | str] = [
        [
            r.predicted.module or "(model)",
            short_op(r.predicted.op),
            _shape(r.predicted.shape),
            f"{r.predicted.mean:.3f}",
            f"{r.mean:.3f}",
            _n(r.predicted.tensor_variance),
            _n(r.variance),
            _n(r.ratio),
            verdict(r.variance, plan.variance),
        ]
        for r in rows
    ]
    shares = f"{100 * measurement.within(1.25):.0f} % within 1.25×, {100 * measurement.within(2):.0f} % within 2×"
    lines += [
        *aligned(heads, cells, left=3),
        "",
        f"{len(rows)} weight layers, measured to predicted variance: {shares}",
    ]
    return "\n".join(lines)


def show(item: Plan | Measurement) -> None:
    """Print; in a terminal with rich installed the verdicts are coloured."""
    text = str(item)
    if sys.stdout.isatty():
        try:
            from rich.console import Console
            from rich.text import Text
        except ImportError:
            pass
        else:
            made = Text(text, no_wrap=True)
            for word, colour in COLOURS.items():
                made.highlight_regex(rf"\b{word}\b", colour)
            Console(soft_wrap=True).print(made)
            return
    print(text)


def without_empty(heads: list[str], rows: list[list[str] | str]) -> tuple[list[str], list[list[str] | str]]:
    """Leave out columns in which no row says anything."""
    keep = [k for k in range(len(heads)) if any(not isinstance(r, str) and r[k] for r in rows)]
    if not keep:
        return heads, rows
    return [heads[k] for k in keep], [r if isinstance(r, str) else [r[k] for k in keep] for r in rows]


def aligned(heads: Sequence[str], rows: Iterable[Sequence[str] | str], left: int) -> list[str]:
    """Columns of one width each; a plain string is a line of its own.

    The first `left` columns and the last are flush left; the first is shortened until everything fits.
    """
    rows = list(rows)
    full = [r for r in rows if not isinstance(r, str)]
    widths = [max(len(r[k]) for r in [heads, *full]) for k in range(len(heads))]
    room = WIDTH - sum(widths[1:]) - 2 * (len(widths) - 1)
    widths[0] = min(widths[0], max(room, SHORTEST))

    def line(cells: Sequence[str]) -> str:
        cells = [_path(cells[0], widths[0]), *cells[1:]]
        flush = [*range(left), len(cells) - 1]
        padded = [c.ljust(w) if k in flush else c.rjust(w) for k, (c, w) in enumerate(zip(cells, widths, strict=True))]
        return "  ".join(padded).rstrip()

    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    return [line(heads), rule, *(r if isinstance(r, str) else line(r) for r in rows)]


def _title(plan: Plan) -> str:
    mode = "training" if plan.training else "evaluation"
    if plan.checked:
        return f"{plan.model} as it is now, {mode} mode, target variance {plan.variance:g}"
    return f"{plan.model}: {plan.distribution.replace('_', ' ')} weights for variance {plan.variance:g}, {mode} mode"


def _problems(plan: Plan, rows: list[LayerRow]) -> list[str]:
    """What the reader must see first."""
    lines = []
    bad = next((r for r in rows if is_problem(r.verdict)), None)
    if bad is not None:
        lines.append(f"first problem: {bad.name} ({bad.op}): variance {_n(bad.variance)}, {bad.verdict}")
    shown = [n for n in plan.notes if n.kind in ("warning", "passed", "simulated")]
    shown.sort(key=lambda n: n.kind != "warning")
    lines += [_cut(f"{n.kind}: {n.place}: {n.message}") for n in shown[:MOST_NOTES]]
    if len(shown) > MOST_NOTES:
        lines.append(f"... and {len(shown) - MOST_NOTES} more notes (plan.notes)")
    return [*lines, ""]


def _cells(row: LayerRow) -> list[str]:
    return [
        row.name,
        row.op,
        _shape(row.shape),
        "" if row.fan is None else f"{row.fan:.4g}",
        "" if row.std is None else f"{row.std:.4f}" if row.std >= 1e-3 else f"{row.std:.2e}",
        "" if row.incoming is None else _n(row.incoming),
        _n(row.variance),
        f"{row.correlation:.2f}",
        row.verdict,
    ]


def _folded(item: Fold) -> str:
    stds = [r.std for r in item.rows if r.std is not None]
    variances = [r.variance for r in item.rows]
    details = [f"variance {_range(variances)}"]
    if stds:
        details.insert(0, f"std {_range(stds)}")
    line = f"{_span(item.first, item.last)}: as {item.like} ({', '.join(details)})"
    if len(line) > WIDTH:  # the numbers alone
        line = f"{_span(item.first, _last(item.last))}: as {_last(item.like)} ({', '.join(details)})"
    return _cut(line)


def _span(first: str, last: str) -> str:
    return first if _last(first) == _last(last) else f"{first} … {last}"


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _range(values: Sequence[float]) -> str:
    low, high = _n(min(values)), _n(max(values))
    return low if low == high else f"{low} … {high}"


def _n(value: float | None) -> str:
    if value is None or value != value:
        return "nan"
    return f"{value:.3f}" if 0.01 <= abs(value) < 1000 else f"{value:.2e}" if value else "0"


def _shape(shape: Sequence[int]) -> str:
    return "×".join(str(n) for n in shape)


def _path(name: str, longest: int) -> str:
    """The end of a module's path tells more than its middle."""
    head = longest // 3
    return name if len(name) <= longest else f"{name[:head]}…{name[-(longest - head - 1) :]}"


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
