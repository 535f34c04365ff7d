"""The figures of the examples: training losses, smoothed a little, and signals, under several initializations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

WINDOW = 10
"""Steps that each point is the mean of."""
LARGEST = 100.0
"""Losses beyond are off the figure."""


def smoothed(losses: Sequence[float]) -> list[float]:
    """Means of up to WINDOW losses before each step."""
    return [sum(losses[max(0, k - WINDOW + 1) : k + 1]) / min(k + 1, WINDOW) for k in range(len(losses))]


def draw(curves: Mapping[str, Sequence[float]], path: Path, title: str) -> None:
    """Training losses."""
    smooth = {name: smoothed(losses) for name, losses in curves.items()}
    _draw(smooth, path, xlabel="step", ylabel="training loss", title=title, yscale="log")


def draw_signals(variances: Mapping[str, Sequence[float]], path: Path, title: str) -> None:
    """Variances of the weight layers' outputs, from the first to the last."""
    _draw(variances, path, xlabel="weight layer", ylabel="variance of its output", title=title, yscale="log")


def _draw(lines: Mapping[str, Sequence[float]], path: Path, **settings: str) -> None:
    figure, axes = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
    for name, values in lines.items():
        axes.plot(range(1, len(values) + 1), values, label=name)
    axes.set(**settings)
    axes.grid(alpha=0.3)
    axes.set_ylim(top=min(axes.get_ylim()[1], LARGEST))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
