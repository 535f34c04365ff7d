"""The figures of searches; each function returns its figure and can save it.

A panel for each task, a line for each arm: the median over seeds, with the range that the seeds span behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ....core.files import save_figure
from ....errors import OptionError
from ....names import shown
from ...drawing import new_figure, tidy
from ..initialization import EVOLVED
from ..results.comparison import grouped
from ..results.course import Counts, Course, Stage
from . import colours
from .labels import word
from .networks import Portrait, portraits

COLUMNS = 3
PANEL = (3.1, 2.5)

Place = tuple[str, str]
Groups = Mapping[Place, Mapping[str, Mapping[int, Course]]]


def write(courses: Sequence[Course], folder: Path) -> list[str]:
    """All figures into a folder; returns the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    makers = {"performance": performance, "population": population, "species": species, "choices": choices,
              "networks": networks}  # fmt: skip
    for name, make in makers.items():
        if name != "networks" or any(course.networks for course in courses):
            make(courses, folder / f"{name}.png")
    return [path.name for name in makers if (path := folder / f"{name}.png").is_file()]


def performance(courses: Sequence[Course], path: str | Path | None = None) -> Any:
    """The best network so far over generations."""
    groups = _groups(courses)
    figure, axes = _panels(len(groups))
    for axis, (place, arms) in zip(axes, groups.items(), strict=False):
        _ranges(axis, arms, lambda course: course.best_so_far)
        axis.set_title(_name(place, groups), fontsize=9)
    _labelled(axes, len(groups), "best fitness so far")
    _legend(figure, axes)
    return _finish(figure, axes, path)


def population(courses: Sequence[Course], path: str | Path | None = None) -> Any:
    """The mean fitness of the population over generations (above), and how far it falls from one to the next (below).

    Below: every seed a point, a bar at their mean.
    """
    groups = _groups(courses)
    figure = new_figure(max(4.0, PANEL[0] * len(groups)), 4.6)
    above, below = figure.subplots(2, len(groups), squeeze=False, height_ratios=[2.2, 1])
    for upper, lower, (place, arms) in zip(above, below, groups.items(), strict=True):
        _ranges(upper, arms, lambda course: course.means)
        upper.set_title(_name(place, groups), fontsize=9)
        upper.set_xlabel("generation", fontsize=9)
        for row, (arm, seeds) in enumerate(reversed(list(arms.items()))):
            drops = [100 * course.mean_drop for course in seeds.values() if course.mean_drop is not None]
            if drops:
                look = {"color": _colour(arm, arms), "alpha": 0.35}
                lower.barh(row, sum(drops) / len(drops), height=0.6, **look)
                lower.plot(drops, [row] * len(drops), "o", color=_colour(arm, arms), markersize=4)
        lower.set_yticks(range(len(arms)), [word(arm) for arm in reversed(list(arms))])
        lower.set_ylim(-0.6, len(arms) - 0.4)
        lower.set_xlim(left=0)
        lower.set_xlabel("mean drop per generation (points)", fontsize=9)
    above[0].set_ylabel("mean fitness", fontsize=9)
    axes = [*above, *below]
    _legend(figure, above)
    return _finish(figure, axes, path)


def species(courses: Sequence[Course], path: str | Path | None = None) -> Any:
    """How many modules each species has, generation by generation; of each arm the run with the lowest seed."""
    runs = [next(iter(seeds.values())) for arms in _groups(courses).values() for seeds in arms.values()]
    figure, axes = _panels(len(runs), height=2.2)
    for axis, course in zip(axes, runs, strict=False):
        names = sorted({name for stage in course.stages for name, _ in stage.module_species}, key=int)
        counts = [dict(stage.module_species) for stage in course.stages]
        x, width = [stage.number for stage in course.stages], 0.9
        base = [0] * len(counts)
        for k, name in enumerate(names):
            sizes = [one.get(name, 0) for one in counts]
            axis.bar(x, sizes, width, bottom=base, color=colours.SHARES[k % len(colours.SHARES)], edgecolor="white",
                     linewidth=0.4)  # fmt: skip
            base = [low + size for low, size in zip(base, sizes, strict=True)]
        axis.set_title(f"{shown(course.task)}, {word(course.initialization)}, seed {course.seed}", fontsize=8.5)
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.yaxis.get_major_locator().set_params(integer=True)
    _labelled(axes, len(runs), "modules by species")
    return _finish(figure, axes, path)


