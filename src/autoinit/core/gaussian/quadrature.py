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
from typing import Any, NamedTuple

import numpy as np

from .functions import Array

Index = np.ndarray[Any, np.dtype[np.int64]]
Rows = np.ndarray[Any, Any]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
Function = Callable[[Array], Array]

ORDER = 16
HERMITE = 64
MORE_HERMITE = 256  # for functions with jumps or with narrow features
TOLERANCE = 1e-9
_SPLIT = 8
_NARROWEST = 1e-12
_MOST_PANELS = 3000
_CENTRE = 6.0
LARGEST = 1e60  # values are cut here once the true moments do not exist


def legendre_panels(edges: Sequence[float] | Array, order: int) -> tuple[Array, Array]:
    """Nodes and weights of Gauss-Legendre panels between these edges, one after the other."""
    edges = np.asarray(edges)
    nodes, weights = np.polynomial.legendre.leggauss(order)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (nodes + 1.0)).ravel(), (half * weights).ravel()


def normal_panels(edges: Sequence[float] | Array, order: int) -> tuple[Array, Array]:
    """The same with the weights of the standard normal density."""
    z, weight = legendre_panels(edges, order)
    return z, weight * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


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


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(ORDER)
_TAIL = np.stack(
    [(k + 0.5) * _WEIGHTS * np.polynomial.legendre.Legendre.basis(k)(_NODES) for k in range(ORDER - 3, ORDER)],
    axis=1,
)
_HALF_EDGES = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.5, 9.0])
_EDGES = np.concatenate([-_HALF_EDGES[:0:-1], _HALF_EDGES])
_FAR_EDGES = np.linspace(9.0, 39.0, 21)
BASE_Z, BASE_W = normal_panels(_EDGES, ORDER)
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


class _Panels(NamedTuple):
    """Panels and the integrand on their nodes; every array has one row per panel."""

    low: Rows
    high: Rows
    base: Rows
    """Which of the tabulated panels it is, or -1."""
    z: Rows
    weight: Rows
    """Zero where the integrand is not finite."""
    values: Rows
    """One row per function, within each panel."""
    absolute: Rows
    square: Rows
    error: Rows

    @classmethod
    def of(cls, low: Array, high: Array, function: Function, base: Index | None = None) -> _Panels:
        if base is None:
            half = 0.5 * (high - low)[:, None]
            z = 0.5 * (high + low)[:, None] + half * _NODES
            weight = half * _WEIGHTS * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        else:
            z, weight = BASE_Z.reshape(-1, ORDER)[base], BASE_W.reshape(-1, ORDER)[base]
        values = function(z.ravel())
        values = values.reshape(len(values), *z.shape).swapaxes(0, 1)
        error = np.abs(values @ _TAIL).sum(axis=2)
        finite = np.asarray(np.isfinite(values).all(axis=1))
        if not finite.all():
            weight, values = weight * finite, np.where(finite[:, None], values, 0.0)
            error = np.where(finite.any(axis=1, keepdims=True), np.where(np.isfinite(error), error, np.inf), 0.0)
        heavy = weight[:, None]
        absolute, square = (np.abs(values) * heavy).sum(axis=2), (values * values * heavy).sum(axis=2)
        base = np.full(low.size, -1) if base is None else base
        return cls(low, high, base, z, weight, values, absolute, square, error)

    def chosen(self, which: Mask) -> _Panels:
        return _Panels(*(each[which] for each in self))

    def beside(self, other: _Panels) -> _Panels:
        return _Panels(*(np.concatenate(both) for both in zip(self, other, strict=True)))

    def unresolved(self) -> Mask:
        """Panels whose error still matters for E|f|, E f² or a Hermite coefficient."""
        error, mass = self.error, self.weight.sum(axis=1)[:, None]
        absolute, square = self.absolute.sum(axis=0), self.square.sum(axis=0)
        bad = error * mass > TOLERANCE * absolute
        bad |= error * np.sqrt(mass * self.square) > TOLERANCE * square
        bad |= error * np.sqrt(mass) > 1e-6 * np.sqrt(square)
        bad |= np.isinf(error) & (mass > 0.0)
        return np.asarray(bad.any(axis=1))

    def narrow(self) -> Mask:
        """Panels too narrow to be cut."""
        return self.high - self.low < _NARROWEST * np.maximum(1.0, np.abs(self.low))

    def ends_count(self) -> bool:
        """Whether what lies beyond |z| = 9 (a mass of 1e-19 on each side) can matter."""
        outermost, beyond = [self.z.argmin(), self.z.argmax()], 1e-17
        if not (self.weight.ravel()[outermost] > 0.0).all():
            return True
        last = np.abs(self.values.swapaxes(0, 1).reshape(self.values.shape[1], -1)[:, outermost]).max(axis=1)
        first, second = self.absolute.sum(axis=0), self.square.sum(axis=0)
        return bool((last * beyond > 1e-12 * first).any() or (last * last * beyond > 1e-12 * second).any())

    def cut(self, function: Function) -> _Panels:
        """Each of them in eight."""
        edges = self.low[:, None] + (self.high - self.low)[:, None] * (np.arange(_SPLIT + 1) / _SPLIT)
        edges[:, -1] = self.high
        return _Panels.of(edges[:, :-1].ravel(), edges[:, 1:].ravel(), function)


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


