"""Where an expression needs panel edges before it is integrated: its kinks, and its narrow features."""

from __future__ import annotations

import math

from .activations import FUNCTIONS
from .expression import Expr, nodes_below

_MOST_MARKS = 600


def panel_marks(expr: Expr, mean: float, std: float) -> list[float]:
    """The kinks of every table function of a line, and geometric edges around narrow features, in z."""
    exact: set[float] = set()
    features: set[tuple[float, float]] = set()
    for node in nodes_below(expr):
        if node.name in ("affine", "x", "constant"):
            continue
        for arg in node.args:
            if arg.line is None or arg.line[0] == 0.0:
                continue
            factor, offset = arg.line
            if not (math.isfinite(factor) and math.isfinite(offset)):
                continue
            features.add(((-offset / factor - mean) / std, 1.0 / (abs(factor) * std)))
            if len(node.args) > 1:
                continue
            function = FUNCTIONS[node.name]
            places = list(function.kinks_for(node.params))
            if function.lattice is not None:
                places += _lattice(function.lattice, factor * mean + offset, abs(factor) * std)
            exact.update(((place - offset) / factor - mean) / std for place in places)
    for centre, width in features:
        if width < 0.25:
            exact.add(centre)
            while width < 1.0 and len(exact) < _MOST_MARKS:
                exact.update((centre - width, centre + width))
                width *= 4.0
    return [mark for mark in exact if -9.0 < mark < 9.0]


def _lattice(offset: float, mean: float, std: float) -> list[float]:
    low, high = math.ceil(mean - 9.0 * std - offset), math.floor(mean + 9.0 * std - offset)
    return [n + offset for n in range(low, high + 1)] if high - low < _MOST_MARKS else []
