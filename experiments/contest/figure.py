"""The figure of the contest: a panel for each network, a line for each initialization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from .. import drawing
from ..trials import Trial
from .judging import summary
from .presets import Preset
from .schemes import LABELS, OURS

COLUMNS = 4
LOOKS: dict[str, tuple[str, str, str]] = {
    "default": ("#1b1b1e", "--", "s"),
    "small_normal": ("#8c564b", "-", "v"),
    "glorot_uniform": ("#009e73", "-", "^"),
    "he_normal": ("#cc79a7", "-", "<"),
    "lecun_uniform": ("#56b4e9", "-", ">"),
    "orthogonal": ("#b3a100", "-", "p"),
    "zero_ends": ("#9467bd", ":", "x"),
    "lsuv": ("#d55e00", "--", "D"),
    "autoinit": ("#e69f00", "-.", "h"),
    OURS: ("#0072b2", "-", "o"),
}
"""Colour, dashes and marker."""


def figures(trials: Sequence[Trial], preset: Preset, folder: Path) -> list[str]:
    """Mean test loss against the learning rate; below the dotted line training works."""
    networks = summary(trials, preset)["networks"]
    columns = min(COLUMNS, len(networks))
    lines = ceil(len(networks) / columns)
    drawn = drawing.figure(0.6 + 3.1 * columns, 0.9 + 2.5 * lines)
    axes = drawn.subplots(lines, columns, squeeze=False).ravel()
    for axis in axes[len(networks) :]:
        axis.set_visible(False)
    for place, (axis, (name, one)) in enumerate(zip(axes, networks.items(), strict=False)):
        _panel(axis, one)
        axis.set_title(name, fontsize=9)
        if place % columns == 0:
            axis.set_ylabel("test loss", fontsize=8)
        if place >= len(networks) - columns:
            axis.set_xlabel("learning rate", fontsize=8)
    shown = axes[: len(networks)]
    drawing.legend_below(drawn, shown, columns=5)
    return [drawing.finish(drawn, shown, folder / "contest.png")]


def _panel(axis: Any, one: Mapping[str, Any]) -> None:
    axis.set_xscale("log")
    if one["guess"] is None:
        return
    for scheme, row in one["rows"].items():
        colour, dashes, marker = LOOKS[scheme]
        ours = scheme == OURS
        rates, losses = ([point[what] for point in row["points"]] for what in ("rate", "test"))
        axis.plot(rates, losses, color=colour, linestyle=dashes, marker=marker, markersize=4.5 if ours else 3,
                  linewidth=2.8 if ours else 1.0, zorder=5 if ours else 3, label=LABELS[scheme])  # fmt: skip
    axis.axhline(one["works"], color=drawing.CHANCE, linewidth=1, linestyle=":", zorder=1, label="training works below")
    room = (one["guess"] - one["best"]) or 1.0
    axis.set_ylim(one["best"] - 0.06 * room, one["guess"] + 0.06 * room)
