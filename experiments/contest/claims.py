"""What the contest is to show, and where it shows the opposite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..claim import NO, PARTLY, YES, Claim, Finding
from .judging import ahead
from .schemes import LABELS, OURS

BEST, WIDEST = 0.9, 0.75
"""The share of the networks on which our initialization has to be best, and to have the widest range."""


def _networks(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """The rows of all networks; None while one is not complete or ours is not among them."""
    networks = summary["networks"]
    ready = all(one["complete"] and OURS in one["rows"] for one in networks.values())
    return {name: one["rows"] for name, one in networks.items()} if networks and ready else None


def _found(good: list[str], networks: Mapping[str, Any], wanted: float, words: str) -> Finding:
    missing = [name for name in networks if name not in good]
    share = len(good) / len(networks)
    text = f"{words} in {len(good)} of {len(networks)} networks" + (f"; not in {', '.join(missing)}" if missing else "")
    return Finding(text, YES if share >= wanted else PARTLY if share >= 0.5 else NO)


def _best(summary: Mapping[str, Any]) -> Finding | None:
    networks = _networks(summary)
    if networks is None:
        return None
    good = [name for name, rows in networks.items() if rows[OURS]["best"]]
    return _found(good, networks, BEST, "best or tied")


def _widest(summary: Mapping[str, Any]) -> Finding | None:
    """A network that nobody can train has no widest range."""
    networks = _networks(summary)
    if networks is None:
        return None
    widest = {name: max(row["range"] for row in rows.values()) for name, rows in networks.items()}
    good = [name for name, rows in networks.items() if rows[OURS]["range"] == widest[name] > 0]
    return _found(good, networks, WIDEST, "the widest range of learning rates, alone or shared,")


def losses(summary: Mapping[str, Any]) -> list[str]:
    """Every network on which another initialization has a lower mean test loss, or a wider range of rates."""
    return [line for name, one in summary["networks"].items() for line in _lost(name, one["rows"])]


def _lost(name: str, rows: Mapping[str, Any]) -> Iterator[str]:
    ours = rows.get(OURS)
    if not ours or not ours["chosen"]:
        return
    others = {scheme: row for scheme, row in rows.items() if scheme != OURS and row["chosen"]}
    lower = {s: row["chosen"] for s, row in others.items() if row["chosen"]["test"] < ours["chosen"]["test"]}
    if lower:
        told = ", ".join(f"{LABELS[s]} {loss(c)}{_tied(c, ours['chosen'])}" for s, c in lower.items())
        yield f"{name}: {LABELS[OURS]} has the test loss {loss(ours['chosen'])}; lower: {told}"
    wider = {s: row["range"] for s, row in others.items() if row["range"] > ours["range"]}
    if wider:
        told = ", ".join(f"{LABELS[s]} at {count}" for s, count in wider.items())
        yield f"{name}: {LABELS[OURS]} works at {ours['range']} of the learning rates; at more: {told}"


def _tied(one: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    return "" if ahead(one, ours) else " (tied)"


def loss(chosen: Mapping[str, Any]) -> str:
    return f"{chosen['test']:.3f} ± {chosen['error']:.3f}"


CLAIMS = [
    Claim(f"{LABELS[OURS]} is the best of the contest's initializations or tied with it on at least "
          f"{100 * BEST:g} % of the networks", None, _best),
    Claim(f"{LABELS[OURS]} works at as many learning rates as any other initialization, or more, on at least "
          f"{100 * WIDEST:g} % of the networks", None, _widest),
]  # fmt: skip
