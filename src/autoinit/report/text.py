"""Plans and measurements as text of at most 120 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..core.plan.calibration import advice, runaway
from ..core.plan.gradients import gradients_of
from ..core.plan.measured import MeasurementData
from ..core.plan.plan import PlanData
from ..core.plan.problems import SameNotes, counted
from ..names import shown
from .data import LayerRow, MeasuredRow, first_problem, is_problem, layer_rows, measured_rows, short_op
from .fold import Fold, fold
from .gradients import problem
from .layout import WIDTH, Column, aligned, number, shortened, times, wrapped

MOST_NOTES = 6
MOST_CENTRES = 4
LONGEST_PLACE = 40
"""Of a name in a line of text."""
PLAN_COLUMNS = (
    Column("layer", left=True),
    Column("op", left=True, spare=2),
    Column("output", left=True, spare=5),
    Column("fan", spare=4),
    Column("std"),
    Column("mean in", spare=7),
    Column("var. in", spare=3),
    Column("mean out", spare=8),
    Column("var. out"),
    Column("corr.", spare=6),
    Column("verdict", left=True),
)
MEASUREMENT_COLUMNS = (
    Column("layer", left=True),
    Column("op", left=True, spare=1),
    Column("output", left=True, spare=2),
    Column("mean pred.", spare=4),
    Column("meas.", spare=3),
    Column("var. pred."),
    Column("meas."),
    Column("ratio"),
    Column("verdict", left=True),
)


def table(plan: PlanData, width: int = WIDTH) -> str:
    """The weight layers of a plan: scale, predicted signal and verdict; problems first, the summary last."""
    rows = layer_rows(plan)
    cells = [_folded(item, width) if isinstance(item, Fold) else plan_cells(item) for item in fold(rows)]
    above, below = [title(plan), *problems(plan, rows)], [*centred(plan), *remarks(plan), summary(plan, rows)]
    return _joined(above, aligned(PLAN_COLUMNS, cells, width), below, width)


def measurement_table(measurement: MeasurementData, width: int = WIDTH) -> str:
    """The weight layers as predicted and as measured."""
    rows = measured_rows(measurement)
    lines = [measurement_title(measurement)]
    bad = first_problem(measurement)
    if bad is not None:
        lines.append(problem_line(next(r for r in rows if r.index == bad.index)))
    cells = [_folded(item, width) if isinstance(item, Fold) else measured_cells(item) for item in fold(rows)]
    return _joined(lines, aligned(MEASUREMENT_COLUMNS, cells, width), [closeness(measurement)], width)


def _joined(above: Sequence[str], rows: Sequence[str], below: Sequence[str], width: int) -> str:
    """Sentences, the rows of a table, sentences."""
    told = [[wrapped(shown(line), width) for line in part] for part in (above, below)]
    return "\n".join([*told[0], "", *map(shown, rows), "", *told[1]])


def title(plan: PlanData) -> str:
    model, mode = shown(plan.model), "training" if plan.training else "evaluation"
    if plan.checked:
        return f"{model} as it is now, {mode} mode, target variance {plan.variance:g}"
    return f"{model}: {plan.distribution.replace('_', ' ')} weights for variance {plan.variance:g}, {mode} mode"


def summary(plan: PlanData, rows: list[LayerRow]) -> str:
    """The plan's own summary, and how many layers have which verdict if they are not all alike."""
    counts = Counter(r.verdict for r in rows)
    listed = ", ".join(f"{count} {word}" for word, count in sorted(counts.items(), key=lambda c: (-c[1], c[0])))
    return plan.summary() + (f"; {listed}" if plan.checked or set(counts) - {"ok", "shared", "zero"} else "")


def centred(plan: PlanData) -> list[str]:
    """One line about the activations that a plan centres, if there are any."""
    if not plan.centers:
        return []
    named = [f"{_place(c.place)} {shown(c.function)} {number(c.shift)}" for c in plan.centers[:MOST_CENTRES]]
    more = len(plan.centers) - len(named)
    return [f"taken off activations: {', '.join(named)}" + (f", ... and {more} more (plan.centers)" if more else "")]


def remarks(plan: PlanData) -> list[str]:
    """What else to know, a line each."""
    return [line for line in (steep(plan), advice(plan)) if line]


