"""The record as plain data, as a table of text, and as named scalars."""

from __future__ import annotations

from math import isfinite
from typing import Any

from ..names import shown
from ..plans import Plan
from .observation import Observation

FORMAT = 1
COLUMNS = 8
"""More steps than this are thinned out in the table."""


def as_dict(plan: Plan, names: dict[int, str], record: list[Observation]) -> dict[str, Any]:
    layers = []
    for tensor in plan.weight_layers:
        low, high = tensor.band
        numbers = {"mean": tensor.mean, "variance": tensor.tensor_variance, "low": low, "high": high}
        predicted = {k: v if v is not None and isfinite(v) else None for k, v in numbers.items()}
        layers.append({"layer": names[tensor.index], "weight": tensor.weight, "predicted": predicted})
    return {
        "autoinit_watch": FORMAT,
        "model": plan.model,
        "target": plan.variance,
        "layers": layers,
        "record": [row.to_dict() for row in record],
    }


def scalars(seen: list[Observation]) -> dict[str, float]:
    """Tags and values of one step: signal/variance/LAYER, signal/mean/LAYER, signal/measured_over_predicted/LAYER."""
    made: dict[str, float] = {}
    for row in seen:
        layer = shown(row.layer)
        made[f"signal/variance/{layer}"] = row.variance
        made[f"signal/mean/{layer}"] = row.mean
        made[f"signal/measured_over_predicted/{layer}"] = row.ratio
    made["signal/nonfinite"] = float(sum(row.nonfinite for row in seen))
    return made


def table(plan: Plan | None, record: list[Observation]) -> str:
    """Variance of every layer, predicted and step by step."""
    if plan is None or not record:
        return "watch: nothing seen yet"
    steps = thinned(sorted({row.step for row in record}), COLUMNS)
    found = {(row.layer, row.step): row for row in record}
    rows = [["layer", "predicted", *(f"step {k}" for k in steps), "last/predicted"]]
    for layer in dict.fromkeys(row.layer for row in record):
        seen = [found.get((layer, k)) for k in steps]
        last = next(row for row in reversed(seen) if row is not None)
        predicted = last.predicted.tensor_variance
        change = "not finite" if last.nonfinite else _short(last.ratio)
        rows.append([shown(layer), _short(predicted), *("" if r is None else _short(r.variance) for r in seen), change])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        "  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(r, widths, strict=True)))
        for r in rows
    ]
    rule = "─" * len(lines[0])
    title = f"{shown(plan.model)}: variance of weight layers during training"
    return "\n".join([title, "", lines[0].rstrip(), rule, *(line.rstrip() for line in lines[1:])])


def thinned(steps: list[int], most: int) -> list[int]:
    """At most so many of the steps, the first and the last among them."""
    if len(steps) <= most:
        return steps
    return [steps[round(k * (len(steps) - 1) / (most - 1))] for k in range(most)]


def _short(value: float | None) -> str:
    return "nan" if value is None else f"{value:.3g}"
