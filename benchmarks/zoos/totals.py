"""The numbers that a run is judged by, and the bars they must reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from ..tables import percent


@dataclass(frozen=True)
class Totals:
    """Sums over models; `near` and `fair` are the weight layers within 1.25x and 2x."""

    models: int
    planned: int
    refused: int
    """Not planned, with an error that says why and what to do."""
    families: int
    families_planned: int
    measured: int
    unmeasured: int
    """Planned, but checking or measuring failed or met a limit."""
    layers: int
    near: int
    fair: int
    others: int
    others_near: int
    unseen: int
    """Weight layers with a target that no measurement met."""
    no_target: int
    """Weight layers that nothing was solved for: second uses of a weight, zeros, weights made of other parameters."""
    outputs_off: int
    """Models with an output more than ten times off."""
    not_random: int
    """Parameters that were set and are constant along an axis, tied, or of low rank."""
    simulated: int
    passed: int
    not_reached: int
    plan_seconds: float

    def share(self, what: str) -> float:
        return int(getattr(self, what)) / self.layers if self.layers else float("nan")

    def as_dict(self) -> dict[str, Any]:
        return {k: (v if v == v else None) for k, v in asdict(self).items()}


def planned(record: dict[str, Any]) -> bool:
    """Did `autoinit.plan` return? (A model may be planned and then fail or meet a limit when measured.)"""
    return "plan" in record


def totals(records: Iterable[dict[str, Any]]) -> Totals:
    records = list(records)
    families: dict[tuple[str, str], bool] = {}
    for record in records:
        key = record["name"].split(":", 1)[0], record.get("family", "?")
        families[key] = families.get(key, True) and (planned(record) or record["outcome"] == "refused")
    plans = [r["plan"] for r in records if planned(r)]
    found = [r["fidelity"] for r in records if "fidelity" in r]
    return Totals(
        models=len(records),
        planned=len(plans),
        refused=sum(r["outcome"] == "refused" for r in records),
        families=len(families),
        families_planned=sum(families.values()),
        measured=len(found),
        unmeasured=sum(planned(r) and r["outcome"] not in ("planned", "measured") for r in records),
        layers=sum(f["layers"]["n"] for f in found),
        near=sum(f["layers"]["1.25"] for f in found),
        fair=sum(f["layers"]["2"] for f in found),
        others=sum(f["others"]["n"] for f in found),
        others_near=sum(f["others"]["1.25"] for f in found),
        unseen=sum(f["unseen"] for f in found),
        no_target=sum(f["no_target"] for f in found),
        outputs_off=sum(f["outputs_off"] > 0 for f in found),
        not_random=sum(r.get("not_random", {}).get("count", 0) for r in records),
        simulated=sum(sum(p["simulated"].values()) for p in plans),
        passed=sum(sum(p["passed"].values()) for p in plans),
        not_reached=sum(p["not_reached"] for p in plans),
        plan_seconds=median(p["seconds"] for p in plans) if plans else float("nan"),
    )


def by_zoo(records: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    parts: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        parts.setdefault(record["name"].split(":", 1)[0], []).append(record)
    return parts


@dataclass(frozen=True)
class Bar:
    """One demand on the totals."""

    what: str
    demanded: str
    shown: Callable[[Totals], str]
    holds: Callable[[Totals], bool]


BARS = (
    Bar(
        "families planned",
        "all",
        lambda t: f"{t.families_planned} of {t.families}",
        lambda t: t.families_planned == t.families,
    ),
    Bar(
        "models planned, or clearly refused",
        "all",
        lambda t: f"{t.planned} and {t.refused} of {t.models}",
        lambda t: t.planned + t.refused == t.models,
    ),
    Bar("planned but not measured to the end", "0", lambda t: str(t.unmeasured), lambda t: t.unmeasured == 0),
    Bar(
        "weight layers within 1.25× of ν",
        "90 %",
        lambda t: f"{percent(t.share('near'))} of {t.layers}",
        lambda t: t.layers == 0 or t.share("near") >= 0.90,
    ),
    Bar(
        "weight layers within 2× of ν",
        "98 %",
        lambda t: f"{percent(t.share('fair'))} of {t.layers}",
        lambda t: t.layers == 0 or t.share("fair") >= 0.98,
    ),
    Bar(
        "models with an output off by more than 10×",
        "0",
        lambda t: f"{t.outputs_off} of {t.measured}",
        lambda t: t.outputs_off == 0,
    ),
    Bar("weights set that are not random", "0", lambda t: str(t.not_random), lambda t: t.not_random == 0),
    Bar("weight layers that no measurement met", "0", lambda t: str(t.unseen), lambda t: t.unseen == 0),
    Bar("weight layers without a target", "", lambda t: str(t.no_target), lambda t: True),
    Bar("calls of ops passed through", "0", lambda t: str(t.passed), lambda t: t.passed == 0),
    Bar("calls of ops simulated", "", lambda t: str(t.simulated), lambda t: True),
    Bar("parameters not reached", "", lambda t: str(t.not_reached), lambda t: True),
)
