"""The figures show the numbers of the trials, legibly; their data are made without drawing."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg

from autoinit.errors import OptionError
from autoinit.labs.pangaea import Function, figure_data, figures
from autoinit.labs.pangaea.statistics import Comparison, Edf, compare
from autoinit.labs.pangaea.trials import NAMES, Trial

FORMULAS = ["max(alpha * x, tanh(x))", "swish(x)", "softplus(alpha * x) - beta * sigmoid(x)", "exp(x)", "arctan(x)"]
OUTER = ["abs", "relu", "tanh", "erf", "sinh", "arcsinh", "softplus", "softsign", "selu", "elu", "swish", "sigmoid"]
LONG = "max(alpha * arcsinh(softplus(x)), tanh(x) * sigmoid(beta * softsign(x))) - erf(gamma * x) * arctan(swish(x))"


def made(n: int = 60, seed: int = 0) -> list[Trial]:
    """Functions of one level each; failures are fewer and accuracies higher from the first to the last."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(n):
        luck, level = rng.random(), rng.uniform(0.3, 0.85)
        formula = LONG if k == 7 else f"{OUTER[k // len(FORMULAS)]}({FORMULAS[k % len(FORMULAS)]})"
        for name, failing, gain in (("default", 0.7, 0.0), ("autoinit", 0.6, 0.01), ("autoinit++", 0.5, 0.03)):
            accuracy = 0.1 if luck < failing else round(level + gain, 4)
            found.append(Trial(formula, f"k{k}", name, accuracy, diverged=luck < 0.1))
    return found


@pytest.fixture(scope="module")
def trials() -> list[Trial]:
    return made()


@pytest.fixture(scope="module")
def comparison(trials: list[Trial]) -> Comparison:
    return compare(trials, 10, 5000, 0.6)


