"""Charts as SVG, drawn for one width each; colours are those of the page's style."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, log10

import numpy as np

from ..results.course import Counts, Course, Stage
from .markup import number, safe

LEFT, RIGHT, TOP, BOTTOM = 44.0, 10.0, 10.0, 34.0
COLOURS = 8
"""Classes s0 to s7."""


@dataclass(frozen=True)
class Frame:
    """Generations to the right, `low` to `high` upwards."""

    width: float
    height: float
    generations: Sequence[int]
    low: float
    high: float

    @property
    def step(self) -> float:
        return (self.width - LEFT - RIGHT) / len(self.generations)

    def x(self, k: int) -> float:
        return LEFT + (k + 0.5) * self.step

    def y(self, value: float) -> float:
        part = (value - self.low) / (self.high - self.low)
        return self.height - BOTTOM - min(max(part, 0.0), 1.0) * (self.height - TOP - BOTTOM)

    def drawn(self, content: str, label: str, tick: Callable[[float], str]) -> str:
        """With axes around the content."""
        lines = "".join(
            f'<line class="grid" x1="{LEFT}" x2="{number(self.width - RIGHT)}" y1="{number(self.y(v))}" '
            f'y2="{number(self.y(v))}"/><text class="tick" x="{LEFT - 6}" y="{number(self.y(v) + 4)}" '
            f'text-anchor="end">{safe(tick(v))}</text>'
            for v in ticks(self.low, self.high)
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


def fitness(course: Course, width: float, height: float, told: Callable[[float], str]) -> str:
    """Every network a point; the middle half of each generation, its mean, falls of the mean, and the best so far.

    The axis begins a little below the lowest quartile; networks below it stand on the axis, as rings.
    """
    quartiles = [tuple(map(float, np.quantile(stage.fitness, [0.25, 0.75]))) for stage in course.stages]
    means, best = course.means, course.best_so_far
    lowest = min(*(low for low, _ in quartiles), *means, best[0]) if quartiles else 0.0
    margin = 0.08 * (best[-1] - lowest) or 0.01 * (abs(best[-1]) or 1.0)
    frame = Frame(width, height, [stage.number for stage in course.stages], lowest - margin, best[-1] + margin)
    parts = [_area(frame, quartiles), *_points(frame, course.stages)]
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
    return frame.drawn("".join(parts) + frame.hints(hints), "fitness over generations", told)


def stacked(
    stages: Sequence[Stage], of: Callable[[Stage], Counts], classes: Mapping[str, int], label: str, *,
    share: bool = False, word: Callable[[str], str] = str, width: float = 340, height: float = 190,
) -> str:  # fmt: skip
    """Bars of parts, one for each generation; `share` draws parts of a hundred."""
    counts = [dict(of(stage)) for stage in stages]
    totals = [sum(one.values()) for one in counts]
    frame = Frame(width, height, [stage.number for stage in stages], 0, 100 if share else max([1, *totals]))
    bars, hints = [], []
    for k, (one, total) in enumerate(zip(counts, totals, strict=True)):
        top = 0.0
        scale = 100 / total if share and total else 1.0
        for name in classes:
            if one.get(name):
                low, top = top, top + scale * one[name]
                bars.append(
                    f'<rect class="s{classes[name] % COLOURS}" x="{number(frame.x(k) - 0.44 * frame.step)}" '
                    f'y="{number(frame.y(top))}" width="{number(0.88 * frame.step)}" '
                    f'height="{number(frame.y(low) - frame.y(top))}"/>'
                )
        told = ", ".join(f"{word(name)} {one[name]}" for name in classes if one.get(name))
        hints.append(f"generation {stages[k].number}: {told or 'none'}")
    suffix = " %" if share else ""
    return frame.drawn("".join(bars) + frame.hints(hints), label, lambda value: f"{value:g}{suffix}")


def _line(kind: str, points: Sequence[tuple[float, float]]) -> str:
    return f'<polyline class="{kind}" points="{" ".join(f"{number(x)},{number(y)}" for x, y in points)}"/>'


def _area(frame: Frame, quartiles: Sequence[tuple[float, ...]]) -> str:
    up = [(frame.x(k), frame.y(high)) for k, (_, high) in enumerate(quartiles)]
    down = [(frame.x(k), frame.y(low)) for k, (low, _) in enumerate(quartiles)]
    points = " ".join(f"{number(x)},{number(y)}" for x, y in [*up, *reversed(down)])
    return f'<polygon class="half" points="{points}"/>'


def _points(frame: Frame, stages: Sequence[Stage]) -> list[str]:
    """Two paths of dots: those in the frame, and those below it. Dots of a generation stand side by side."""
    inside, below = [], []
    for k, stage in enumerate(stages):
        count = len(stage.fitness)
        for j, value in enumerate(stage.fitness):
            x = frame.x(k) + frame.step * 0.6 * ((j + 0.5) / count - 0.5)
            (inside if value >= frame.low else below).append(f"M{number(x)} {number(frame.y(value))}h0")
    return [f'<path class="{kind}" d="{"".join(dots)}"/>' for kind, dots in (("dot", inside), ("low", below)) if dots]
