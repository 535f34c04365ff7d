"""Variance and mean against depth, with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.plan import Plan
from ..measurement import Measurement
from .data import Series, series

LINE, WEIGHT, MEASURED, TARGET = "#30638e", "#d1495b", "#1b1b1e", "#8d99ae"
SMALLEST = 1e-30


def plot(
    items: Plan | Measurement | Sequence[Plan | Measurement],
    path: str | Path | None = None,
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
) -> Any:
    """Draw one or several plans or measurements side by side; return the figure, and save it if a path is given.

    The blue line is the prediction, red dots mark the outputs of weight layers, black crosses what was measured.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'autoinit[plot]'") from error
    chosen = [items] if isinstance(items, (Plan, Measurement)) else list(items)
    if labels is not None and len(labels) != len(chosen):
        raise ValueError(f"{len(chosen)} things to draw, but {len(labels)} labels")
    drawn = [series(item, labels[k] if labels is not None else None) for k, item in enumerate(chosen)]
    targets = [(item.plan if isinstance(item, Measurement) else item).variance for item in chosen]
    columns = len(drawn)
    figure = Figure(figsize=(1.2 + 4.2 * columns, 4.6), dpi=120, layout="constrained")
    axes = figure.subplots(2, columns, sharex="col", sharey="row", squeeze=False, height_ratios=[2.2, 1])
    for k, one in enumerate(drawn):
        _variance(axes[0, k], one, targets[k])
        _mean(axes[1, k], one)
        axes[0, k].set_title(one.label, fontsize=10)
        axes[1, k].set_xlabel("tensor, in the order of execution", fontsize=9)
    axes[0, 0].set_ylabel("variance", fontsize=9)
    axes[1, 0].set_ylabel("mean", fontsize=9)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), fontsize=8, frameon=False)
    if title:
        figure.suptitle(title, fontsize=11)
    if path is not None:
        figure.savefig(path)
    return figure


def _variance(axis: Any, one: Series, target: float) -> None:
    depth = np.arange(len(one.variance))
    values = np.maximum(np.asarray(one.variance, float), SMALLEST)
    weight = np.asarray(one.weight, bool)
    axis.axhline(target, color=TARGET, linewidth=1, linestyle="--", label="target", zorder=1)
    axis.plot(depth, _hidden_zeros(values), color=LINE, linewidth=0.9, alpha=0.7, label="predicted", zorder=2)
    marks = {"color": WEIGHT, "markersize": 4, "linewidth": 0.9, "label": "weight layers", "zorder": 3}
    axis.plot(depth[weight], _hidden_zeros(values[weight]), ".-", **marks)
    if one.measured_variance is not None:
        found = _hidden_zeros(np.maximum(np.asarray(one.measured_variance, float), SMALLEST))
        axis.plot(depth, found, "x", color=MEASURED, markersize=3, markeredgewidth=0.7, label="measured", zorder=4)
    axis.set_yscale("log")
    _tidy(axis)


def _mean(axis: Any, one: Series) -> None:
    depth = np.arange(len(one.mean))
    weight = np.asarray(one.weight, bool)
    mean = np.asarray(one.mean, float)
    axis.plot(depth, mean, color=LINE, linewidth=0.9, alpha=0.7, zorder=2)
    axis.plot(depth[weight], mean[weight], ".-", color=WEIGHT, markersize=4, linewidth=0.9, zorder=3)
    if one.measured_mean is not None:
        axis.plot(depth, one.measured_mean, "x", color=MEASURED, markersize=3, markeredgewidth=0.7, zorder=4)
    _tidy(axis)


def _hidden_zeros(values: Any) -> Any:
    """A variance of zero has no place on a log axis: a gap."""
    return np.where(values > SMALLEST, values, np.nan)


def _tidy(axis: Any) -> None:
    axis.grid(True, color="#e5e5e5", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.tick_params(labelsize=8)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