def boxes(figure):
    """Where titles, labels and the legend stand, in pixels."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    texts = [
        text for axis in figure.axes if axis.get_visible() for text in (axis.title, axis.xaxis.label, axis.yaxis.label)
    ]
    found = [text.get_window_extent(renderer) for text in texts if text.get_text()]
    return found + [legend.get_window_extent(renderer) for legend in figure.legends]


def legible(figure) -> None:
    inside = figure.bbox
    found = boxes(figure)
    for box in found:
        assert box.x0 >= inside.x0 - 1 and box.x1 <= inside.x1 + 1, "cut off"
        assert box.y0 >= inside.y0 - 1 and box.y1 <= inside.y1 + 1, "cut off"
    assert not any(one.overlaps(two) for one, two in combinations(found, 2)), "on top of each other"


# --- (a) accuracies --------------------------------------------------------------------------------------


def test_every_function_is_a_failure_or_in_a_bin(trials, comparison) -> None:
    shown = figure_data.histogram(trials, comparison)
    assert shown.counts.sum(1) + shown.failures == pytest.approx([60, 60, 60])
    assert shown.counts.shape == (3, figure_data.BINS) and len(shown.edges) == figure_data.BINS + 1
    assert shown.edges[0] == pytest.approx(0.1) and shown.edges[-1] <= 1
    best = max(trial.accuracy for trial in trials)
    assert shown.edges[-1] > best


def test_the_histogram_draws_them(trials, comparison, tmp_path: Path) -> None:
    figure = figures.accuracies(trials, comparison, tmp_path / "a.png")
    failed, learned = figure.axes
    assert [p.get_height() for p in failed.patches] == [s.failures for s in comparison.summaries]
    shown = figure_data.histogram(trials, comparison)
    assert [p.get_height() for p in learned.patches] == pytest.approx(shown.counts.ravel())
    assert len({p.get_facecolor() for p in learned.patches}) == 3
    assert list(learned.get_lines()[0].get_xdata()) == pytest.approx([60, 60])
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words[2] == f"AutoInit++: {comparison.summary('autoinit++').above_baseline} of 60 above ReLU"
    assert words[-1] == "ReLU, default: 60.0 %"
    assert (tmp_path / "a.png").stat().st_size > 5000
    legible(figure)


def test_bars_of_one_bin_stand_side_by_side(trials, comparison) -> None:
    learned = figures.accuracies(trials, comparison).axes[1]
    spans = sorted((p.get_x(), p.get_x() + p.get_width()) for p in learned.patches)
    assert all(one[1] <= two[0] + 1e-9 for one, two in pairwise(spans))


def test_nothing_learned_is_still_a_figure() -> None:
    failed = [Trial(f"f{k}", f"k{k}", name, 0.1) for k in range(5) for name in NAMES]
    comparison = compare(failed, 10, 5000, 0.6)
    assert figure_data.histogram(failed, comparison).counts.sum() == 0
    legible(figures.accuracies(failed, comparison))
    legible(figures.error_distributions(failed, comparison))
    with pytest.raises(OptionError, match="every function failed"):
        figures.best_functions(failed, comparison)


# --- (b) error distributions -----------------------------------------------------------------------------


def test_curves_are_the_edfs_and_the_arrow_is_d(trials, comparison) -> None:
    pairs = figure_data.edf_pairs(trials, comparison)
    assert [(p.first, p.second) for p in pairs] == [(c.first, c.second) for c in comparison.contrasts]
    for pair in pairs:
        for name, values in zip((pair.first, pair.second), pair.values, strict=True):
            edf = Edf.of(comparison.chance.counted(t) for t in trials if t.initialization == name)
            between = (pair.errors[:-1] + pair.errors[1:]) / 2
            assert edf(between) == pytest.approx(values[:-1])
            assert values[-1] == 1
        assert abs(pair.at_gap[0] - pair.at_gap[1]) == pytest.approx(pair.gap.size)


def test_the_distributions_are_drawn_and_marked(trials, comparison, tmp_path: Path) -> None:
    figure = figures.error_distributions(trials, comparison, tmp_path / "b.png")
    assert len(figure.axes) == 3
    for axis, contrast in zip(figure.axes, comparison.contrasts, strict=True):
        assert f"D = {contrast.gap.size:.3f}" in axis.get_title()
        arrow = next(t for t in axis.texts if t.arrowprops)
        assert abs(arrow.xyann[1] - arrow.xy[1]) == pytest.approx(contrast.gap.size)
        assert 100 * contrast.gap.above <= arrow.xy[0] <= 100 * contrast.gap.upto
        assert len({line.get_linestyle() for line in axis.get_lines()}) == 2
    legible(figure)


def test_one_distribution_alone_is_refused(trials) -> None:
    alone = [trial for trial in trials if trial.initialization == "default"]
    with pytest.raises(OptionError, match="compared in pairs"):
        figures.error_distributions(alone, compare(alone, 10, 5000, 0.6))


# --- (c) the best functions ------------------------------------------------------------------------------


def test_the_best_are_in_order_and_different(trials, comparison) -> None:
    best = figure_data.best_trials(trials, comparison.chance, 8)
    accuracies = [trial.accuracy for trial in best]
    assert accuracies == sorted(accuracies, reverse=True)
    assert accuracies[0] == max(t.accuracy for t in trials if t.trained)
    assert len({trial.key for trial in best}) == 8


def test_shapes_are_the_function_and_its_family() -> None:
    function = Function.parse("alpha * tanh(beta * x)")
    one = figure_data.shape(function, seed=3)
    assert one.initial == pytest.approx(np.tanh(one.x))
    assert len(one.drawn) == figure_data.FAMILY
    scales = np.abs(one.drawn).max(1)
    assert scales.min() > 0.5 * np.tanh(0.5 * 4) - 1e-9 and scales.max() < 2 and np.ptp(scales) > 0.3
    assert np.array_equal(one.drawn, figure_data.shape(function, seed=3).drawn)
    assert len(figure_data.shape(Function.parse("tanh(x)")).drawn) == 0


@pytest.mark.parametrize("formula", ["exp(x**2 * x**2)", "log(x)", "x - x", "1 / x"])
def test_wild_functions_keep_their_plots_small(formula: str) -> None:
    one = figure_data.shape(Function.parse(formula))
    low, high = one.limits
    assert not np.any(np.isinf(one.initial)) and 1 <= high - low <= 3.1 * figure_data.HEIGHT


def test_one_function_is_drawn(tmp_path: Path) -> None:
    figure = figures.one_function(Function.parse(LONG), tmp_path / "one.png")
    axis = figure.axes[0]
    assert len(axis.get_lines()) == 1 + figure_data.FAMILY and axis.get_title().startswith("max(")
    assert (tmp_path / "one.png").stat().st_size > 5000
    legible(figure)


def test_best_functions_are_drawn(trials, comparison, tmp_path: Path) -> None:
    given = [*trials, Trial(LONG, "long", "default", 0.99)]
    figure = figures.best_functions(given, compare(given, 10, 5000, 0.6), tmp_path / "c.png", count=6)
    shown = [axis for axis in figure.axes if axis.get_visible()]
    assert len(shown) == 6 and len(figure.axes) == 8
    title = shown[0].get_title()
    assert title.startswith("1. 99.0 %, default\nmax(alpha") and title.endswith("…")
    red = [line for line in shown[0].get_lines() if line.get_color() == figures.RED]
    assert len(red) == 1 and len(shown[0].get_lines()) == 1 + figure_data.FAMILY
    legible(figure)


def test_formulas_are_wrapped_evenly_and_shortened() -> None:
    assert figures.short("tanh(x)") == "tanh(x)"
    lines = figures.short("alpha * expm1(beta * sinh(gamma * x))").split("\n")
    assert len(lines) == 2 and min(map(len, lines)) > 10 and " ".join(lines) == "alpha * expm1(beta * sinh(gamma * x))"
    lines = figures.short(LONG).split("\n")
    assert len(lines) == 2 and lines[1].endswith(" …") and max(map(len, lines)) <= 34
    assert max(map(len, figures.short("tanh(" * 20 + "x" + ")" * 20).split("\n"))) <= 34


# --- (d) the same functions ------------------------------------------------------------------------------


def test_every_shared_function_is_a_point(trials, comparison, tmp_path: Path) -> None:
    shown = figure_data.scatter(trials, comparison, "default", "autoinit++")
    assert len(shown.x) == len(shown.y) == len(shown.outcome) == 60
    change = comparison.contrast("default", "autoinit++").failures
    assert shown.outcome.count("second") == change.avoided and shown.outcome.count("first") == change.added
    assert shown.outcome.count("neither") + change.avoided == comparison.summary("default").failures
    figure = figures.same_functions(trials, comparison, tmp_path / "d.png")
    axis = figure.axes[0]
    points = np.concatenate([np.asarray(group.get_offsets()) for group in axis.collections])
    order = np.lexsort(points.T)
    wanted = 100 * np.column_stack([shown.x, shown.y])
    assert points[order] == pytest.approx(wanted[np.lexsort(wanted.T)])
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert f"only with AutoInit++: {change.avoided}" in words
    legible(figure)


def test_different_functions_are_no_points(trials, comparison) -> None:
    apart = [t for t in trials if t.initialization == "default"]
    with pytest.raises(OptionError, match="no function was trained with both"):
        figures.same_functions(apart, comparison)


# --- imports ---------------------------------------------------------------------------------------------


def test_no_framework_and_no_matplotlib_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, autoinit.labs.pangaea.results, autoinit.labs.pangaea.figures\n"
        "print(sorted({'torch', 'keras', 'tensorflow', 'jax', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
