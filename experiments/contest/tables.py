"""The tables of the contest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..tables import number, table
from .claims import loss
from .judging import WORKS
from .schemes import LABELS

LOSSES = (
    "Test loss (cross entropy; U-Net: mean squared error), mean over the seeds ± its standard error, at the learning "
    "rate with the lowest mean validation loss. Bold: best or tied, that is, no other mean is lower by more than two "
    "standard errors of the difference. A training that diverged or ended above the loss of guessing counts as "
    "guessing."
)
RANGES = (
    "Range: at how many of the learning rates of the grid training works. It works where the mean test loss has come "
    f"at least {100 * WORKS:g} % of the way from guessing to the lowest mean test loss of any initialization on that "
    "network. Bold: the widest."
)
RATES = "The chosen learning rates; in brackets where one is at an edge of the grid."


def tables(summary: Mapping[str, Any]) -> str:
    """Losses, ranges and chosen rates: a line for each network, a column for each initialization."""
    networks, schemes = summary["networks"], summary["schemes"]
    counted = ["best or tied on", *(_count(networks, scheme, "best") for scheme in schemes), ""]
    widest = ["widest on", *(_count(networks, scheme, "widest") for scheme in schemes), ""]
    parts = [
        (f"{LOSSES} Seeds: {', '.join(map(str, summary['seeds']))}.", _loss, "guessing", _guess, counted),
        (RANGES, _range, "rates", lambda one: str(len(one["rates"])), widest),
        (RATES, _rate, "grid", lambda one: f"{number(one['rates'][0])} to {number(one['rates'][-1])}", None),
    ]
    return "\n".join(_table(networks, schemes, *part) for part in parts)


def _table(
    networks: Mapping[str, Any],
    schemes: list[str],
    note: str,
    cell: Callable[[Mapping[str, Any], str], str],
    last: str,
    last_cell: Callable[[Mapping[str, Any]], str],
    foot: list[str] | None,
) -> str:
    rows = [[name, *(cell(one, scheme) for scheme in schemes), last_cell(one)] for name, one in networks.items()]
    head = ["network", *(LABELS[scheme] for scheme in schemes), last]
    return f"{note}\n\n" + table(head, [*rows, *([foot] if foot else [])])


def _loss(one: Mapping[str, Any], scheme: str) -> str:
    row = one["rows"][scheme]
    chosen = row["chosen"]
    if not chosen:
        return ""
    shown = f"**{loss(chosen)}**" if row["best"] else loss(chosen)
    shown += f", {chosen['diverged']} of {chosen['runs']} diverged" if chosen["diverged"] else ""
    return shown + (f", {chosen['failed']} failed" if chosen["failed"] else "")


def _guess(one: Mapping[str, Any]) -> str:
    return "" if one["guess"] is None else f"{one['guess']:.3f}"


def _range(one: Mapping[str, Any], scheme: str) -> str:
    row = one["rows"][scheme]
    if not row["chosen"]:
        return ""
    return f"**{row['range']}**" if _widest(one, scheme) else str(row["range"])


def _widest(one: Mapping[str, Any], scheme: str) -> bool:
    ranges = {name: row["range"] for name, row in one["rows"].items() if row["chosen"]}
    return bool(scheme in ranges and ranges[scheme] == max(ranges.values()) > 0)


def _rate(one: Mapping[str, Any], scheme: str) -> str:
    chosen = one["rows"][scheme]["chosen"]
    if not chosen:
        return ""
    shown = number(chosen["rate"])
    return f"({shown})" if chosen["rate"] in (one["rates"][0], one["rates"][-1]) else shown


def _count(networks: Mapping[str, Any], scheme: str, what: str) -> str:
    """On how many networks it is best or tied, or has the widest range, of those that have results."""
    known = [one for one in networks.values() if one["rows"][scheme]["chosen"]]
    good = sum(one["rows"][scheme]["best"] if what == "best" else _widest(one, scheme) for one in known)
    return f"{good} of {len(known)}"
