"""Adaptive Gauss-Legendre panels for integrals against the standard normal density.

Fixed panels on |z| ≤ 9 are tried first (their nodes, weights and Hermite functions are tabulated). A
panel whose highest Legendre coefficients have not died out is cut in eight, again and again; the line
is extended to |z| ≤ 39 when the integrand still counts at its ends. Known kinks are panel edges from
the start, and narrow features get panels that grow geometrically away from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .functions import Array

Index = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

ORDER = 16
HERMITE = 64
MORE_HERMITE = 256  # for functions with jumps or with narrow features
TOLERANCE = 1e-9
_SPLIT = 8
_NARROWEST = 1e-12
_MOST_PANELS = 3000
_CENTRE = 6.0
LARGEST = 1e60  # values are cut here once the true moments do not exist

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(ORDER)
_TAIL = np.stack(
    [(k + 0.5) * _WEIGHTS * np.polynomial.legendre.Legendre.basis(k)(_NODES) for k in range(ORDER - 3, ORDER)],
    axis=1,
)
_HALF_EDGES = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.5, 9.0])
_EDGES = np.concatenate([-_HALF_EDGES[:0:-1], _HALF_EDGES])
_FAR_EDGES = np.linspace(9.0, 39.0, 21)


def _panels(low: Array, high: Array) -> tuple[Array, Array]:
    """Nodes and weights (including the normal density) of each panel, one row per panel."""
    half = 0.5 * (high - low)[:, None]
    z = 0.5 * (high + low)[:, None] + half * _NODES
    return z, half * _WEIGHTS * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def hermite_functions(z: Array, count: int = HERMITE) -> Array:
    """The orthonormal Hermite polynomials h_0 … h_{count-1} at every z, one row per degree."""
    rows = np.empty((count, z.size))
    rows[0] = 1.0
    rows[1] = z
    for n in range(1, count - 1):
        np.multiply(z, rows[n], out=rows[n + 1])
        rows[n + 1] -= math.sqrt(n) * rows[n - 1]
        rows[n + 1] /= math.sqrt(n + 1)
    return rows


_PANEL_Z, _PANEL_W = _panels(_EDGES[:-1], _EDGES[1:])
BASE_Z, BASE_W = _PANEL_Z.ravel(), _PANEL_W.ravel()
BASE_HERMITE = hermite_functions(BASE_Z)


@dataclass
class Quadrature:
    """Nodes, weights and function values (one row per function) of a finished integration."""

    z: Array
    weight: Array
    values: Array
    base: Index
    problem: str | None

    def mean(self) -> Array:
        return np.asarray(self.values @ self.weight)

    def products(self) -> Array:
        """E[f_i f_j] for every pair of the integrated functions."""
        return np.asarray((self.values * self.weight) @ self.values.T)

    def hermite(self, count: int = HERMITE) -> Array:
        """a_n = E[f h_n], one row per function."""
        weighted = self.values * self.weight
        kept = self.base.size if count == HERMITE else 0
        result = np.zeros((weighted.shape[0], count))
        if kept:
            table = BASE_HERMITE if kept == BASE_Z.size else BASE_HERMITE[:, self.base]
            result += weighted[:, :kept] @ table.T
        if kept < self.z.size:
            result += weighted[:, kept:] @ hermite_functions(self.z[kept:], count).T
        return result


class _Round:
    """A batch of panels that were evaluated together."""

    __slots__ = (
        "absolute",
        "error",
        "finite",
        "high",
        "low",
        "mass",
        "peak",
        "square",
        "values",
        "weight",
        "z",
    )

    def __init__(self, low: Array, high: Array, z: Array, weight: Array, function: Callable[[Array], Array]):
        self.low, self.high, self.z, self.weight = low, high, z, weight
        values = function(z.ravel())
        values = values.reshape(values.shape[0], *z.shape)
        self.finite: Mask = np.asarray(np.isfinite(values).all(axis=0))
        good = bool(self.finite.all())
        if not good:
            self.weight = weight * self.finite
            values = np.where(self.finite, values, 0.0)
        self.values = values
        self.mass = self.weight.sum(axis=1)
        size = np.abs(values)
        self.absolute = (size * self.weight).sum(axis=2)
        self.square = (values * values * self.weight).sum(axis=2)
        self.error = np.abs(values @ _TAIL).sum(axis=2)
        if not good:
            count = self.finite.sum(axis=1)
            self.error[:, (count > 0) & (count < ORDER)] = np.inf
            self.error[:, count == 0] = 0.0

    def unresolved(self, absolute: Array, square: Array) -> Mask:
        """Panels whose error still matters for E|f|, E f² or a Hermite coefficient."""
        error, mass = self.error, self.mass
        bad = error * mass > TOLERANCE * absolute[:, None]
        bad |= error * np.sqrt(mass * self.square) > TOLERANCE * square[:, None]
        bad |= error * np.sqrt(mass) > 1e-6 * np.sqrt(square)[:, None]
        bad |= np.isinf(error) & (mass > 0.0)
        return np.asarray(bad.any(axis=0))


def _cut(marks: Sequence[float]) -> tuple[Index, Array, Array]:
    """The base panels untouched by the marks, and the edges of those that a mark falls into."""
    inside = np.array([m for m in marks if -9.0 < m < 9.0])
    untouched = np.ones(_EDGES.size - 1, dtype=bool)
    if inside.size:
        gap = np.abs(inside[:, None] - _EDGES).min(axis=1)
        inside = inside[gap > 1e-13]
        untouched[np.searchsorted(_EDGES, inside) - 1] = False
    if untouched.all():
        return np.flatnonzero(untouched), np.empty(0), np.empty(0)
    edges = np.unique(np.concatenate([_EDGES, inside]))
    low, high = edges[:-1], edges[1:]
    new = ~untouched[np.searchsorted(_EDGES, 0.5 * (low + high)) - 1] & (high - low > 1e-14)
    return np.flatnonzero(untouched), low[new], high[new]


def integrate(function: Callable[[Array], Array], marks: Sequence[float] = ()) -> Quadrature:
    """Resolve function(z), an array with one row per function, against the normal density.

    marks: the z of kinks and of feature edges, which become panel edges.
    """
    with np.errstate(all="ignore"):
        return _integrate(function, marks)


def _integrate(function: Callable[[Array], Array], marks: Sequence[float]) -> Quadrature:
    kept, low, high = _cut(marks)
    rounds = [_Round(_EDGES[kept], _EDGES[kept + 1], _PANEL_Z[kept], _PANEL_W[kept], function)]
    if low.size:
        rounds.append(_Round(low, high, *_panels(low, high), function))
    absolute = np.add.reduce([r.absolute.sum(axis=1) for r in rounds])
    square = np.add.reduce([r.square.sum(axis=1) for r in rounds])
    ends = rounds[0]
    if kept.size and _ends_count(ends, absolute, square):
        far = np.concatenate([-_FAR_EDGES[::-1], _FAR_EDGES])
        low = np.delete(far[:-1], _FAR_EDGES.size - 1)
        high = np.delete(far[1:], _FAR_EDGES.size - 1)
        rounds.append(_Round(low, high, *_panels(low, high), function))
        absolute = absolute + rounds[-1].absolute.sum(axis=1)
        square = square + rounds[-1].square.sum(axis=1)
    base, stuck, exhausted = _refine(rounds, function, absolute, square)
    return _collect(rounds, base if kept.size == _EDGES.size - 1 else kept[base], stuck, exhausted)


def _ends_count(ends: _Round, absolute: Array, square: Array) -> bool:
    """Whether what lies beyond |z| = 9 (a mass of 1e-19 on each side) can matter."""
    if not ends.finite[[0, -1]].all():
        return True
    beyond = 1e-17
    last = np.abs(ends.values[:, [0, -1], [0, -1]]).max(axis=1)
    return bool((last * beyond > 1e-12 * absolute).any() or (last * last * beyond > 1e-12 * square).any())


def _refine(
    rounds: list[_Round], function: Callable[[Array], Array], absolute: Array, square: Array
) -> tuple[Index, Array, bool]:
    """Cut unresolved panels until all are resolved. Gives the base panels kept, and the places given up."""
    base = np.arange(rounds[0].low.size)
    stuck: list[Array] = []
    exhausted = False
    used = sum(r.low.size for r in rounds)
    queue = list(range(len(rounds)))
    while queue:
        at = queue.pop()
        current = rounds[at]
        bad = current.unresolved(absolute, square)
        width = current.high - current.low
        narrow = bad & (width < _NARROWEST * np.maximum(1.0, np.abs(current.low)))
        if narrow.any():
            worst = np.where(np.isfinite(current.error), current.error, 0.0)
            share = np.maximum(worst * np.sqrt(current.mass * current.square), current.square)
            stuck.append(current.low[narrow & (share > 1e-6 * square[:, None]).any(axis=0)])
            bad &= ~narrow
        if not bad.any():
            continue
        used += int(bad.sum()) * _SPLIT
        if used > _MOST_PANELS:
            exhausted = True
            break
        low, high = current.low[bad], current.high[bad]
        steps = np.arange(_SPLIT + 1) / _SPLIT
        edges = low[:, None] + (high - low)[:, None] * steps
        edges[:, -1] = high
        low, high = edges[:, :-1].ravel(), edges[:, 1:].ravel()
        fresh = _Round(low, high, *_panels(low, high), function)
        absolute = absolute + fresh.absolute.sum(axis=1) - current.absolute[:, bad].sum(axis=1)
        square = square + fresh.square.sum(axis=1) - current.square[:, bad].sum(axis=1)
        if at == 0:
            base = np.flatnonzero(~bad)
        for name in ("low", "high", "z", "weight", "mass", "finite"):
            setattr(current, name, getattr(current, name)[~bad])
        for name in ("values", "absolute", "square", "error"):
            setattr(current, name, getattr(current, name)[:, ~bad])
        rounds.append(fresh)
        queue.append(len(rounds) - 1)
    return base, np.concatenate(stuck) if stuck else np.empty(0), exhausted


def _collect(rounds: list[_Round], base_panels: Index, stuck: Array, exhausted: bool) -> Quadrature:
    z = np.concatenate([r.z.ravel() for r in rounds])
    weight = np.concatenate([r.weight.ravel() for r in rounds])
    values = np.concatenate([r.values.reshape(r.values.shape[0], -1) for r in rounds], axis=1)
    base = (base_panels[:, None] * ORDER + np.arange(ORDER)).ravel()
    problem = None
    keep = None
    if stuck.size:
        place = float(stuck[np.argmin(np.abs(stuck))])
        problem = f"its square is not integrable near z = {place:.4g} standard deviations"
        keep = (np.abs(z[:, None] - stuck) > 1e-3).all(axis=1)
    square = (values * values * weight).sum(axis=1)
    finite_mass = float(weight.sum())
    if not np.isfinite(square).all() or _edge_share(z, weight, values, square) > 1e-6:
        problem = "it grows so fast that its second moment overflows or does not exist"
        keep = np.abs(z) <= _CENTRE
        values = np.clip(values, -LARGEST, LARGEST)
    if finite_mass < 1.0 - 1e-9:
        problem = problem or f"it is not finite for a share {1.0 - finite_mass:.2g} of its input"
    if exhausted and problem is None:
        problem = "it varies too fast for the quadrature; its moments are estimates"
    if keep is not None:
        weight = weight * keep
    mass = float(weight.sum())
    if problem is not None and mass > 0.0:
        weight = weight / mass
    return Quadrature(z, weight, values, base, problem)


def _edge_share(z: Array, weight: Array, values: Array, square: Array) -> float:
    """The part of E f² that sits in the outermost finite panel."""
    live = weight > 0.0
    if not live.any() or not (square > 0.0).all():
        return 0.0
    outer = np.zeros_like(live)
    top, bottom = z[live].max(), z[live].min()
    if top > 8.0:
        outer |= live & (z > top - 1.0)
    if bottom < -8.0:
        outer |= live & (z < bottom + 1.0)
    return float(((values[:, outer] ** 2 * weight[outer]).sum(axis=1) / square).max())
