"""Charts as SVG, drawn for one width each; colours are those of the page's style."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, log2, log10

import numpy as np

from ..results.course import Counts, Course, Stage
from .markup import number, safe

LEFT, RIGHT, TOP, BOTTOM = 44.0, 10.0, 10.0, 34.0
COLOURS = 8
"""Classes s0 to s7."""


@dataclass(frozen=True)
class Scale:
    """What grows evenly along the axis, and the marks on it (values and their texts)."""

    low: float
    high: float
    marks: Sequence[tuple[float, str]]
    of: Callable[[float], float] = float


@dataclass(frozen=True)
class Frame:
    """Generations to the right, the scale upwards."""

    width: float
    height: float
    generations: Sequence[int]
    scale: Scale

    @property
    def step(self) -> float:
        return (self.width - LEFT - RIGHT) / len(self.generations)

    def x(self, k: int) -> float:
        return LEFT + (k + 0.5) * self.step

    def y(self, value: float) -> float:
        part = (self.scale.of(value) - self.scale.low) / (self.scale.high - self.scale.low)
        return self.height - BOTTOM - part * (self.height - TOP - BOTTOM)

    def drawn(self, content: str, label: str) -> str:
        """With axes around the content."""
        lines = "".join(
            f'<line class="grid" x1="{LEFT}" x2="{number(self.width - RIGHT)}" y1="{number(self.y(v))}" '
            f'y2="{number(self.y(v))}"/><text class="tick" x="{LEFT - 6}" y="{number(self.y(v) + 4)}" '
            f'text-anchor="end">{safe(text)}</text>'
            for v, text in self.scale.marks
        )
        every = max(1, -(-len(self.generations) // max(1, int((self.width - LEFT) / 34))))
        names = "".join(
            f'<text class="tick" x="{number(self.x(k))}" y="{number(self.height - 18)}" text-anchor="middle">{g}</text>'
            for k, g in enumerate(self.generations) if k % every == 0
        )  # fmt: skip
        middle = number((LEFT + self.width - RIGHT) / 2)
        below = f'<text class="tick" x="{middle}" y="{number(self.height - 3)}" text-anchor="middle">generation</text>'
        size = f'viewBox="0 0 {number(self.width)} {number(self.height)}"'
        return f'<svg {size} role="img" aria-label="{safe(label)}">{lines}{content}{names}{below}</svg>'

    def hints(self, texts: Sequence[str]) -> str:
        """What is told when the pointer rests on a generation."""
        return "".join(
            f'<rect class="hover" x="{number(self.x(k) - self.step / 2)}" y="{TOP}" width="{number(self.step)}" '
            f'height="{number(self.height - TOP - BOTTOM)}"><title>{safe(text)}</title></rect>'
            for k, text in enumerate(texts)
        )


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers in a range."""
    raw = (high - low) / about
    size = 10 ** floor(log10(raw))
    step = next(factor * size for factor in (1, 2, 5, 10) if factor * size >= raw * 0.999)
    first = int(np.ceil(low / step - 1e-9))
    return [round(k * step, 12) for k in range(first, int(np.floor(high / step + 1e-9)) + 1)]


def linear(low: float, high: float, told: Callable[[float], str]) -> Scale:
    return Scale(low, high, [(value, told(value)) for value in ticks(low, high)])


def of_errors(low: float, high: float) -> Scale:
    """Accuracies, so that every halving of the error is as long: near 100 % as much is to be seen as near 0 %."""
    least = (1 - high) / 1.3 if high < 1 else 5e-4

    def of(value: float) -> float:
        return -log2(max(1 - value, least))

    ends = of(low) - 0.1, of(high) + 0.1
    inside = [value for value in ACCURACIES if ends[0] <= of(value) <= ends[1] and 1 - value >= least]
    while len(inside) > 7:
        inside = inside[::-2][::-1]
    return Scale(*ends, [(value, f"{100 * value:g} %") for value in inside], of)


ACCURACIES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.993, 0.995, 0.997, 0.998, 0.999)