def choices(courses: Sequence[Course], path: str | Path | None = None) -> Any:
    """Shares of activations, and of initialization genes where they decide; all seeds of an arm together."""
    groups = _groups(courses)
    rows = [(place, arm, list(seeds.values())) for place, arms in groups.items() for arm, seeds in arms.items()]
    kinds: list[tuple[str, Callable[[Stage], Counts], list[int]]] = [
        ("activations", lambda stage: stage.activations, [*range(len(rows))]),
        ("initializations", lambda stage: stage.schemes, [k for k, (_, arm, _) in enumerate(rows) if arm == EVOLVED]),
    ]
    kinds = [kind for kind in kinds if kind[2]]
    figure = new_figure(3.8 * len(kinds), 0.7 + 1.45 * len(rows))
    axes = figure.subplots(len(rows), len(kinds), squeeze=False, sharey=True)
    for column, (kind, of, shown_in) in enumerate(kinds):
        names = sorted({name for k in shown_in for course in rows[k][2] for stage in course.stages
                        for name, _ in of(stage)})  # fmt: skip
        palette = colours.shares(names)
        for k, (place, arm, seeds) in enumerate(rows):
            axis = axes[k][column]
            if k not in shown_in:
                axis.set_visible(False)
                continue
            x, shares = shares_over_time(seeds, of, names)
            if x:
                axis.stackplot(x, [[100 * value for value in shares[name]] for name in names],
                               colors=palette.values(), labels=[word(name) for name in names], linewidth=0)  # fmt: skip
            axis.set(ylim=(0, 100), xlim=(x[0], max(x[-1], x[0] + 1)) if x else None)
            axis.set_title(f"{_name(place, groups)}, {word(arm)}: {kind}", fontsize=8)
            axis.xaxis.get_major_locator().set_params(integer=True)
        axes[shown_in[-1]][column].set_xlabel("generation", fontsize=9)
        handles, labels = axes[shown_in[0]][column].get_legend_handles_labels()
        figure.legend(handles, labels, loc=f"outside lower {'left' if column == 0 else 'right'}", ncols=2, fontsize=7.5,
                      frameon=False)  # fmt: skip
    for row in axes:
        row[0].set_ylabel("% of layers", fontsize=8)
    return _finish(figure, [axis for row in axes for axis in row], path)


def networks(courses: Sequence[Course], path: str | Path | None = None) -> Any:
    """The best network of each task and arm, over all seeds; the baseline's only where there is no other arm."""
    found = []
    for (task, _), arms in _groups(courses).items():
        for arm in list(arms)[1:] or list(arms):
            kept = [course.networks[0] for course in arms[arm].values() if course.networks]
            if kept:
                best = max(kept, key=lambda one: one.fitness)
                told = f"fitness {best.fitness:.3f}, {best.network.parameters:,} parameters"
                found.append(Portrait(best.network, f"{task}, {word(arm)}", told, arm == EVOLVED))
    return portraits(found, path)


def shares_over_time(
    courses: Iterable[Course], of: Callable[[Stage], Counts], names: Sequence[str]
) -> tuple[list[int], dict[str, list[float]]]:
    """Generations, and for each name its share in them; generations without any are left out."""
    counts: dict[int, dict[str, int]] = {}
    for course in courses:
        for stage in course.stages:
            found = counts.setdefault(stage.number, {})
            for name, count in of(stage):
                found[name] = found.get(name, 0) + count
    kept = {number: found for number, found in sorted(counts.items()) if sum(found.values())}
    return list(kept), {name: [one.get(name, 0) / sum(one.values()) for one in kept.values()] for name in names}


def spread(courses: Iterable[Course], of: Callable[[Course], Sequence[float]]) -> list[tuple[float, float, float]]:
    """Lowest, median and highest over the runs, for each generation that all of them have."""
    values = [of(course) for course in courses]
    return [(min(one), median(one), max(one)) for one in zip(*values, strict=False)]


def _ranges(axis: Any, arms: Mapping[str, Mapping[int, Course]], of: Callable[[Course], Sequence[float]]) -> None:
    for arm, seeds in arms.items():
        found = spread(seeds.values(), of)
        x = range(len(found))
        look = {"color": _colour(arm, arms)}
        axis.fill_between(x, [one[0] for one in found], [one[2] for one in found], alpha=0.18, linewidth=0, **look)
        axis.plot(x, [one[1] for one in found], linestyle=colours.DASHES.get(arm, ":"), linewidth=1.8, marker="o",
                  markersize=2.5, label=word(arm), **look)  # fmt: skip
    axis.xaxis.get_major_locator().set_params(integer=True)


def _groups(courses: Sequence[Course]) -> Groups:
    if not courses:
        raise OptionError("there is no run to draw", where="figures", fix="give the folder of a run")
    return grouped(courses)


def _colour(arm: str, arms: Iterable[str]) -> str:
    return colours.arm(arm, [one for one in arms if one not in colours.ARMS])


def _name(place: Place, groups: Iterable[Place]) -> str:
    """The task; with its preset where there are several."""
    presets = {preset for _, preset in groups}
    return shown(place[0] if len(presets) == 1 else f"{place[0]} ({place[1]})")


def _panels(count: int, height: float = PANEL[1]) -> tuple[Any, list[Any]]:
    columns = min(COLUMNS, count)
    rows = -(-count // columns)
    figure = new_figure(max(4.2, PANEL[0] * columns), height * rows + 0.4)
    axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for axis in axes[count:]:
        axis.set_visible(False)
    return figure, axes


def _labelled(axes: Sequence[Any], count: int, what: str) -> None:
    columns = min(COLUMNS, count)
    for k, axis in enumerate(axes[:count]):
        if k % columns == 0:
            axis.set_ylabel(what, fontsize=9)
        if k + columns >= count:
            axis.set_xlabel("generation", fontsize=9)


def _legend(figure: Any, axes: Iterable[Any]) -> None:
    found = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    place = {"loc": "outside lower center", "ncols": 4}
    title = "lines: median over seeds; areas: their range"
    figure.legend(found.values(), found, fontsize=8, title=title, title_fontsize=7.5, frameon=False, **place)


def _finish(figure: Any, axes: Iterable[Any], path: str | Path | None) -> Any:
    tidy(axes)
    if path is not None:
        save_figure(figure, path)
    return figure
