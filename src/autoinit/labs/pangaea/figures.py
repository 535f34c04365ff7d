"""The figures of activation discovery, with matplotlib; each function returns its figure and can save it.

Grey, orange and blue differ in lightness too, and lines in their dashes: legible for colour-blind readers and in print.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...core.files import save_figure
from ...errors import OptionError
from ..drawing import new_figure, tidy
from . import figure_data as data
from .function import Function
from .statistics import Comparison
from .trials import NAMES, Trial

COLOURS = {"default": "#7a7a7a", "autoinit": "#e69f00", "autoinit++": "#0072b2"}
DASHES = {"default": "--", "autoinit": "-.", "autoinit++": "-"}
OMISSION = " …"
RED, BLUE, INK = "#d62828", "#2a6fbb", "#1b1b1e"


def accuracies(trials: Sequence[Trial], comparison: Comparison, path: str | Path | None = None) -> Any:
    """How many functions failed (left), and which accuracies the others reached (right)."""
    shown = data.histogram(trials, comparison)
    figure = new_figure(8.0, 3.6)
    failed, learned = figure.subplots(1, 2, width_ratios=[1, 3.6])
    for k, name in enumerate(shown.initializations):
        bar = failed.bar(k, shown.failures[k], color=COLOURS[name], width=0.8)
        failed.bar_label(bar, fontsize=9, padding=2)
    failed.set_xticks(range(len(shown.labels)), shown.labels, rotation=35, ha="right", rotation_mode="anchor")
    failed.set_ylim(0, 1.12 * max(*shown.functions, 1))
    failed.set_title("failed: no better than chance", fontsize=9)
    failed.set_ylabel("functions", fontsize=9)
    step = np.diff(shown.edges) * 100 / (len(shown.labels) + 0.5)
    for k, name in enumerate(shown.initializations):
        label = f"{shown.labels[k]}: {shown.above[k]} of {shown.functions[k]} above ReLU"
        place = shown.edges[:-1] * 100 + (k + 0.25) * step
        learned.bar(place, shown.counts[k], step, align="edge", color=COLOURS[name], label=label)
    _baseline(learned.axvline, shown.baseline * 100)
    learned.set_title("the others", fontsize=9)
    learned.set_xlabel("validation accuracy (%)", fontsize=9)
    learned.set_xlim(shown.edges[0] * 100, shown.edges[-1] * 100)
    learned.yaxis.get_major_locator().set_params(integer=True)
    learned.set_ylim(0, 1.12 * max(1, int(shown.counts.max(initial=0))))
    _legend_below(figure, learned, columns=2)
    return _finish(figure, [failed, learned], path)


def error_distributions(trials: Sequence[Trial], comparison: Comparison, path: str | Path | None = None) -> Any:
    """Fraction of functions with an error below e, two initializations at a time; an arrow marks D."""
    pairs = data.edf_pairs(trials, comparison)
    if not pairs:
        raise OptionError("distributions are compared in pairs", where="error_distributions",
                          received="trials of one initialization", fix="train with at least two")  # fmt: skip
    figure = new_figure(1.0 + 3.0 * len(pairs), 3.5)
    axes = figure.subplots(1, len(pairs), sharey=True, squeeze=False)[0]
    for axis, pair in zip(axes, pairs, strict=True):
        for name, values in zip((pair.first, pair.second), pair.values, strict=True):
            style = {"color": COLOURS[name], "linestyle": DASHES[name], "linewidth": 1.8}
            axis.step(pair.errors * 100, values, where="post", label=NAMES[name], **style)
        _mark_gap(axis, pair)
        p = "" if pair.p is None else f", p = {pair.p:.2g}"
        axis.set_title(f"{NAMES[pair.second]} against {NAMES[pair.first]}\nD = {pair.gap.size:.3f}{p}", fontsize=9)
        axis.set_xlabel("validation error (%)", fontsize=9)
        axis.set_ylim(-0.02, 1.04)
        axis.legend(fontsize=8, frameon=False, loc="upper left")
    axes[0].set_ylabel("fraction of functions below", fontsize=9)
    return _finish(figure, axes, path)


def _mark_gap(axis: Any, pair: data.EdfPair) -> None:
    where, (low, high) = 50 * (pair.gap.above + pair.gap.upto), sorted(pair.at_gap)
    arrow = {"arrowstyle": "<->", "color": INK, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    axis.annotate("", (where, low), (where, high), arrowprops=arrow, zorder=5)
    left = where > np.mean(axis.get_xlim())
    axis.annotate(
        "D",
        (where, (low + high) / 2),
        (-6 if left else 6, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center",
        fontsize=10,
        fontstyle="italic",
    )


def best_functions(
    trials: Sequence[Trial], comparison: Comparison, path: str | Path | None = None, *, count: int = 12, seed: int = 0
) -> Any:
    """Red: all parameters one, as at initialization. Blue: parameters drawn from U(0.5, 2)."""
    best = data.best_trials(trials, comparison.chance, count)
    if not best:
        raise OptionError("every function failed: there is no best one", where="best_functions",
                          fix="look at the messages of the trials")  # fmt: skip
    columns = min(4, len(best))
    rows = -(-len(best) // columns)
    figure = new_figure(2.6 * columns, 2.35 * rows + 0.3)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for k, (axis, trial) in enumerate(zip(axes, best, strict=False)):
        head = f"{k + 1}. {100 * comparison.chance.counted(trial):.1f} %, {NAMES[trial.initialization]}"
        _curves(axis, data.shape(Function.parse(trial.function_formula), seed))
        axis.set_title(f"{head}\n{short(trial.function_formula)}", fontsize=7.5)
    for axis in axes[len(best) :]:
        axis.set_visible(False)
    return _finish(figure, axes, path)


def one_function(function: Function, path: str | Path | None = None, *, seed: int = 0) -> Any:
    """One function in the colours of `best_functions`."""
    figure = new_figure(4.0, 3.4)
    axis = figure.subplots()
    _curves(axis, data.shape(function, seed))
    axis.set_title(short(function.formula, width=44, lines=3), fontsize=9)
    return _finish(figure, [axis], path)


def _curves(axis: Any, shape: data.Shape) -> None:
    for curve in shape.drawn:
        axis.plot(shape.x, curve, color=BLUE, linewidth=0.7, alpha=0.45)
    axis.plot(shape.x, shape.initial, color=RED, linewidth=1.8)
    axis.set(xlim=(shape.x[0], shape.x[-1]), ylim=shape.limits)


def short(formula: str, width: int = 34, lines: int = 2) -> str:
    """The formula in at most so many lines of about equal length; what does not fit is left out at the end."""
    wrapped = _wrapped(formula, width, lines)
    if not wrapped[-1].endswith(OMISSION):
        for narrower in range(width - 1, 0, -1):
            tried = _wrapped(formula, narrower, lines)
            if tried[-1].endswith(OMISSION) or len(tried) > len(wrapped):
                break
            wrapped = tried
    return "\n".join(wrapped)


def _wrapped(formula: str, width: int, lines: int) -> list[str]:
    return textwrap.wrap(formula, width, max_lines=lines, placeholder=OMISSION, break_on_hyphens=False)


def same_functions(
    trials: Sequence[Trial],
    comparison: Comparison,
    path: str | Path | None = None,
    *,
    first: str = "default",
    second: str = "autoinit++",
) -> Any:
    """Each function is a point: its accuracy with the one initialization and with the other."""
    shown = data.scatter(trials, comparison, first, second)
    names = {
        "both": ("learned with both", INK, "o"),
        "second": (f"only with {NAMES[second]}", COLOURS[second], "^"),
        "first": (f"only with {NAMES[first]}", COLOURS[first], "s"),
        "neither": ("failed with both", "#b0b0b0", "x"),
    }
    figure = new_figure(5.0, 5.4)
    axis = figure.subplots()
    top = 100 * min(1.0, max(shown.x.max(), shown.y.max(), shown.baseline) + 0.04)
    low = 100 * min(shown.x.min(), shown.y.min(), shown.chance) - 2
    axis.plot([low, top], [low, top], color=INK, linewidth=0.8, zorder=1)
    outcomes = np.array(shown.outcome)
    for key, (label, colour, marker) in names.items():
        chosen = outcomes == key
        style = {"color": colour, "marker": marker, "s": 26, "alpha": 0.75, "linewidths": 1.0}
        x, y = 100 * shown.x[chosen], 100 * shown.y[chosen]
        axis.scatter(x, y, label=f"{label}: {int(chosen.sum())}", clip_on=False, zorder=3, **style)
    _baseline(axis.axvline, shown.baseline * 100)
    _baseline(axis.axhline, shown.baseline * 100, label=None)
    axis.set(xlim=(low, top), ylim=(low, top), aspect="equal")
    axis.set_xlabel(f"validation accuracy with {NAMES[first]} (%)", fontsize=9)
    axis.set_ylabel(f"validation accuracy with {NAMES[second]} (%)", fontsize=9)
    _legend_below(figure, axis, columns=2)
    return _finish(figure, [axis], path)


def _baseline(line: Any, place: float, label: str | None = "ReLU, default") -> None:
    line(place, color=RED, linewidth=1.2, linestyle=":", zorder=4, label=label and f"{label}: {place:.1f} %")


def _legend_below(figure: Any, axis: Any, columns: int) -> None:
    handles, labels = axis.get_legend_handles_labels()
    place = {"loc": "outside lower center", "ncols": columns, "fontsize": 8, "frameon": False}
    ordered = sorted(zip(handles, labels, strict=True), key=lambda item: item[1].startswith("ReLU"))
    handles, labels = [item[0] for item in ordered], [item[1] for item in ordered]
    figure.legend(handles, labels, columnspacing=1.2, handlelength=1.6, **place)


def _finish(figure: Any, axes: Sequence[Any], path: str | Path | None) -> Any:
    tidy(axes)
    if path is not None:
        save_figure(figure, path)
    return figure
