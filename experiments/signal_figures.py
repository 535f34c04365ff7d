"""Variance against depth: default in the upper row, AutoInit in the lower; many tensors become strands of points."""

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
FOLLOWED = 60
"""A line through more tensors than this cannot be followed by eye."""
HEADS = {"activation": "{}", "dropout": "dropout {}", "norm": "ResNet-{}, batch norm", "no norm": "ResNet-{}, no norm"}


def draw(trials: Sequence[Trial], panel: str, path: Path) -> str:
    """One column for each value of the panel, all on the same axis of variances."""
    values = list(dict.fromkeys(trial.at["value"] for trial in trials))
    drawn = drawing.figure(0.8 + max(2.1, 8.4 / len(values)) * len(values), 4.6)
    axes = drawn.subplots(2, len(values), sharex="col", sharey=True, squeeze=False)
    for column, value in enumerate(values):
        axes[0, column].set_title(HEADS[panel].format(number(value)), fontsize=9)
        axes[1, column].set_xlabel("tensor, in order", fontsize=8)
        for axis, scheme in zip(axes[:, column], SCHEMES, strict=True):
            axis.axhline(1.0, color=TARGET, linewidth=1, linestyle="--", label="variance 1", zorder=1)
            for trial in where(trials, panel=panel, value=value, scheme=scheme):
                (_line if len(trial.value["measured"]) <= FOLLOWED else _strands)(axis, trial)
    for axis, scheme in zip(axes[:, 0], SCHEMES, strict=True):
        axis.set_ylabel(f"{drawing.NAMES[scheme]}\nvariance", fontsize=9)
    axes[0, 0].set_yscale("log")
    axes[0, 0].set_ylim(*_limits(trials))
    crowded = any(len(trial.value["measured"]) > FOLLOWED for trial in trials)
    drawing.legend_below(drawn, axes.ravel(), columns=5, scale=3.0 if crowded else 1.0)
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
    size = 4.5 if len(depth) < 250 else 3.0 if len(depth) < 1000 else 2.2
    style = {"linestyle": "none", "marker": ".", "markeredgewidth": 0}
    axis.plot(depth, measured, color=MEASURED, markersize=size, alpha=0.6, label="measured", zorder=4, **style)
    axis.plot(depth, predicted, color=LINE, markersize=size, alpha=0.8, label="predicted", zorder=2, **style)
    axis.plot(weight, predicted[weight], color=WEIGHT, markersize=size, zorder=3,
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
