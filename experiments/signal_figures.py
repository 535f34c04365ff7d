"""Variance against depth, default in the upper row and AutoInit in the lower one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autoinit.report.plot import LINE, MEASURED, TARGET, WEIGHT

from . import drawing
from .tables import number
from .trials import Trial, where

SCHEMES = ("default", "autoinit")
LARGEST = 3e38
"""Of single precision."""
HEADS = {"activation": "{}", "dropout": "dropout {}", "norm": "ResNet-{}, batch norm", "no norm": "ResNet-{}, no norm"}


def all_cnn_c(trials: Sequence[Trial], panel: str, path: Path) -> str:
    """One column for each value; every tensor is a point on a line."""
    return _grid(trials, [(panel, value) for value in dict.fromkeys(t.at["value"] for t in trials)], path, lines=True)


def resnets(trials: Sequence[Trial], path: Path) -> str:
    """Columns: depths with norm, then without; thousands of tensors are drawn as points."""
    places = list(dict.fromkeys((t.at["panel"], t.at["value"]) for t in trials))
    return _grid(trials, places, path, lines=False)


def _grid(trials: Sequence[Trial], places: Sequence[tuple[str, Any]], path: Path, lines: bool) -> str:
    drawn = drawing.figure(0.8 + 2.1 * len(places), 4.6)
    axes = drawn.subplots(2, len(places), sharex="col", sharey=True, squeeze=False)
    for column, (panel, value) in enumerate(places):
        axes[0, column].set_title(HEADS[panel].format(number(value)), fontsize=9)
        axes[1, column].set_xlabel("tensor, in order", fontsize=8)
        for axis, scheme in zip(axes[:, column], SCHEMES, strict=True):
            axis.axhline(1.0, color=TARGET, linewidth=1, linestyle="--", label="variance 1", zorder=1)
            for trial in where(trials, panel=panel, value=value, scheme=scheme):
                (_line if lines else _strands)(axis, trial)
    for axis, scheme in zip(axes[:, 0], SCHEMES, strict=True):
        axis.set_ylabel(f"{drawing.NAMES[scheme]}\nvariance", fontsize=9)
    axes[0, 0].set_yscale("log")
    axes[0, 0].set_ylim(*_limits(trials))
    drawing.legend_below(drawn, axes.ravel(), columns=5)
    return drawing.finish(drawn, axes.ravel(), path)


def _line(axis: Any, trial: Trial) -> None:
    weight, predicted, measured = _values(trial)
    depth = np.arange(len(predicted))
    axis.plot(depth, predicted, color=LINE, linewidth=1.1, alpha=0.8, label="predicted", zorder=2)
    axis.plot(weight, predicted[weight], linestyle="none", marker=".", markersize=7, markeredgewidth=0, color=WEIGHT,
              label="predicted, layers with weights", zorder=4)  # fmt: skip
    axis.plot(depth, measured, linestyle="none", marker="x", markersize=3.5, markeredgewidth=0.8, color=MEASURED,
              label="measured", zorder=5)  # fmt: skip


def _strands(axis: Any, trial: Trial) -> None:
    weight, predicted, measured = _values(trial)
    depth = np.arange(len(predicted))
    style = {"linestyle": "none", "marker": ".", "markeredgewidth": 0}
    axis.plot(depth, measured, color=MEASURED, markersize=2, alpha=0.5, label="measured", zorder=2, **style)
    axis.plot(depth, predicted, color=LINE, markersize=1.4, alpha=0.8, label="predicted", zorder=3, **style)
    axis.plot(weight, predicted[weight], color=WEIGHT, markersize=1.8, zorder=4,
              label="predicted, layers with weights", **style)  # fmt: skip
    lost = np.flatnonzero(~np.isfinite(np.asarray(trial.value["measured"], float)))
    if len(lost):
        axis.axvspan(lost[0], len(measured), color=drawing.CHANCE, alpha=0.12, linewidth=0, zorder=0,
                     label="not finite in single precision")  # fmt: skip


def _values(trial: Trial) -> tuple[Any, Any, Any]:
    """What is zero or too large for single precision has no place on the axis."""
    weight = np.asarray(trial.value["weight"], int)
    both = (np.asarray(trial.value[name], float) for name in ("predicted", "measured"))
    predicted, measured = (np.where(np.isfinite(v) & (v > 0) & (v < LARGEST), v, np.nan) for v in both)
    return weight, predicted, measured


def _limits(trials: Sequence[Trial]) -> tuple[float, float]:
    """At least two decades."""
    values = np.concatenate([np.concatenate(_values(trial)[1:]) for trial in trials])
    values = values[np.isfinite(values)]
    return min(values.min(initial=1.0) / 2, 0.1), max(values.max(initial=1.0) * 2, 10.0)
