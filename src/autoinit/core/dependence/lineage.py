"""Dependence between signals that come from a common ancestor.

A signal may know itself as a linear combination of *averages* of other signals,

    x = offset + sum_k c_k A_k(r_k),

where A averages the root r over a window of w entries per axis (w = 1: the entry itself, w = n: the mean of the
axis). That is enough for x + x, x - mean(x), avgpool(x) - x and layer normalisation to be exact: the cross moment
E[A_i(r) A_j(r)] only needs the chance that the two averaged entries coincide along each axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..gaussian.expression import X, affine
from ..gaussian.integrals import analyse, cross_analyse
from ..signal.signal import Array, Signal, settle_singletons
from ..signal.volatility import settled
from .shared_weights import LINEAR, PIECES, SHARED, SUM, TABLE, resembles

STATISTIC = "statistic of"
"""Under this key a source remembers what it is a statistic of (`core.signal.statistic`); broadcasting keeps it."""

LAST = "last entry of"
"""Under this key a cut of the last place of an axis remembers the source and the axis (`rules.cumulative`)."""

KEPT = (STATISTIC, LAST, TABLE)
"""What broadcasting keeps."""

MOST_TERMS = 8
"""A longer combination is forgotten: the signal becomes a root of its own."""


@dataclass(frozen=True, slots=True)
class Moved:
    """All entries of an axis, elsewhere: flipped, or rolled by `shift`."""

    flipped: bool
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Term:
    """``coefficient * (root averaged over windows)``; `picks` names the part of an axis that was cut out."""

    coefficient: float
    root: Signal
    windows: tuple[float, ...]
    picks: tuple[Any, ...]

    def times(self, factor: float) -> Term:
        return Term(self.coefficient * factor, self.root, self.windows, self.picks)


def itself(signal: Signal, coefficient: float = 1.0) -> Term:
    return Term(coefficient, signal, (1.0,) * signal.ndim, (None,) * signal.ndim)


def averaged(signal: Signal, windows: tuple[float, ...]) -> tuple[Term, ...]:
    """Terms of `signal` averaged over `windows` (1 leaves an axis alone)."""
    _, terms = combination(signal)
    return tuple(
        Term(t.coefficient, t.root, tuple(max(a, b) for a, b in zip(t.windows, windows, strict=True)), t.picks)
        for t in terms
        if t.root.ndim == signal.ndim
    )


def picked(signal: Signal, axis: int, pick: Any) -> tuple[Term, ...]:
    """Terms of the part `pick` of `signal` along `axis`."""
    picks = tuple(pick if a == axis else None for a in range(signal.ndim))
    return (Term(1.0, signal, (1.0,) * signal.ndim, picks),)


def combination(signal: Signal) -> tuple[float, tuple[Term, ...]]:
    """(offset, terms) of a signal: its own, those of an affine map of its source, or simply itself."""
    if signal.terms:
        return 0.0, signal.terms
    if signal.source is not signal:
        line = affine(signal.expr)
        if line is not None:
            slope, offset = line
            inner_offset, inner = combination(signal.source)
            return offset + slope * inner_offset, tuple(t.times(slope) for t in inner)
    return 0.0, (itself(signal),)


def joined(*parts: tuple[float, Signal]) -> tuple[Term, ...]:
    """Terms of sum_k c_k x_k for a result that is to remember its parts; empty if that is too long a story."""
    terms: list[Term] = []
    for coefficient, signal in parts:
        offset, inner = combination(signal)
        if offset != 0.0:
            inner = (itself(signal),)
        terms.extend(t.times(coefficient) for t in inner)
    return tuple(terms) if len(terms) <= MOST_TERMS else ()


def cross_moment(u: Signal, v: Signal) -> Array:
    """E[u_i v_j] for every pattern S of axes on which i and j differ. Shapes must have the same rank."""
    if u.source is v.source and u.source.ndim == u.ndim:
        return _same_source(u, v)
    _, u_terms = combination(u)
    _, v_terms = combination(v)
    total = np.full((2,) * u.ndim, u.mean * v.mean)
    for a in u_terms:
        for b in v_terms:
            if a.root is b.root and a.root.ndim == u.ndim:
                base = a.root.mean**2
                total = total + a.coefficient * b.coefficient * (_same_root(a, b) - base)
            elif a.root.source is b.root.source and _alike(a, b):
                base = a.root.mean * b.root.mean
                total = total + a.coefficient * b.coefficient * (_same_source(a.root, b.root) - base)
            elif (_remembers(a.root) or _remembers(b.root)) and _alike(a, b):
                found = resembles(a.root, b.root, cross_moment)
                if found is not None:
                    total = total + a.coefficient * b.coefficient * found
    remembering = _remembers(u) or _remembers(v)
    if not remembering and u.source is u and v.source is v:
        return total
    if not np.all(np.abs(total - u.mean * v.mean) <= 1e-8 * np.sqrt(u.second * v.second)):
        return total
    if remembering:  # also where the other is a part of something, so that the terms do not match
        found = resembles(u, v, cross_moment)
        return total if found is None else total + found
    return _through_functions(u, v, total)


def _remembers(signal: Signal) -> bool:
    memo = signal.memo
    return LINEAR in memo or SHARED in memo or PIECES in memo or SUM in memo


def _alike(a: Term, b: Term) -> bool:
    """Whether two terms take the same averages of the same part of tensors of the same shape."""
    return a.root.shape == b.root.shape and a.windows == b.windows and a.picks == b.picks


def _same_source(u: Signal, v: Signal) -> Array:
    source = u.source
    if u.expr is X and v.expr is X:
        return source.K
    both = cross_analyse(u.expr, v.expr, source.mean, source.variance)
    return np.asarray(both.pair(source.covariance.ravel()), float).reshape(source.K.shape)


def _through_functions(u: Signal, v: Signal, total: Array) -> Array:
    """Functions of two different but correlated Gaussian sources: first order in their covariance (Stein)."""
    if u.source.shape != u.shape or v.source.shape != v.shape:
        return total
    base = cross_moment(u.source, v.source) - u.source.mean * v.source.mean
    if not np.any(np.abs(base) > 1e-12):
        return total
    return total + _gain(u) * _gain(v) * base


def _gain(signal: Signal) -> float:
    """E[f'(u)]: the slope of the best linear approximation of the signal in its source."""
    source = signal.source
    if signal.expr is X or source.variance <= 0:
        return 1.0
    analysis = analyse(signal.expr, source.mean, source.variance)
    cross = float(analysis.cross(np.array([source.variance]))[0])
    return (cross - source.mean * analysis.mean) / source.variance


def _same_root(a: Term, b: Term) -> Array:
    """E[A(r)_i B(r)_j]: along each axis the two entries coincide with some probability, else they differ."""
    root = a.root
    K = root.K
    for axis, n in enumerate(root.shape):
        if n == 1:
            continue
        p, q = _coincidence(a.windows[axis], b.windows[axis], a.picks[axis], b.picks[axis], n)
        if (p, q) == (1.0, 0.0):
            continue
        same, different = np.take(K, 0, axis=axis), np.take(K, 1, axis=axis)
        K = np.stack([p * same + (1 - p) * different, q * same + (1 - q) * different], axis=axis)
    return K


def _coincidence(wa: float, wb: float, pick_a: Any, pick_b: Any, n: int) -> tuple[float, float]:
    """P(same entry | same place), P(same entry | different places) along one axis of size n."""
    if pick_a != pick_b:
        if all(pick is None or isinstance(pick, Moved) for pick in (pick_a, pick_b)):
            return elsewhere(pick_a, pick_b, max(wa, wb), n)
        return 0.0, 0.0
    window = min(max(wa, wb), float(n))
    if window <= 1:
        return 1.0, 0.0
    p = 1.0 / window
    return p, (1.0 - p) / (n - 1)


def elsewhere(a: Moved | None, b: Moved | None, window: float, n: int) -> tuple[float, float]:
    """`_coincidence` of an axis with the same axis in another order: only a flip has places that stay."""
    if window > 1:
        window = min(window, float(n))
        return 1.0 / window, (1.0 - 1.0 / window) / (n - 1)
    turned = [m for m in (a, b) if m is not None]
    stays = n % 2 / n if len(turned) == 1 and turned[0].flipped else 0.0
    return stays, (1.0 - stays) / (n - 1)


def aligned(signal: Signal, shape: tuple[int, ...]) -> Signal:
    """`signal` broadcast to `shape` (leading axes added; size-1 axes stretched). Moments stay, by convention."""
    if signal.shape == shape:
        return signal
    missing = len(shape) - signal.ndim
    if missing == 0 and all(n == m or n == 1 for n, m in zip(signal.shape, shape, strict=True)):
        return _stretched(signal, shape)
    key = ("aligned", shape)
    if key in signal.memo:
        return signal.memo[key]
    if signal.source is not signal:
        made = Signal.function(aligned(signal.source, shape), signal.expr)
    else:
        K = signal.K
        for _ in range(missing):
            K = np.stack([K, K], axis=0)
        made = Signal(signal.shape, signal.mean, signal.K) if missing < 0 else _raw(shape, signal, K, missing)
    signal.memo[key] = made
    return made


def _raw(shape: tuple[int, ...], signal: Signal, K: Array, missing: int) -> Signal:
    made = Signal((1,) * missing + signal.shape, signal.mean, K, profiles=(None,) * missing + signal.profiles,
                  deficiency=signal.deficiency,
                  volatility=_lifted(signal.volatility, missing))  # fmt: skip
    made.memo.update({key: signal.memo[key] for key in KEPT if key in signal.memo})
    return _stretched(made, shape)


def _lifted(V: Array | None, missing: int) -> Array | None:
    for _ in range(missing if V is not None else 0):
        assert V is not None
        V = np.stack([V, V], axis=0)
    return V


def _stretched(signal: Signal, shape: tuple[int, ...]) -> Signal:
    if signal.shape == shape:
        return signal
    key = ("stretched", shape)
    if key not in signal.memo:
        if signal.source is not signal:
            made = Signal.function(_stretched(signal.source, shape), signal.expr, mean=signal.mean, K=signal.K)
        else:
            made = Signal.__new__(Signal)
            made.shape = shape
            made._mean, made._K = signal.mean, settle_singletons(signal.K, shape)
            made.profiles = tuple(
                None if n != m else p for p, n, m in zip(signal.profiles, signal.shape, shape, strict=True)
            )
            made.source, made.expr = made, X
            made.terms, made.live, made.memo, made._problem = signal.terms, signal.live, {}, None
            made.parts = signal.parts
            made.memo.update({key: signal.memo[key] for key in KEPT if key in signal.memo})
            made._deficiency, made.volatility = signal._deficiency, settled(signal.volatility, shape)
        signal.memo[key] = made
    return signal.memo[key]
