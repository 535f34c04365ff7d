"""Where the boxes and lines of a network's drawing are: from top to bottom, each layer below all that it reads.

Layers stand on levels (the longest way from the input). A connection past other levels runs through a narrow gap in
each of them; levels are ordered so that neighbours stand below each other, and moved as close to them as boxes allow.
Units are points of print, or pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from ..network import INPUT, Layer, NetworkGenome
from .labels import FAMILIES, detail, times, title

WIDTH, TALL, LOW, GAP, LANE, SPACE = 136.0, 34.0, 20.0, 14.0, 10.0, 16.0
"""Of boxes: width, height with two lines and with one; between boxes, of a passing connection, between levels."""
SWEEPS = 12

Point = tuple[float, float]
Spot = tuple[str, str, int]
"""A layer, "" and its level; or the two ends of a connection, and a level that it passes."""


@dataclass(frozen=True)
class Box:
    """x, y: its centre."""

    name: str
    family: str
    title: str
    detail: str
    x: float
    y: float
    height: float

    @property
    def width(self) -> float:
        return WIDTH


@dataclass(frozen=True)
class Sketch:
    """lines: each through an even number of points; from one to the next it leaves and arrives upright."""

    boxes: tuple[Box, ...]
    lines: tuple[tuple[Point, ...], ...]
    width: float
    height: float
    note: str = ""

    @property
    def families(self) -> tuple[str, ...]:
        """Those that it has, in a fixed order."""
        found = {box.family for box in self.boxes}
        return tuple(one for one in (*dict.fromkeys(FAMILIES.values()), "input", "output") if one in found)


def sketch(network: NetworkGenome, *, schemes: bool = True) -> Sketch:
    """A network's drawing. Of several outputs the first is drawn, with all that leads to it.

    schemes: whether layers tell their initialization gene.
    """
    name, last = network.outputs[0]
    layers = network.needed([name])
    others = len(network.outputs) - 1
    note = f"the way to '{name}'; {others} more outputs" if others else ""
    texts = {INPUT: ("input", f"input {times(network.input.shape)}", "")}
    texts |= {one.name: ("output" if one.name == last else FAMILIES[one.kind], title(one), detail(one, schemes))
              for one in layers}  # fmt: skip
    level = _levels(layers)
    rows, links = _rows(layers, level)
    rows = _ordered(rows, links)
    x = _placed(rows, links)
    tall = {one: TALL if text[2] else LOW for one, text in texts.items()}
    heights = [max(tall[one] for one, end, _ in row if not end) for row in rows]
    tops = list(accumulate((h + SPACE for h in heights), initial=0.0))
    middles = [top + height / 2 for top, height in zip(tops, heights, strict=False)]
    boxes = tuple(Box(one, *texts[one], x[one, "", k], middles[k], tall[one]) for one, k in level.items())

    def side(spot: Spot, way: int) -> Point:
        one, end, k = spot
        return x[spot], middles[k] + way * (heights[k] if end else tall[one]) / 2

    lines = tuple(
        tuple(point for a, b in pairwise(way) for point in (side(a, 1), side(b, -1))) for way in _ways(layers, level)
    )
    right = max(max(x.values()), *(box.x + WIDTH / 2 for box in boxes))
    return Sketch(boxes, lines, right, tops[-1] - SPACE, note)


def _levels(layers: Sequence[Layer]) -> dict[str, int]:
    level = {INPUT: 0}
    for layer in layers:
        level[layer.name] = 1 + max(level[one] for one in layer.inputs)
    return level


def _ways(layers: Sequence[Layer], level: Mapping[str, int]) -> list[list[Spot]]:
    """Every connection, level by level."""
    found = []
    for layer in layers:
        for source in dict.fromkeys(layer.inputs):
            inner = range(level[source] + 1, level[layer.name])
            passing = [(source, layer.name, k) for k in inner]
            found.append([(source, "", level[source]), *passing, (layer.name, "", level[layer.name])])
    return found


Links = dict[Spot, list[Spot]]


def _rows(layers: Sequence[Layer], level: Mapping[str, int]) -> tuple[list[list[Spot]], tuple[Links, Links]]:
    """The spots of each level, and of each spot those above and below it that it is connected with."""
    rows: list[list[Spot]] = [[] for _ in range(max(level.values()) + 1)]
    above: Links = {}
    below: Links = {}
    for way in [[(one, "", k)] for one, k in level.items()] + _ways(layers, level):
        for spot in way:
            if spot not in rows[spot[2]]:
                rows[spot[2]].append(spot)
        for a, b in pairwise(way):
            above.setdefault(b, []).append(a)
            below.setdefault(a, []).append(b)
    return rows, (above, below)


def _ordered(rows: list[list[Spot]], links: tuple[Links, Links]) -> list[list[Spot]]:
    """Neighbours below each other, as far as sorting by the mean place of neighbours gets there."""
    for sweep in range(SWEEPS):
        near, order = (links[0], rows[1:]) if sweep % 2 == 0 else (links[1], rows[-2::-1])
        place = {spot: k - len(row) / 2 for row in rows for k, spot in enumerate(row)}
        for row in order:
            row.sort(key=lambda spot: _mean([place[one] for one in near.get(spot, [spot])]))
            place |= {spot: k - len(row) / 2 for k, spot in enumerate(row)}
    return rows


def _placed(rows: Sequence[Sequence[Spot]], links: tuple[Links, Links]) -> dict[Spot, float]:
    x: dict[Spot, float] = {}
    offsets = [_offsets(row) for row in rows]
    for row, offset in zip(rows, offsets, strict=True):
        x |= {spot: place - offset[-1] / 2 for spot, place in zip(row, offset, strict=True)}
    both = {spot: [*links[0].get(spot, []), *links[1].get(spot, [])] for row in rows for spot in row}
    for sweep in range(SWEEPS):
        for row, offset in list(zip(rows, offsets, strict=True))[:: 1 if sweep % 2 == 0 else -1]:
            means = [_mean([x[one] for one in both[spot]] or [x[spot]]) for spot in row]
            places = _increasing([mean - o for mean, o in zip(means, offset, strict=True)])
            x |= {spot: place + o for spot, place, o in zip(row, places, offset, strict=True)}
    left = min(place - _width(spot) / 2 for spot, place in x.items())
    return {spot: place - left for spot, place in x.items()}


def _offsets(row: Sequence[Spot]) -> list[float]:
    """How far each stands from the first at least."""
    steps = ((_width(a) + _width(b)) / 2 + GAP for a, b in pairwise(row))
    return list(accumulate(steps, initial=0.0))


def _width(spot: Spot) -> float:
    return LANE if spot[1] else WIDTH


def _increasing(wanted: Sequence[float]) -> list[float]:
    """The nearest sequence that never falls (least squares): neighbours in the wrong order share their mean."""
    blocks: list[tuple[float, int]] = []
    for value in wanted:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (b, m), (a, n) = blocks.pop(), blocks.pop()
            blocks.append(((a * n + b * m) / (n + m), n + m))
    return [value for value, count in blocks for _ in range(count)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
