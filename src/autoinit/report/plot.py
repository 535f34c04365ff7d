"""Variance and mean against depth, and gradients where a plan has them, with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.files import save_figure
from ..core.plan.measured import MeasurementData, Result
from ..core.plan.plan import PlanData
from ..errors import MissingPackage, OptionError
from ..names import shown
from .data import Series, plan_of, series

LINE, WEIGHT, MEASURED, TARGET = "#30638e", "#d1495b", "#1b1b1e", "#8d99ae"
TITLE = "Variance and mean of every tensor"
WITH_GRADIENTS = "Forward and backward: variance, mean and gradient of every tensor, |g|/|w| of every weight"
WITHOUT = "made without gradients=True"
SMALLEST = 1e-30
CROWDED = 300
"""Above so many tensors a line through all of them is a smear."""


def plot(
    items: Result | Sequence[Result],
    path: str | Path | None = None,
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
    compare: Mapping[str, Result] | None = None,
    measured: MeasurementData | None = None,
) -> Any:
    """Draw one or several plans or measurements side by side; return the figure, and save it if a path is given.

    Blue is the prediction, the band how finite width scatters it from draw to draw, red dots mark the outputs of
    weight layers, black crosses what was measured. `compare` puts others before `items`, each with its label;
    `measured` draws a measurement over the (last) plan. `title=""` leaves the title out. Where a plan has gradients,
    two panels more show their root mean square at every tensor, and |g|/|w| of the weights.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingPackage("plots need matplotlib", "autoinit-nn[plot]") from None
    chosen = [items] if isinstance(items, (PlanData, MeasurementData)) else list(items)
    if labels is not None and len(labels) != len(chosen):
        raise OptionError(f"{len(chosen)} things to draw, but {len(labels)} labels", where="plot",
                          received=repr(list(labels)), fix="give one label for each")  # fmt: skip
    names = list(labels) if labels is not None else [_label(item, bool(compare)) for item in chosen]
    chosen, names = [*(compare or {}).values(), *chosen], [*(compare or {}), *names]
    drawn = [series(item, name) for item, name in zip(chosen, names, strict=True)]
    if measured is not None:
        drawn[-1] = series(chosen[-1], names[-1], measured)
    backward = any(one.gradient is not None for one in drawn)
    shares = [2.2, 1, 1.6, 1.3] if backward else [2.2, 1]
    figure = Figure(figsize=(1.2 + 4.2 * len(drawn), 1.2 + 1.125 * sum(shares)), dpi=120, layout="constrained")
    axes = figure.subplots(len(shares), len(drawn), sharex="col", sharey="row", squeeze=False, height_ratios=shares)
    for k, one in enumerate(drawn):
        _variance(axes[0, k], one, plan_of(chosen[k]).variance)
        _mean(axes[1, k], one)
        if backward:
            _backward(axes[2, k], axes[3, k], one)
        axes[0, k].set_title(shown(one.label), fontsize=10, parse_math=False)
        axes[-1, k].set_xlabel("tensor, in the order of execution", fontsize=9)
    _scales(axes, drawn)
    for axis, name in zip(axes[:, 0], ("variance", "mean", "gradient, r.m.s.", "|g|/|w|"), strict=False):
        axis.set_ylabel(name, fontsize=9)
    legend = {name: handle for axis in axes[0] for handle, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    scale = 4 if any(len(one.weight) > CROWDED for one in drawn) else 1
    figure.legend(
        legend.values(), legend, loc="outside lower center", ncols=len(legend), fontsize=8, frameon=False,
        markerscale=scale,
    )  # fmt: skip
    if title != "":
        usual = TITLE if not backward else WITH_GRADIENTS if len(drawn) > 1 else "Forward and backward"
        figure.suptitle(shown(usual if title is None else title), fontsize=11, parse_math=False)
    if path is not None:
        save_figure(figure, path)
    return figure


def _label(item: Result, compared: bool) -> str:
    """Beside others a plan is named by what it does."""
    plan = plan_of(item)
    return plan.model if not compared else "as it is now" if plan.checked else "AutoInit"


def _variance(axis: Any, one: Series, target: float) -> None:
    values, weight = _without_zeros(one.variance), np.asarray(one.weight, bool)
    measured = None if one.measured_variance is None else _without_zeros(one.measured_variance)
    banded = _judged(weight)
    low, high = (_without_zeros(side)[banded] for side in (one.low, one.high))
    axis.axhline(target, color=TARGET, linewidth=1, linestyle="--", label="target", zorder=1)
    axis.fill_between(banded, low, high, color=LINE, alpha=0.16, linewidth=0, zorder=1, label="scatter of draws")
    _curves(axis, values, weight, measured)


def _mean(axis: Any, one: Series) -> None:
    axis.axhline(0.0, color=TARGET, linewidth=1, linestyle="--", zorder=1)
    measured = None if one.measured_mean is None else np.asarray(one.measured_mean, float)
    _curves(axis, np.asarray(one.mean, float), np.asarray(one.weight, bool), measured)


def _backward(tensors: Any, weights: Any, one: Series) -> None:
    """Gradients at every tensor, and |g|/|w|: predicted dots, measured crosses."""
    for axis in (tensors, weights):
        axis.set_yscale("log")
    if one.gradient is None or one.ratio is None:
        tensors.text(0.5, 0.5, WITHOUT, transform=tensors.transAxes, ha="center", va="center", fontsize=8, color=TARGET)
        return
    weight = np.asarray(one.weight, bool)
    tensors.axhline(1.0, color=TARGET, linewidth=1, linestyle="--", zorder=1)
    _curves(tensors, _without_zeros(one.gradient), weight, None)
    layers, ratio = np.flatnonzero(weight), _without_zeros(one.ratio)
    weights.plot(layers, ratio[layers], color=WEIGHT, zorder=4, **_dots(7.0 if len(layers) <= 60 else 4.0))
    if one.measured_ratio is not None:
        cross = {"linestyle": "none", "marker": "x", "markersize": 3.5, "markeredgewidth": 0.7}
        weights.plot(layers, _without_zeros(one.measured_ratio)[layers], color=MEASURED, label="measured", zorder=5,
                     **cross)  # fmt: skip


def _curves(axis: Any, predicted: Any, weight: Any, measured: Any) -> None:
    """A line through every tensor while it can be followed by eye; among many, points: alike ones form strands.

    Then measured points are those of the weight layers only.
    """
    depth, layers = np.arange(len(weight)), np.flatnonzero(weight)
    crowded = len(weight) > CROWDED
    if crowded:
        axis.plot(depth[~weight], predicted[~weight], color=LINE, label="predicted", zorder=2, alpha=0.7, **_dots(1.8))
    else:
        axis.plot(depth, predicted, color=LINE, linewidth=1.1, alpha=0.8, label="predicted", zorder=2)
    size = 7.0 if len(layers) <= 60 else 3.0 if crowded else 5.0
    axis.plot(layers, predicted[layers], color=WEIGHT, label="weight layers", zorder=4, **_dots(size))
    if measured is not None and crowded:
        shown = _judged(weight)
        axis.plot(shown, measured[shown], color=MEASURED, label="measured", zorder=3, alpha=0.6, **_dots(1.8))
    elif measured is not None:
        cross = {"linestyle": "none", "marker": "x", "markersize": 3.5, "markeredgewidth": 0.7}
        axis.plot(depth, measured, color=MEASURED, label="measured", zorder=5, **cross)


def _judged(weight: Any) -> Any:
    """The tensors that bands and measured points are drawn for: all, or of many the weight layers (if any)."""
    return np.flatnonzero(weight) if len(weight) > CROWDED and np.any(weight) else np.arange(len(weight))


def _dots(size: float) -> dict[str, Any]:
    return {"linestyle": "none", "marker": ".", "markersize": size, "markeredgewidth": 0}


def _scales(axes: Any, drawn: Sequence[Series]) -> None:
    """Logarithmic variances of at least two decades; means linear while they are small, logarithmic beyond."""
    variances = np.array([v for one in drawn for v in (*one.variance, *(one.measured_variance or ()))], float)
    variances = variances[np.isfinite(variances) & (variances > SMALLEST)]
    means = np.array([m for one in drawn for m in (*one.mean, *(one.measured_mean or ()))], float)
    large = bool(np.any(np.abs(means[np.isfinite(means)]) > 30))
    for axis in axes[0]:
        axis.set_yscale("log")
        _tidy(axis)
    for axis in axes[1]:
        if large:
            axis.set_yscale("symlog", linthresh=1.0)
        _tidy(axis)
    for axis in axes[2:].flat:
        _tidy(axis)
        axis.yaxis.set_minor_formatter(lambda value, position: "")
    for row, names in zip(axes[2:], (("gradient",), ("ratio", "measured_ratio")), strict=False):
        row[0].set_ylim(*_decades([v for one in drawn for name in names for v in getattr(one, name) or ()]))
    if variances.size:
        low, high = min(variances.min() / 2, 0.1), max(variances.max() * 2, 10.0)
        axes[0, 0].set_ylim(low, high)


def _decades(given: Sequence[float]) -> tuple[float, float]:
    """Whole powers of ten around positive values."""
    values = np.asarray(given, float)
    values = values[np.isfinite(values) & (values > SMALLEST)]
    if not values.size:
        return 0.1, 10.0
    low, high = np.floor(np.log10(values.min() / 1.1)), np.ceil(np.log10(values.max() * 1.1))
    return float(10.0**low), float(10.0**high)


def _without_zeros(values: Sequence[float]) -> Any:
    """A variance of zero has no place on a log axis: a gap."""
    given = np.asarray(values, float)
    return np.where(np.isfinite(given) & (given > SMALLEST), given, np.nan)


def _tidy(axis: Any) -> None:
    axis.grid(True, color="#e5e5e5", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.tick_params(labelsize=8)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
