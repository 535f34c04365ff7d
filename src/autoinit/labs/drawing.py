"""The look that the figures of labs and experiments share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from ..errors import MissingPackage

GRID = "#e5e5e5"
Layout = Literal["constrained", "compressed", "tight"] | None


def new_figure(width: float, height: float, *, layout: Layout = "constrained") -> Any:
    """A figure of so many inches; matplotlib is needed from here on."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingPackage("figures need matplotlib", "autoinit-nn[plot]") from None
    return Figure(figsize=(width, height), dpi=150, layout=layout)


def tidy(axes: Iterable[Any]) -> None:
    """A light grid behind the data, small letters, no frame above and to the right."""
    for axis in axes:
        axis.grid(True, color=GRID, linewidth=0.6)
        axis.set_axisbelow(True)
        axis.tick_params(labelsize=8)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