def steep(plan: PlanData) -> str:
    """Where deviations of a draw run away with depth, in one line; empty if they do not."""
    worst = runaway(plan)
    if worst is None:
        return ""
    row = plan.tensors[worst.tensor]
    where = f"{shown(row.module) or 'model'} {short_op(row.shown or row.op)}"
    return (f"deviations of a draw grow to their power {worst.power:.3g} in {worst.layers:.0f} layers: slope "
            f"{worst.slope:.3g} at variance {number(worst.variance)} ({where}); variance=\"stable\"")  # fmt: skip


def measurement_title(measurement: MeasurementData) -> str:
    return f"{shown(measurement.plan.model)}: predicted and measured with the present weights"


def closeness(measurement: MeasurementData) -> str:
    """The summary of a measurement."""
    shares = f"{100 * measurement.within(1.25):.0f} % within 1.25×, {100 * measurement.within(2):.0f} % within 2×"
    return f"{len(measurement.weight_layers)} weight layers, measured to predicted variance: {shares}"


def problems(plan: PlanData, rows: list[LayerRow]) -> list[str]:
    """What the reader must see first; what is said of several places is said once."""
    bad = next((r for r in rows if is_problem(r.verdict)), None)
    lines = [] if bad is None else [problem_line(bad)]
    lines += problem(gradients_of(plan))
    notes = counted([n for n in plan.notes if n.kind in ("warning", "passed", "simulated")])
    notes.sort(key=lambda n: n.kind != "warning")
    lines += [_note(n) for n in notes[:MOST_NOTES]]
    if len(notes) > MOST_NOTES:
        lines.append(f"... and {sum(len(n.places) for n in notes[MOST_NOTES:])} more notes (plan.notes)")
    return lines


def _note(note: SameNotes) -> str:
    others = len(note.places) - 1
    more = f" and {others} other{'' if others == 1 else 's'}" if others else ""
    return f"{shown(note.kind)}: {_place(note.places[0])}{more}: {shown(note.message)}"


def _place(name: str) -> str:
    return shortened(shown(name), LONGEST_PLACE)


def problem_line(row: LayerRow | MeasuredRow) -> str:
    return f"first problem: {_place(row.name)} ({row.op}): variance {number(row.variance)}, {row.verdict}"


def plan_cells(row: LayerRow) -> list[str]:
    return [
        row.name,
        row.op,
        times(row.shape),
        "" if row.fan is None else f"{row.fan:.4g}",
        "" if row.std is None else f"{row.std:.4f}" if row.std >= 1e-3 else f"{row.std:.2e}",
        "" if row.mean_in is None else number(row.mean_in),
        "" if row.variance_in is None else number(row.variance_in),
        number(row.mean),
        number(row.variance),
        f"{row.correlation:.2f}",
        row.verdict,
    ]


def measured_cells(row: MeasuredRow) -> list[str]:
    numbers = (row.predicted_mean, row.mean, row.predicted_variance, row.variance, row.ratio)
    return [row.name, row.op, times(row.shape), *map(number, numbers), row.verdict]


def folded_details(item: Fold[LayerRow] | Fold[MeasuredRow]) -> str:
    """What the blocks of a fold do not have in common."""
    rows = item.rows
    stds = [r.std for r in rows if isinstance(r, LayerRow) and r.std is not None]
    ratios = [r.ratio for r in rows if isinstance(r, MeasuredRow)]
    details = [f"std {_range(stds)}"] if stds else []
    details.append(f"variance {_range([r.variance for r in rows])}")
    return ", ".join(details + ([f"ratio {_range(ratios)}"] if ratios else []))


def span(item: Fold[LayerRow] | Fold[MeasuredRow]) -> str:
    """Names of the first and the last block."""
    return item.first if item.first == item.last else f"{item.first} … {item.last}"


def _folded(item: Fold[LayerRow] | Fold[MeasuredRow], width: int) -> str:
    details = folded_details(item)
    line = f"{span(item)}: as {item.like} ({details})"
    if len(line) > width:  # the numbers alone
        end = "" if item.first == item.last else f" … {_last(item.last)}"
        line = f"{_place(item.first)}{end}: as {_last(item.like)} ({details})"
    return line


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _range(values: Sequence[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} … {high}"
