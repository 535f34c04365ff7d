"""Networks in print: boxes coloured by the kind of layer, straight from the genome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from ....core.files import save_figure
from ....errors import OptionError
from ....names import shown
from ...drawing import new_figure
from ..network import NetworkGenome
from .colours import EDGE, FAINT, FAMILIES, INK
from .sketch import SPACE, Sketch, sketch

POINTS = 72.0
TITLE = 34.0
MARGIN = 10.0


@dataclass(frozen=True)
class Portrait:
    """A network to be drawn, with two lines above it. schemes: whether initialization genes count."""

    network: NetworkGenome
    title: str
    subtitle: str = ""
    schemes: bool = True


def portraits(chosen: Sequence[Portrait], path: str | Path | None = None) -> Any:
    """Networks side by side, in the true size of their letters."""
    if not chosen:
        raise OptionError("there is no network to draw", where="portraits", fix="give at least one")
    drawn = [sketch(one.network, schemes=one.schemes) for one in chosen]
    widths = [one.width + 2 * MARGIN for one in drawn]
    families = list(dict.fromkeys(family for one in drawn for family in one.families))
    height = max(one.height for one in drawn) + TITLE + 2 * MARGIN
    legend = 22.0
    figure = new_figure(sum(widths) / POINTS, (height + legend) / POINTS, layout=None)
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set(xlim=(0, sum(widths)), ylim=(height + legend, 0))
    axis.axis("off")
    left = 0.0
    for one, portrait, width in zip(drawn, chosen, widths, strict=True):
        middle = left + width / 2
        axis.text(middle, 12, shown(portrait.title), fontsize=8.5, ha="center", va="center", color=INK, weight="bold")
        told = " · ".join(filter(None, (portrait.subtitle, one.note)))
        axis.text(middle, 24, shown(told), fontsize=6.5, ha="center", va="center", color=FAINT)
        _draw(axis, one, left + MARGIN, TITLE + MARGIN)
        left += width
    _key(axis, families, height + legend / 2, sum(widths))
    if path is not None:
        save_figure(figure, path)
    return figure


def _draw(axis: Any, one: Sketch, left: float, top: float) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.path import Path as Curve

    for line in one.lines:
        points = [(x + left, y + top) for x, y in line]
        codes, places = [Curve.MOVETO], [points[0]]
        for (x, y), (u, v) in pairwise(points):
            codes += [Curve.CURVE4] * 3
            places += [(x, (y + v) / 2), (u, (y + v) / 2), (u, v)]
        axis.add_patch(PathPatch(Curve(places, codes), fill=False, edgecolor=EDGE, linewidth=0.9, zorder=1))
        x, y = points[-1]
        axis.fill([x - 2.6, x + 2.6, x], [y - 4.2, y - 4.2, y], color=EDGE, linewidth=0, zorder=2)
    for box in one.boxes:
        x, y = box.x + left, box.y + top
        corner = (x - box.width / 2, y - box.height / 2)
        axis.add_patch(
            FancyBboxPatch(
                corner, box.width, box.height, "round,pad=0,rounding_size=4", facecolor=FAMILIES[box.family],
                edgecolor=EDGE, linewidth=0.7, zorder=3,
            )
        )  # fmt: skip
        shift = 6.0 if box.detail else 0.0
        axis.text(x, y - shift, box.title, fontsize=7.5, ha="center", va="center", color=INK, zorder=4)
        if box.detail:
            axis.text(x, y + 7.5, box.detail, fontsize=6.3, ha="center", va="center", color="#3d434b", zorder=4)


def _key(axis: Any, families: Sequence[str], y: float, width: float) -> None:
    """Which colour is which kind, as far as it fits."""
    from matplotlib.patches import Rectangle

    sizes = [18 + 4.0 * len(family) + SPACE for family in families]
    while sizes and sum(sizes) > width:
        sizes.pop()
    x = (width - sum(sizes)) / 2
    for family, size in zip(families, sizes, strict=False):
        axis.add_patch(Rectangle((x, y - 4), 9, 8, facecolor=FAMILIES[family], edgecolor=EDGE, linewidth=0.6))
        axis.text(x + 13, y, family, fontsize=7, va="center", color=INK)
        x += size
