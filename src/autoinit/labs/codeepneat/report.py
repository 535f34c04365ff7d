"""What a search has come to so far, from its folder: tables for people, and the same as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from ..evolution import Journal
from ..evolution.encoding import decode
from ..evolution.progress import duration
from . import history
from .evaluation import DONE, NETWORK, TEST
from .network import NetworkGenome

COLUMNS = ("generation", "networks", "best", "mean", "best so far", "species (B)", "species (M)", "failed")


def report(folder: Path) -> dict[str, Any]:
    """Per generation: best, mean, species, failures; what was tested; and, apart from the rest, times."""
    generations = history.read(folder)
    contents = Journal.read(folder / history.JOURNAL)
    config = contents.config or {}
    rows: list[dict[str, Any]] = []
    best = float("-inf")
    for told in generations:
        fitness = [one["fitness"] for one in told["networks"]]
        best = max(best, *fitness)
        rows.append({
            "generation": told["generation"],
            "networks": len(fitness),
            "best": max(fitness),
            "mean": fmean(fitness),
            "best_so_far": best,
            "blueprint_species": _sizes(told["blueprints"]),
            "module_species": _sizes(told["modules"]),
            "failures": _failures(told),
        })  # fmt: skip
    return {
        "task": config.get("task"),
        "preset": config.get("preset", {}).get("name"),
        "initialization": config.get("initialization"),
        "seed": config.get("seed"),
        "generations": rows,
        "result": _result(folder, len(rows)),
        "times": _times(generations, contents.records),
    }


def table(found: Mapping[str, Any]) -> str:
    """The report as text."""
    head = f"{found['task']} ({found['preset']}), initialization {found['initialization']}, seed {found['seed']}"
    told = [head, "", *aligned([COLUMNS, *(_row(row) for row in found["generations"])]), ""]
    result = found["result"]
    if result is None:
        told.append("the search goes on: the best network has not been tested yet")
    else:
        scores = ", ".join(f"{name} {value:.4f}" for name, value in result["test"].items()) or result["test_status"]
        best = f"best network {result['best']}: fitness {result['fitness']:.4f}"
        told.append(f"{best}; trained again and tested: {scores}")
    times = found["times"]
    told.append(
        f"{duration(times['seconds'])} of one worker for {times['trainings']} trainings, "
        f"{100 * times['initialization_share']:.1f} % of that for initialization"
    )
    return "\n".join(told)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table; the first row is its head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [lines[0], "─" * len(lines[0]), *lines[1:]]


def networks(folder: Path, count: int | None = None) -> list[tuple[NetworkGenome, float, int]]:
    """The preserved networks, best first, with their fitness and the generation that they come from."""
    last = history.read(folder)[-1]
    records = Journal.read(folder / history.JOURNAL).records
    return [
        (
            NetworkGenome.from_dict(records[f"{NETWORK}/{kept['key']}"].payload["network"]),
            kept["fitness"],
            kept["generation"],
        )
        for kept in last["preserved"][:count]
    ]


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    failures = ", ".join(f"{count} {status}" for status, count in row["failures"].items()) or "none"
    return (
        str(row["generation"]), str(row["networks"]), f"{row['best']:.4f}", f"{row['mean']:.4f}",
        f"{row['best_so_far']:.4f}", "+".join(map(str, row["blueprint_species"])),
        "+".join(map(str, row["module_species"])), failures,
    )  # fmt: skip


def _sizes(population: Mapping[str, Any]) -> list[int]:
    return [len(one["members"]) for one in population["species"]]


def _failures(told: Mapping[str, Any]) -> dict[str, int]:
    return dict(sorted(Counter(one["status"] for one in told["networks"] if one["status"] != DONE).items()))


def _result(folder: Path, generations: int) -> dict[str, Any] | None:
    """None while the search goes on, also after it had come to an end with fewer generations."""
    path = folder / history.RESULT
    found: dict[str, Any] | None = decode(path.read_text(encoding="utf-8")) if path.exists() else None
    return found if found is not None and found["generations"] == generations else None


def _times(generations: list[dict[str, Any]], records: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds of one worker, in all and for the networks that were new in each generation."""
    seconds = {key: record.outcome.seconds for key, record in records.items()}
    begun = [(record.outcome.value or {}).get("initialization_seconds", 0.0) for record in records.values()]
    seen: set[str] = set()
    each = []
    for told in generations:
        new = {one["key"] for one in told["networks"]} - seen
        seen |= new
        each.append(sum(seconds.get(f"{NETWORK}/{key}", 0.0) for key in sorted(new)))
    total = sum(seconds.values())
    return {
        "seconds": total,
        "trainings": len(seconds),
        "generations": each,
        "test": sum(value for key, value in seconds.items() if key.startswith(TEST)),
        "initialization_share": sum(begun) / total if total else 0.0,
    }
