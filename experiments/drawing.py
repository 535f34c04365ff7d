"""The look that all figures share.

Colours differ in lightness too, and lines in their dashes: legible for colour-blind readers and in print.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autoinit.core.files import save_figure
from autoinit.labs.drawing import new_figure as figure
from autoinit.labs.drawing import tidy

from .recipe import TRAINED

__all__ = [
    "CHANCE", "COLOURS", "INK", "NAMES", "chance_line", "figure", "finish", "legend_below", "ranges", "style",
]  # fmt: skip

COLOURS = {
    "default": "#7a7a7a", "autoinit-paper": "#e69f00", "autoinit": "#0072b2", "lsuv": "#e69f00", TRAINED: "#009e73",
}  # fmt: skip
DASHES = {"default": "--", "autoinit-paper": "-.", "autoinit": "-", "lsuv": "--", TRAINED: ":"}
MARKERS = {"default": "s", "autoinit-paper": "D", "autoinit": "o", "lsuv": "s", TRAINED: "^"}
NAMES = {
    "default": "default", "autoinit-paper": "AutoInit, paper's model", "autoinit": "AutoInit", "lsuv": "LSUV",
    TRAINED: "AutoInit, recipe for training",
}  # fmt: skip
INK, CHANCE = "#1b1b1e", "#d62828"


def style(scheme: str) -> dict[str, Any]:
    """Colour, dashes and marker of an initialization's line."""
    return {
        "color": COLOURS[scheme],
        "linestyle": DASHES[scheme],
        "marker": MARKERS[scheme],
        "markersize": 4,
        "linewidth": 1.6,
        "label": NAMES[scheme],
    }


def chance_line(axis: Any, chance: float) -> None:
    axis.axhline(100 * chance, color=CHANCE, linewidth=1, linestyle=":", zorder=1, label="chance")


def ranges(axis: Any, rows: Mapping[str, Mapping[str, Any] | None]) -> None:
    """One row for each initialization: median and range of accuracy, a cross where most runs diverged."""
    for place, (row, found) in enumerate(reversed(rows.items())):
        if found:
            scheme = TRAINED if row == NAMES[TRAINED] else "autoinit" if row.startswith("AutoInit") else "default"
            colour = COLOURS[scheme]
            marker = "x" if 2 * found["diverged"] > found["runs"] else "o"
            axis.hlines(place, 100 * found["low"], 100 * found["high"], color=colour, linewidth=1.4)
            axis.plot(100 * found["median"], place, color=colour, marker=marker, markersize=5)
    axis.set_yticks(range(len(rows)), list(reversed(rows)))
    axis.set_xlabel("test accuracy (%)\n×: diverged", fontsize=9)


def legend_below(drawn: Any, axes: Iterable[Any], columns: int = 4, scale: float = 1.0) -> None:
    """One legend for all axes, each label once; `scale` enlarges its markers."""
    found = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    if found:
        place = {"loc": "outside lower center", "ncols": columns, "fontsize": 8, "frameon": False}
        drawn.legend(found.values(), found, markerscale=scale, **place)


def finish(drawn: Any, axes: Iterable[Any], path: Path) -> str:
    """Grids and small letters; save, and return the file's name."""
    tidy(axes)
    save_figure(drawn, path)
    return path.name
