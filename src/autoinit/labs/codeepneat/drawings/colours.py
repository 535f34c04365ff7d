"""Colours of arms, layers and choices, in print and on pages.

Arms differ in lightness and dashes too; layers carry their names: legible for colour-blind readers and in grey.
"""

from __future__ import annotations

INK, FAINT, EDGE = "#1b1b1e", "#7a7a7a", "#5b6470"

ARMS = {"evolved": "#7a7a7a", "autoinit-paper": "#e69f00", "autoinit": "#0072b2", "autoinit-train": "#009e73"}
OTHER_ARMS = ("#cc79a7", "#d55e00", "#56b4e9", "#b3a100")
DASHES = {"evolved": "--", "autoinit-paper": "-.", "autoinit": "-", "autoinit-train": ":"}

FAMILIES = {
    "convolution": "#bcd7f0", "dense": "#bcd7f0", "recurrent": "#d3c5ec", "embedding": "#f3c6d8",
    "projection": "#dbe7f3", "dropout": "#f6e2a8", "pooling": "#f5cba7", "merge": "#c5e6cf", "input": "#e4e6ea",
    "output": "#f2b8b5",
}  # fmt: skip
"""Fillings of boxes in print. Convolutions and dense layers are never in one drawing."""

SHARES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#f0e442")
"""Of parts of a whole, in order; used again from the start where there are more."""


def arm(name: str, others: list[str]) -> str:
    """The colour of an initialization; `others` are all arms that have none of their own, in order."""
    return ARMS.get(name) or OTHER_ARMS[others.index(name) % len(OTHER_ARMS)]


def shares(names: list[str]) -> dict[str, str]:
    return {name: SHARES[k % len(SHARES)] for k, name in enumerate(names)}
