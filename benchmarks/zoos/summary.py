"""The tables of a run, from its records."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autoinit.core.files import replace_text

from ..tables import Table, number, percent
from .defaults_tables import defaults_text
from .totals import BARS, Totals, by_zoo, planned, totals

CAPTION = """\
layers: weight layers measured. ≤1.25×, ≤2×: share of them whose variance (median over seeds) is within the factor of
ν; in models without normalisation (°) ν may also lie inside the 95 % interval of the mean over seeds. others: share of
all other tensors within 1.25× of the prediction. output: measured / predicted, the output that is furthest off.
worst layer: measured / ν. first off: the first tensor outside 2× (if there is none, outside 1.25×), and measured /
expected there. MB: memory that planning took."""
SHORTEST = 60


LIBRARIES = """\
Small models of diffusers, neuraloperator, torch_geometric, ultralytics and zuko, in the versions that
`benchmarks/zoos/libraries/constraints.txt` pins: `make libraries`, then `python -m benchmarks.zoo --zoo libraries`."""


def write(records: list[dict[str, Any]], folder: Path) -> None:
    """zoo.json, zoo.md and defaults.md; libraries.json and libraries.md for the group of that name."""
    records = sorted(records, key=lambda r: r["name"])
    libraries = [r for r in records if r["name"].startswith("libraries:")]
    if libraries:
        write_records(libraries, folder / "libraries.json")
        replace_text(folder / "libraries.md", zoo_text(libraries, "Libraries", LIBRARIES))
    records = [r for r in records if not r["name"].startswith("libraries:")]
    if libraries and not records:
        return
    write_records(records, folder / "zoo.json")
    replace_text(folder / "zoo.md", zoo_text(records))
    replace_text(folder / "defaults.md", defaults_text(records))


def write_records(records: list[dict[str, Any]], path: Path) -> None:
    """Totals and all records as JSON, one line per model."""
    kept = [{k: v for k, v in r.items() if k not in ("traceback", "stage")} for r in records]
    lines = ",\n".join(json.dumps(r, allow_nan=False, separators=(",", ":"), ensure_ascii=False) for r in kept)
    head = json.dumps(totals(records).as_dict())
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, f'{{"totals": {head},\n"models": [\n{lines}\n]}}\n')


def zoo_text(records: list[dict[str, Any]], title: str = "Zoo", introduction: str = "") -> str:
    tables = [bars_table(records), zoo_table(records), ops_table(records), not_random_table(records)]
    tables.append(failed_table(records))
    tables += model_tables(records)
    head = [f"# {title}", "", *([introduction, ""] if introduction else [])]
    return "\n".join([*head, *(t.markdown() for t in tables if t.rows)])


def bars_table(records: list[dict[str, Any]]) -> Table:
    table = Table("Totals against the bars", ["what", "found", "bar", "reached"])
    found = totals(records)
    for bar in BARS:
        table.add(bar.what, bar.shown(found), bar.demanded, "yes" if bar.holds(found) else "no")
    return table


def zoo_table(records: list[dict[str, Any]]) -> Table:
    heads = ["zoo", "families planned", "models planned", "measured", "layers", "≤1.25×", "≤2×", "others ≤1.25×"]
    table = Table("Per zoo", [*heads, "outputs off >10×", "not random", "not reached", "median plan s"])
    parts = by_zoo(records)
    for zoo, some in [*parts.items(), ("all", records)]:
        _add_zoo(table, zoo, totals(some))
    return table


def _add_zoo(table: Table, zoo: str, t: Totals) -> None:
    table.add(
        zoo,
        f"{t.families_planned} of {t.families}",
        f"{t.planned} of {t.models}",
        t.measured,
        t.layers,
        percent(t.share("near")),
        percent(t.share("fair")),
        percent(t.others_near / t.others if t.others else float("nan")),
        t.outputs_off,
        t.not_random,
        t.not_reached,
        number(t.plan_seconds),
    )


def ops_table(records: Iterable[dict[str, Any]]) -> Table:
    """Ops without a rule, over all models."""
    table = Table("Ops without a rule", ["op", "treated", "calls", "models", "for example"])
    calls: Counter[tuple[str, str]] = Counter()
    models: dict[tuple[str, str], list[str]] = {}
    for record in records:
        for kind in ("passed", "simulated"):
            for op, count in record.get("plan", {}).get(kind, {}).items():
                calls[kind, op] += count
                models.setdefault((kind, op), []).append(record["name"])
    for (kind, op), count in sorted(calls.items(), key=lambda item: (item[0][0], -item[1])):
        words = "passed through" if kind == "passed" else kind
        table.add(op, words, count, len(models[kind, op]), models[kind, op][0])
    return table


def model_tables(records: list[dict[str, Any]]) -> list[Table]:
    heads = ["model", "family", "layers", "plan s", "MB", "≤1.25×", "≤2×", "others", "output", "worst layer"]
    tables = []
    for zoo, some in by_zoo(records).items():
        table = Table(f"Models of {zoo}", [*heads, "first off", "simulated", "not reached"], caption=CAPTION)
        for record in some:
            if planned(record):
                table.add(*_model(record))
        tables.append(table)
    return tables


def _model(record: dict[str, Any]) -> list[str]:
    plan, found = record["plan"], record.get("fidelity")
    cells = [record["name"].split(":", 1)[1], record["family"]]
    end = [_ops(plan), str(plan["not_reached"] or "")]
    if found is None:
        return [*cells, str(plan["layers"]), number(plan["seconds"]), str(plan["MB"]), "", "", "", "", "", "", *end]
    layers, others = found["layers"], found["others"]
    cells[0] += "°" if found["norm_free"] else ""
    return [
        *cells,
        str(layers["n"]),
        number(plan["seconds"]),
        str(plan["MB"]),
        percent(layers["1.25"] / layers["n"] if layers["n"] else float("nan")),
        percent(layers["2"] / layers["n"] if layers["n"] else float("nan")),
        percent(others["1.25"] / others["n"] if others["n"] else float("nan")),
        _output(found["outputs"]),
        _place(found["worst_layer"]),
        _place(found["first_off"]),
        *end,
    ]


def _ops(plan: dict[str, Any]) -> str:
    both = [*plan["simulated"].items(), *((f"{op} (passed)", n) for op, n in plan["passed"].items())]
    return ", ".join(op.removeprefix("aten.") for op, _ in both)


def _output(rows: list[dict[str, Any]]) -> str:
    """The ratio furthest from 1."""
    known = [r["ratio"] for r in rows]
    if not known:
        return ""
    return _ratio(max(known, key=lambda x: float("inf") if not x or x < 0 else max(x, 1 / x)))


def _place(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    module = row["module"]
    module = module if len(module) <= SHORTEST else f"…{module[-SHORTEST + 1 :]}"
    return f"{module} {row['op']} {_ratio(row['ratio'])}"


def _ratio(value: float | None) -> str:
    return "not a number" if value is None else number(value)


def not_random_table(records: Iterable[dict[str, Any]]) -> Table:
    """Weights that were set and are not random: there must be none."""
    table = Table("Weights that are not random", ["model", "violations", "first ones"])
    for record in records:
        found = record.get("not_random", {})
        if found.get("count"):
            table.add(record["name"], str(found["count"]), "; ".join(found["first"])[:300])
    return table


def failed_table(records: Iterable[dict[str, Any]]) -> Table:
    """What failed, at which stage, and why: in the words of whoever raised it, as code."""
    table = Table("What failed, and why", ["model", "outcome", "at", "reason"])
    for record in records:
        if record["outcome"] not in ("planned", "measured"):
            reason = " ".join(str(record.get("error", "")).split())[:300].replace("`", "'")
            table.add(record["name"], record["outcome"], record.get("stage", ""), f"`{reason}`" if reason else "")
    return table
