"""Which published architectures start badly scaled, as they initialize themselves."""

from __future__ import annotations

from typing import Any

from ..tables import Table, number, percent
from .totals import by_zoo

INTRODUCTION = """\
What `autoinit.check` says about models as they initialize themselves, before any training, on noise of variance 1. A
layer is bad if the variance of its output is more than ten times off 1 (vanishing, exploding) or not a number. Many
architectures are built to start so: a normalisation behind the layer, or a branch that is meant to start small, makes
it harmless. Beside each prediction stands what `autoinit.measure` found on the same weights. The two agree if they are
within a factor of two of each other."""
BAD_CAPTION = """\
The first weight layer that check calls bad, the variance of its output, and the variance of the model's output;
predicted / measured."""


def defaults_text(records: list[dict[str, Any]]) -> str:
    checked = [r for r in records if r.get("default")]
    tables = [zoo_table(checked), bad_table(checked), disagreement_table(checked)]
    return "\n".join(["# Default initializations", "", INTRODUCTION, "", *(t.markdown() for t in tables if t.rows)])


def zoo_table(records: list[dict[str, Any]]) -> Table:
    heads = ["zoo", "models", "no bad layer", "vanishing first", "exploding first", "output vanishes"]
    table = Table(
        "Per zoo", [*heads, "output explodes", "check right at first bad layer", "at the output", "layers within 2×"]
    )
    for zoo, some in [*by_zoo(records).items(), ("all", records)]:
        found = [r["default"] for r in some]
        firsts = [f["first_bad"]["verdict"] if f["first_bad"] else "" for f in found]
        ends = [[o["verdict"] for o in f["outputs"]] for f in found]
        table.add(
            zoo,
            len(found),
            firsts.count(""),
            firsts.count("vanishing"),
            len([f for f in firsts if f in ("exploding", "invalid")]),
            sum("vanishing" in e for e in ends),
            sum("exploding" in e or "invalid" in e for e in ends),
            percent(_share([f["layer_agrees"] for f in found])),
            percent(_share([f["output_agrees"] for f in found if f["output_agrees"] is not None])),
            percent(_ratio(sum(f["within_2"] for f in found), sum(f["layers"] for f in found))),
        )
    return table


def bad_table(records: list[dict[str, Any]]) -> Table:
    heads = ["model", "first bad layer", "verdict", "variance there", "output", "output is"]
    table = Table("Models that start badly scaled", [*heads, "check agrees"], caption=BAD_CAPTION)
    for record in records:
        found = record["default"]
        bad = found["first_bad"]
        if bad is None:
            continue
        output = found["outputs"][0] if found["outputs"] else None
        agrees = {(True, True): "yes", (True, False): "not at output", (False, True): "not at layer"}
        table.add(
            record["name"],
            f"{bad['module']} {bad['op']}",
            bad["verdict"],
            _pair(bad),
            _pair(output) if output else "",
            output["verdict"] if output else "",
            agrees.get((found["layer_agrees"], found["output_agrees"] is not False), "no"),
        )
    return table


def disagreement_table(records: list[dict[str, Any]]) -> Table:
    """Where the prediction was wrong by more than the factor."""
    table = Table("Where check and measurement disagree", ["model", "at", "tensor", "predicted", "measured"])
    for record in records:
        found = record["default"]
        wrong = []
        if not found["layer_agrees"]:
            wrong.append(("layer", found["first_bad"] or found["first_bad_measured"]))
        if found["output_agrees"] is False:
            wrong.append(("output", max(found["outputs"], key=_distance)))
        for place, row in wrong:
            tensor = f"{row['module']} {row['op']}"
            table.add(record["name"], place, tensor, _n(row["predicted"]), _n(row["measured"]))
    return table


def _distance(row: dict[str, Any]) -> float:
    """How many times off, either way."""
    predicted, measured = row["predicted"], row["measured"]
    if not predicted or not measured:
        return 1.0 if predicted == measured else float("inf")
    return max(predicted / measured, measured / predicted)


def _pair(row: dict[str, Any]) -> str:
    return f"{_n(row['predicted'])} / {_n(row['measured'])}"


def _n(value: float | None) -> str:
    return "not finite" if value is None else number(value)


def _share(flags: list[bool]) -> float:
    return _ratio(sum(flags), len(flags))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
