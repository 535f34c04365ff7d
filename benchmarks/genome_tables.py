"""The tables of planned and trained random genomes, from the records of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from autoinit.core.files import replace_text

from .tables import Table, number, percent

SHARE = 0.02
"""Of the training time: more than that planning should not take."""
NAMED = 20
"""Failures that are listed."""
INTRODUCTION = """\
`python -m benchmarks.genomes`: random genomes of every task of the architecture search (first genomes that were changed
up to six times, with settings under which they grow fast), assembled on the meta device and planned. A few of each task
are trained as well, as a search with the same preset trains them."""
PLANNED = """\
failed: raised an exception, or ended with its process or at a limit. not reached: networks with a parameter that the
plan does not reach. layers, parameters, build and plan: the median; milliseconds of processor time, without what only
the first network of a process costs."""
TRAINED = f"""\
Means over the networks, processor time. plan: planning; initialize: planning and drawing all weights; training:
without validation. Shares are sums over the networks by the sum of their training times; the bar is
{100 * SHARE:g} % for planning."""


@dataclass
class Account:
    """All that is known of one task in one size."""

    task: str
    preset: str
    planned: list[dict[str, Any]] = field(default_factory=list)
    trained: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)

    @property
    def lost(self) -> list[dict[str, Any]]:
        """Networks with a parameter that was not reached."""
        return [row for row in self.planned if row["unreached"]]

    def share(self, what: str) -> float:
        total = sum(row["training"] for row in self.trained)
        return sum(row[what] for row in self.trained) / total if total else float("nan")

    def quantiles(self, what: str) -> list[float]:
        """Median, 95th percentile and largest."""
        values = [row[what] for row in self.planned]
        return [float(np.quantile(values, q)) for q in (0.5, 0.95, 1.0)] if values else [float("nan")] * 3

    def mean(self, what: str, trained: bool = False) -> float:
        values = [row[what] for row in (self.trained if trained else self.planned)]
        return float(np.mean(values)) if values else float("nan")

    def as_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "task": self.task, "preset": self.preset, "planned": len(self.planned), "failed": self.failed,
            "not_reached": [{"number": row["number"], "parameters": row["unreached"]} for row in self.lost],
        }  # fmt: skip
        for what in ("layers", "parameters", "tensors", "build", "plan"):
            if self.planned:
                median, most, largest = self.quantiles(what)
                told[what] = {"mean": self.mean(what), "median": median, "95 %": most, "largest": largest}
        if self.trained:
            told["trained"] = self.trained
            told["share"] = {what: self.share(what) for what in ("plan", "initialization")}
        return told


def accounts(records: Iterable[dict[str, Any]]) -> list[Account]:
    """One for each task and preset, in the order of their first records; a changed task's old genomes are left out."""
    found: dict[tuple[str, str], Account] = {}
    records = list(records)
    newest = {tuple(r["name"].split(":")[:2]): r["name"].split(":")[2] for r in records}
    for record in records:
        task, preset, digest, _, what, *_ = record["name"].split(":")
        if newest[task, preset] != digest:
            continue
        account = found.setdefault((task, preset), Account(task, preset))
        (account.trained if what == "train" else account.planned).extend(record.get("rows", []))
        account.failed.extend({"what": what, **one} for one in record.get("failed", []))
        if record["outcome"] not in ("done", "failed"):
            account.failed.append({"what": what, "number": record.get("at"),
                                   "error": f"{record['outcome']}: {record.get('error', '')}"})  # fmt: skip
    return list(found.values())


def tables(records: Iterable[dict[str, Any]]) -> list[Table]:
    found = accounts(records)
    made = [planned_table(found), trained_table(found), failed_table(found)]
    return [table for table in made if table.rows]


def planned_table(found: list[Account]) -> Table:
    heads = ["task", "preset", "networks", "failed", "not reached", "layers", "largest", "parameters", "build ms"]
    table = Table("Random genomes, planned", [*heads, "plan ms", "95 %", "longest"], caption=PLANNED)
    for one in (a for a in found if a.planned):
        times = [f"{1000 * value:.0f}" for value in one.quantiles("plan")]
        table.add(
            one.task, one.preset, f"{len(one.planned):,}", len(one.failed), len(one.lost),
            number(one.quantiles("layers")[0]), number(one.quantiles("layers")[2]),
            f"{one.quantiles('parameters')[0]:,.0f}", f"{1000 * one.quantiles('build')[0]:.0f}", *times,
        )  # fmt: skip
    return table


def trained_table(found: list[Account]) -> Table:
    heads = ["task", "preset", "networks", "training s", "plan s", "initialize s", "plan / training"]
    table = Table(
        "Share of the training time", [*heads, "initialize / training", f"≤ {100 * SHARE:g} %"], caption=TRAINED
    )
    for one in (a for a in found if a.trained):
        share = one.share("plan")
        means = [number(one.mean(what, trained=True)) for what in ("training", "plan", "initialization")]
        table.add(
            one.task, one.preset, len(one.trained), *means, percent(share), percent(one.share("initialization")),
            "yes" if share <= SHARE else "no",
        )  # fmt: skip
    return table


def failed_table(found: list[Account]) -> Table:
    table = Table("What failed, and why", ["task", "preset", "genome", "reason"])
    for one in found:
        wrong = [(f["number"], f["error"]) for f in one.failed]
        wrong += [(row["number"], f"not reached: {', '.join(row['unreached'])}") for row in one.lost]
        for genome, reason in wrong[:NAMED]:
            table.add(one.task, one.preset, genome, " ".join(reason.split())[:300])
    return table


def write(records: list[dict[str, Any]], folder: Path) -> None:
    """genomes.json and genomes.md."""
    told = {"accounts": [account.as_dict() for account in accounts(records)]}
    folder.mkdir(parents=True, exist_ok=True)
    replace_text(folder / "genomes.json", json.dumps(told, indent=1, allow_nan=False) + "\n")
    body = "\n".join(table.markdown() for table in tables(records))
    replace_text(folder / "genomes.md", f"# Random genomes\n\n{INTRODUCTION}\n\n{body}")