def fitness(course: Course, width: float, height: float, told: Callable[[float], str], *, errors: bool) -> str:
    """Every network a point; the middle half of each generation, its mean, falls of the mean, and the best so far."""
    quartiles = [tuple(map(float, np.quantile(stage.fitness, [0.25, 0.75]))) for stage in course.stages]
    means, best = course.means, course.best_so_far
    low, high = min(value for stage in course.stages for value in stage.fitness), best[-1]
    margin = 0.05 * (high - low) or 0.01 * (abs(high) or 1.0)
    scale = of_errors(low, high) if errors else linear(low - margin, high + margin, told)
    frame = Frame(width, height, [stage.number for stage in course.stages], scale)
    parts = [_area(frame, quartiles), _points(frame, course.stages)]
    spots = [(frame.x(k), frame.y(mean)) for k, mean in enumerate(means)]
    parts.append(_line("mean", spots))
    parts += [_line("fall", [a, b]) for (a, b), fell in zip(pairwise(spots), course.drops, strict=True) if fell > 0]
    steps = [(frame.x(k) + side * frame.step / 2, frame.y(value)) for k, value in enumerate(best) for side in (-1, 1)]
    parts.append(_line("best", steps))
    hints = [
        f"generation {stage.number}: best {told(stage.best)}, mean {told(stage.mean)}, best so far {told(so_far)}, "
        f"{stage.failed} of {len(stage.networks)} failed"
        for stage, so_far in zip(course.stages, best, strict=True)
    ]
    return frame.drawn("".join(parts) + frame.hints(hints), "fitness over generations")


def stacked(
    stages: Sequence[Stage], of: Callable[[Stage], Counts], classes: Mapping[str, int], label: str, *,
    share: bool = False, word: Callable[[str], str] = str, width: float = 340, height: float = 190,
) -> str:  # fmt: skip
    """Bars of parts, one for each generation; `share` draws parts of a hundred."""
    counts = [dict(of(stage)) for stage in stages]
    totals = [sum(one.values()) for one in counts]
    scale = linear(0, 100 if share else max([1, *totals]), lambda value: f"{value:g}{' %' if share else ''}")
    frame = Frame(width, height, [stage.number for stage in stages], scale)
    bars, hints = [], []
    for k, (one, total) in enumerate(zip(counts, totals, strict=True)):
        top = 0.0
        each = 100 / total if share and total else 1.0
        for name in classes:
            if one.get(name):
                low, top = top, top + each * one[name]
                bars.append(
                    f'<rect class="s{classes[name] % COLOURS}" x="{number(frame.x(k) - 0.44 * frame.step)}" '
                    f'y="{number(frame.y(top))}" width="{number(0.88 * frame.step)}" '
                    f'height="{number(frame.y(low) - frame.y(top))}"/>'
                )
        told = ", ".join(f"{word(name)} {one[name]}" for name in classes if one.get(name))
        hints.append(f"generation {stages[k].number}: {told or 'none'}")
    return frame.drawn("".join(bars) + frame.hints(hints), label)


def _line(kind: str, points: Sequence[tuple[float, float]]) -> str:
    return f'<polyline class="{kind}" points="{" ".join(f"{number(x)},{number(y)}" for x, y in points)}"/>'


def _area(frame: Frame, quartiles: Sequence[tuple[float, ...]]) -> str:
    up = [(frame.x(k), frame.y(high)) for k, (_, high) in enumerate(quartiles)]
    down = [(frame.x(k), frame.y(low)) for k, (low, _) in enumerate(quartiles)]
    points = " ".join(f"{number(x)},{number(y)}" for x, y in [*up, *reversed(down)])
    return f'<polygon class="half" points="{points}"/>'


def _points(frame: Frame, stages: Sequence[Stage]) -> str:
    """One path of dots. Those of a generation stand side by side."""
    dots = []
    for k, stage in enumerate(stages):
        count = len(stage.fitness)
        for j, value in enumerate(stage.fitness):
            x = frame.x(k) + frame.step * 0.6 * ((j + 0.5) / count - 0.5)
            dots.append(f"M{number(x)} {number(frame.y(value))}h0")
    return f'<path class="dot" d="{"".join(dots)}"/>'