def integrate(function: Function, marks: Sequence[float] = ()) -> Quadrature:
    """Resolve function(z), an array with one row per function, against the normal density.

    marks: the z of kinks and of feature edges, which become panel edges.
    """
    with np.errstate(all="ignore"):
        kept, low, high = _cut(marks)
        panels = _Panels.of(_EDGES[kept], _EDGES[kept + 1], function, kept)
        if low.size:
            panels = panels.beside(_Panels.of(low, high, function))
        if panels.ends_count():
            for edges in (-_FAR_EDGES[::-1], _FAR_EDGES):
                panels = panels.beside(_Panels.of(edges[:-1], edges[1:], function))
        while True:
            bad = panels.unresolved()
            stuck = bad & panels.narrow()
            bad &= ~stuck
            exhausted = len(panels.low) + int(bad.sum()) * _SPLIT > _MOST_PANELS
            if exhausted or not bad.any():
                return _collected(panels, stuck, exhausted and bool(bad.any()))
            panels = panels.chosen(~bad).beside(panels.chosen(bad).cut(function))


def _collected(panels: _Panels, stuck: Mask, exhausted: bool) -> Quadrature:
    """All nodes, with what is wrong with the integral; where it does not exist, that of a part of the line."""
    z, weight = panels.z.ravel(), panels.weight.ravel()
    values = panels.values.swapaxes(0, 1).reshape(panels.values.shape[1], -1)
    base = panels.base[panels.base >= 0]
    square = (values * values * weight).sum(axis=1)
    worst = np.where(np.isfinite(panels.error), panels.error, 0.0)
    share = np.maximum(worst * np.sqrt(panels.weight.sum(axis=1)[:, None] * panels.square), panels.square)
    places = panels.low[stuck & (share > 1e-6 * panels.square[~stuck].sum(axis=0)).any(axis=1)]
    problem, keep, mass = None, np.ones(z.size, bool), float(weight.sum())
    if places.size:
        place = float(places[np.argmin(np.abs(places))])
        problem = f"its square is not integrable near z = {place:.4g} standard deviations"
        keep = (np.abs(z[:, None] - places) > 1e-3).all(axis=1)
    if not np.isfinite(square).all() or _edge_share(z, weight, values, square) > 1e-6:
        problem = "it grows so fast that its second moment overflows or does not exist"
        keep = np.abs(z) <= _CENTRE
        values = np.clip(values, -LARGEST, LARGEST)
    if mass < 1.0 - 1e-9:
        problem = problem or f"it is not finite for a share {1.0 - mass:.2g} of its input"
    if exhausted:
        problem = problem or "it varies too fast for the quadrature; its moments are estimates"
    if problem is not None:
        weight = weight * keep
        weight = weight / (float(weight.sum()) or 1.0)
    return Quadrature(z, weight, values, (base[:, None] * ORDER + np.arange(ORDER)).ravel(), problem)


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
