"""What was measured at each step, over the predicted band, with matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..core.files import save_figure
from ..errors import AutoInitError, MissingPackage
from ..names import shown
from ..plans import Plan
from .observation import Observation, layer_names
from .tables import thinned

BAND, TARGET = "#30638e", "#8d99ae"
SMALLEST = 1e-30
IN_LEGEND = 8
"""More steps than this get a colour bar instead of one entry each."""
NAMED = 24
"""Up to so many layers are named on the axis."""


def draw(plan: Plan, record: list[Observation], path: str | Path | None = None, *, title: str | None = None) -> Any:
    """Variance and mean of every weight layer; early steps dark, late steps bright."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingPackage("plots need matplotlib", "autoinit-nn[plot]") from None
    layers = plan.weight_layers
    if not layers:
        raise AutoInitError("the plan has no weight layers to draw", where="Watch.plot", received=plan.model)
    steps = sorted({row.step for row in record})
    shades = dict(zip(steps, colormaps["plasma"](np.linspace(0.0, 0.85, len(steps))), strict=True)) if steps else {}
    figure = Figure(figsize=(min(14.0, max(6.4, 2.4 + 0.28 * len(layers))), 5.6), dpi=120, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.2, 1])
    _predicted(above, below, plan)
    place = {t.index: k for k, t in enumerate(layers)}
    for step in steps:
        seen = [row for row in record if row.step == step]
        where = [place[row.predicted.index] for row in seen]
        style = {
            "color": shades[step],
            "linestyle": "none",
            "marker": "o",
            "markersize": 4.0 if len(layers) < 60 else 2.5,
        }
        label = f"step {step}" if len(steps) <= IN_LEGEND else None
        above.plot(where, _positive([row.variance for row in seen]), label=label, zorder=4, **style)
        below.plot(where, [row.mean for row in seen], zorder=4, **style)
        _broken(above, seen, place)
    _finish(figure, above, below, plan, record)
    if len(steps) > IN_LEGEND:
        _colour_bar(figure, (above, below), steps)
    figure.legend(loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    named = title or f"{plan.model}: predicted, and measured while training"
    figure.suptitle(shown(named), fontsize=11, parse_math=False)
    if path is not None:
        save_figure(figure, path)
    return figure


def _predicted(above: Any, below: Any, plan: Plan) -> None:
    layers = plan.weight_layers
    depth = np.arange(len(layers))
    bands = np.array([t.band for t in layers], float)
    above.axhline(plan.variance, color=TARGET, linewidth=1, linestyle="--", label="target", zorder=1)
    above.fill_between(depth, _positive(bands[:, 0]), _positive(bands[:, 1]), color=BAND, alpha=0.16, linewidth=0,
                       label="scatter of draws", zorder=1)  # fmt: skip
    above.plot(
        depth, _positive([t.tensor_variance for t in layers]), color=BAND, linewidth=1.2, label="predicted", zorder=2
    )
    below.axhline(0.0, color=TARGET, linewidth=1, linestyle="--", zorder=1)
    below.plot(depth, [np.nan if t.mean is None else t.mean for t in layers], color=BAND, linewidth=1.2, zorder=2)


def _broken(axis: Any, seen: list[Observation], place: dict[int, int]) -> None:
    """Layers with entries that are not finite: a red cross at the top."""
    where = [place[row.predicted.index] for row in seen if row.nonfinite]
    if where:
        axis.plot(where, [0.97] * len(where), transform=axis.get_xaxis_transform(), color="#d00000", marker="x",
                  linestyle="none", zorder=5)  # fmt: skip


def _finish(figure: Any, above: Any, below: Any, plan: Plan, record: list[Observation]) -> None:
    values = np.array([*(t.tensor_variance for t in plan.weight_layers), *(row.variance for row in record)], float)
    values = values[np.isfinite(values) & (values > SMALLEST)]
    above.set_yscale("log")
    if values.size:
        above.set_ylim(min(values.min() / 2, 0.1), max(values.max() * 2, 10.0))
    means = np.array([row.mean for row in record], float)
    if np.any(np.abs(means[np.isfinite(means)]) > 30):
        below.set_yscale("symlog", linthresh=1.0)
    above.set_ylabel("variance", fontsize=9)
    below.set_ylabel("mean", fontsize=9)
    names = [shown(name) for name in layer_names(plan).values()]
    if len(names) <= NAMED:
        below.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7, parse_math=False)
    else:
        below.set_xlabel("weight layer, in the order of execution", fontsize=9)
    for axis in (above, below):
        axis.grid(True, color="#e5e5e5", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.tick_params(axis="y", labelsize=8)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)


def _colour_bar(figure: Any, axes: Any, steps: list[int]) -> None:
    """Shades are by rank, so that early steps stay apart from each other."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    shades = ListedColormap(colormaps["plasma"](np.linspace(0.0, 0.85, len(steps))))
    bar = figure.colorbar(ScalarMappable(Normalize(-0.5, len(steps) - 0.5), shades), ax=axes, aspect=40, pad=0.01)
    shown = thinned(steps, IN_LEGEND)
    bar.set_ticks([steps.index(k) for k in shown], labels=[str(k) for k in shown], fontsize=8)
    bar.set_label("step", fontsize=9)


def _positive(values: Any) -> Any:
    """A variance of zero has no place on a log axis: a gap."""
    given = np.asarray([np.nan if v is None else v for v in values], float)
    return np.where(np.isfinite(given) & (given > SMALLEST), given, np.nan)
