"""The signal: second-order description of a random tensor.

A tensor of shape (n_1 ... n_d) is treated as a random array whose law does not change when the indices along
any one axis are permuted. Its second-order description is the mean m = E[x] and, for every subset S of the axes,

    K(S) = E[x_i x_j],   i and j differ exactly on the axes in S.

`Signal.K` stores these as an array of shape (2,)*d: index 0 on an axis means "same index there", index 1 means
"different". So ``K[0,...,0] = E[x^2]``, and permuting axes of the tensor permutes axes of K.

Beside the moments a signal remembers, cheaply, where it comes from:

* ``source`` and ``expr``: the entries are ``expr(u)`` of a jointly Gaussian signal ``source``. Elementwise chains
  stay one function of one source until something else needs their moments (which are computed on demand).
* ``profiles``: how E[x^2] varies along an axis (mean 1), made by zero padding and causal masks.
* ``live``: which entries a mask leaves alive, for a softmax that follows.
* ``deficiency``: how much fewer directions than features the tensor really has: 1/(effective width) - 1/features,
  for the last contraction's input and everything before it. Attention needs it (its keys and values share their
  input).
* ``volatility``: relative covariance of the *local variances* of two entries (see `volatility`): the scatter of
  finite width, of gates and of samples, which a function that follows turns into covariance.

Convention: along an axis of size 1 there are no different indices; there K(S with a) = K(S), so that
broadcasting along it changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..gaussian.expression import Expr, X, affine
from ..gaussian.integrals import analyse
from ..gaussian.ranges import inside
from .marginal import ShapedAnalysis, Sum

Array = NDArray[np.float64]
Profiles = tuple[Array | None, ...]

HUGE = 1e60
"""Moments beyond this are overflow: they are said, and replaced."""

LARGEST_VOLATILITY = 30.0
"""V beyond this says nothing any more: the scatter is a factor of six either way."""

LONGEST_CHAIN = 48
"""Elementwise chains longer than this are cut: the intermediate tensor becomes a Gaussian source of its own."""


class Signal:
    """Mean, second moments K(S), and provenance of a random tensor. Treat as immutable."""

    __slots__ = (
        "_K", "_deficiency", "_lazy_volatility", "_mean", "_problem", "_volatility", "expr", "live", "memo", "parts",
        "profiles", "shape", "source",
    )  # fmt: skip

    def __init__(
        self,
        shape: Sequence[int],
        mean: float,
        K: Array,
        *,
        profiles: Profiles | None = None,
        live: NDArray[np.bool_] | None = None,
        deficiency: float = 0.0,
        volatility: Array | None = None,
    ) -> None:
        self.shape = tuple(int(n) for n in shape)
        self._mean: float | None = float(mean)
        self._K: Array | None = settle_singletons(np.asarray(K, float).reshape((2,) * len(self.shape)), self.shape)
        self.profiles: Profiles = profiles if profiles is not None else (None,) * len(self.shape)
        self.source: Signal = self
        self.expr: Expr = X
        self.live = live
        self._deficiency: float | None = deficiency
        self._volatility: Array | None = sound_volatility(volatility)
        self._lazy_volatility = False
        self.memo: dict[Any, Signal] = {}
        self.parts: Sum | None = None
        self._problem: str | None = None

    @classmethod
    def function(cls, source: Signal, expr: Expr, *, mean: float | None = None, K: Array | None = None) -> Signal:
        """The signal ``expr(source)``, elementwise. Moments are integrated on first use unless given."""
        if expr is X and K is None:
            return source
        made = cls.__new__(cls)
        made.shape = source.shape
        made._mean = mean
        made._K = K
        made.profiles = source.profiles
        made.source = source
        made.expr = expr
        made.live = None
        made._deficiency = None
        made._volatility, made._lazy_volatility = None, True
        made.memo = {}
        made.parts = None
        made._problem = None
        if expr.depth > LONGEST_CHAIN:
            return Signal(made.shape, made.mean, made.K, profiles=made.profiles)
        return made

    def _integrate(self) -> None:
        """Moments of expr(source): Gaussian integrals, or those of a shaped law (`core.signal.marginal`)."""
        if self.expr.name == "affine" and self.expr.params[1] != 0.0 and affine(self.expr) is None:
            self._integrate_shifted(*self.expr.params)
            return
        source = self.source
        K = source.K
        analysis = self.analysis()
        self._problem = analysis.problem
        made = self._moments(analysis, K)
        if not sound(*made):
            analysis = ShapedAnalysis(self.expr, source)
            self._problem = "a moment does not exist, or overflows: taken from samples"
            made = self._moments(analysis, K)
        self._mean, pairs = made
        if affine(self.expr) is None and sound(*made):
            self._mean, pairs = inside(self.expr, *made)
        if any(p is not None for p in self.profiles):
            pairs, self.profiles = _profile_through(pairs, self.profiles, float(analysis.slope))
        self._K = pairs

    def _moments(self, analysis: Any, K: Array) -> tuple[float, Array]:
        """Mean and K of expr(source) by these integrals, with what the scatter of local variances does to them."""
        source = self.source
        mean, second = source.mean, float(K.flat[0])
        made = np.asarray(analysis.pair(K.ravel() - mean * mean), float).reshape(K.shape)
        made = np.clip(made, -analysis.second, analysis.second)
        first, own = float(analysis.mean), float(analysis.second)
        if isinstance(analysis, ShapedAnalysis):
            shaken = analysis.shaken()
            if shaken is not None:
                first, own, made = shaken[0], shaken[1], made + shaken[2]
        elif source.volatility is not None and affine(self.expr) is None:
            from .volatility import function_moments

            first, made = function_moments(self.expr, mean, second - mean * mean, first, made, source.volatility)
        made.flat[0] = own
        return first, made

    def _integrate_shifted(self, factor: float, offset: float) -> None:
        """Moments of factor f + offset from those of f: what volatility does to the mean of f is in them already."""
        inner = Signal.function(self.source, self.expr.args[0])
        K = inner.K
        self._problem = inner._problem
        self._mean = factor * inner.mean + offset
        self._K = factor * factor * K + 2.0 * factor * offset * inner.mean + offset * offset
        if any(p is not None for p in self.profiles):
            _, self.profiles = _profile_through(K, self.profiles, float(self.analysis().slope))

    def analysis(self) -> Any:
        """The integrals of expr over the law of the source."""
        source = self.source
        if source.parts is not None and affine(self.expr) is None:
            return ShapedAnalysis(self.expr, source)
        return analyse(self.expr, source.mean, source.variance)

    @property
    def mean(self) -> float:
        if self._mean is None:
            self._integrate()
        assert self._mean is not None
        return self._mean

    @property
    def K(self) -> Array:
        if self._K is None:
            self._integrate()
        assert self._K is not None
        return self._K

    @property
    def problem(self) -> str | None:
        """Why the function that made this signal could not be integrated properly, if so."""
        _ = self.K
        return self._problem

    @property
    def deficiency(self) -> float:
        """1/(effective width) - 1/features; a non-linear function keeps the part that it passes linearly."""
        if self._deficiency is None:
            inner = self.source.deficiency
            self._deficiency = _linear_share(self.source, self.expr) ** 2 * inner if inner else 0.0
        return self._deficiency

    @deficiency.setter
    def deficiency(self, value: float) -> None:
        self._deficiency = value

    @property
    def volatility(self) -> Array | None:
        """V(S) of `core.signal.volatility`, or None."""
        if self._lazy_volatility:
            from .volatility import function_volatility

            self._volatility, self._lazy_volatility = function_volatility(self), False
        return self._volatility

    @volatility.setter
    def volatility(self, value: Array | None) -> None:
        self._volatility, self._lazy_volatility = sound_volatility(value), False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def second(self) -> float:
        """E[x^2]."""
        return float(self.K.flat[0])

    @property
    def variance(self) -> float:
        """Variance of one entry, over weights, data and noise together."""
        return max(self.second - self.mean**2, 0.0)

    @property
    def covariance(self) -> Array:
        """K(S) - m^2: the covariance of two entries that differ exactly on S."""
        return self.K - self.mean**2

    @property
    def is_constant(self) -> bool:
        """Every entry has the same certain value."""
        K = self.K
        return bool(K.flat[0] - self.mean**2 <= 1e-12 * max(K.flat[0], 1e-300))

    def tensor_mean_square(self) -> float:
        """E[(mean of all entries)^2] = sum_S w(S) K(S)."""
        return float(shares(self.shape) @ self.K.ravel())

    def tensor_variance(self) -> float:
        """What ``x.var()`` over the whole tensor measures on average: K(0) - sum_S w(S) K(S)."""
        return max(self.second - self.tensor_mean_square(), 0.0)

    def correlation(self, axis: int) -> float:
        """Correlation of two entries that differ along `axis` only."""
        return self.correlations()[axis]

    def correlations(self) -> list[float]:
        """`correlation` of every axis."""
        variance, square, K, last = self.variance, self.mean**2, self.K.ravel(), self.ndim - 1
        if not variance > 0:
            return [0.0] * self.ndim
        return [(float(K[1 << (last - axis)]) - square) / variance for axis in range(self.ndim)]

    def scaled(self, factor: float) -> Signal:
        """factor * x, keeping the provenance."""
        from ..gaussian.expression import apply

        if factor == 1.0:
            return self
        return Signal.function(self.source, apply("mul", self.expr, float(factor)),
                               mean=None if self._mean is None else self._mean * factor,
                               K=None if self._K is None else self._K * factor**2)  # fmt: skip

    def materialised(self) -> Signal:
        """The same moments as a fresh Gaussian source."""
        return Signal(self.shape, self.mean, self.K, profiles=self.profiles, deficiency=self.deficiency,
                      volatility=self.volatility)  # fmt: skip

    def __repr__(self) -> str:
        return f"Signal(shape={self.shape}, mean={self.mean:.4g}, variance={self.variance:.4g})"


def _linear_share(source: Signal, expr: Expr) -> float:
    """The share of the variance of expr(source) that its best linear approximation explains."""
    if affine(expr) is not None:
        return 1.0
    mean, variance = source.mean, source.variance
    analysis = analyse(expr, mean, variance)
    spread = analysis.second - analysis.mean**2
    if variance <= 0 or spread <= 0:
        return 0.0
    slope = (float(analysis.cross(np.array([variance]))[0]) - mean * analysis.mean) / variance
    return float(np.clip(slope**2 * variance / spread, 0.0, 1.0))


def sound(mean: float, K: Array) -> bool:
    """Numbers that arithmetic can go on with."""
    return abs(mean) < HUGE and bool((np.abs(K) <= HUGE).all())


def sound_volatility(V: Array | None) -> Array | None:
    """V(0) = Var r / E[r]² is not negative, -V(S) not larger than it (Cauchy-Schwarz), and 1 + V(S) positive."""
    if V is None or not isfinite(V.sum()):
        return None
    lowest = -min(max(float(V.flat[0]), 0.0), 0.9)
    return np.asarray(np.minimum(np.maximum(V, lowest), LARGEST_VOLATILITY))


@lru_cache(maxsize=4096)
def shares(shape: tuple[int, ...]) -> Array:
    """w(S) of a shape, S in the order of K: the share of pairs of entries that differ exactly on the axes S."""
    made = np.ones(1)
    for n in shape:
        same = 1 / max(n, 1)
        made = np.multiply.outer(made, (same, 1 - same)).ravel()
    return made


def settle_singletons(K: Array, shape: Sequence[int]) -> Array:
    """Along axes of size 1 copy "same" into "different" (see the convention above)."""
    if 1 not in shape:
        return K
    K = K.copy()
    for axis, n in enumerate(shape):
        if n == 1:
            pair = K.reshape(1 << axis, 2, -1)
            pair[:, 1] = pair[:, 0]
    return K


def _profile_through(K: Array, profiles: Profiles, slope: float) -> tuple[Array, Profiles]:
    """Position profiles through an elementwise function with E f^2 ~ var^slope near the working point.

    E[f^2] at a place with profile p is E[f^2] p^slope, so the mean over places changes by mean(p^slope).
    """
    if abs(slope - 1.0) < 1e-9:
        return K, profiles
    slope = float(np.clip(slope, 0.0, 4.0))
    factor = 1.0
    bent: list[Array | None] = []
    for p in profiles:
        if p is None:
            bent.append(None)
            continue
        q = p**slope
        mean = float(q.mean())
        factor *= mean
        bent.append(q / mean)
    return K * factor, tuple(bent)


def iid(shape: Sequence[int], mean: float = 0.0, variance: float = 1.0) -> Signal:
    """Independent entries."""
    K = np.full((2,) * len(shape), float(mean) ** 2)
    K.flat[0] += variance
    return Signal(shape, mean, K)


def constant(shape: Sequence[int], value: float) -> Signal:
    """Every entry is `value`."""
    return Signal(shape, value, np.full((2,) * len(shape), float(value) ** 2))


def independent(signal: Signal) -> Signal:
    """The paper's model: keep mean and variance, forget every dependence between entries."""
    return iid(signal.shape, signal.mean, signal.variance)


def from_array(array: NDArray[Any]) -> Signal:
    """Measure m and every K(S) from the array itself.

    With M(B) = mean over the other axes of (mean over axes in B)^2 one has, axis by axis,
    M(with a) = K(same)/n + (1 - 1/n) K(different), which is inverted along each axis in turn.
    """
    x = np.asarray(array, dtype=np.float64)
    d = x.ndim
    if not x.size:
        return constant(x.shape, 0.0)
    if d <= 1:
        return _from_vector(x)
    K = np.empty((2,) * d)
    partial: dict[tuple[int, ...], Array] = {(): x}
    for subset in np.ndindex(*(2,) * d):
        axes = tuple(a for a in range(d) if subset[a])
        if axes:
            partial[axes] = partial[axes[:-1]].mean(axis=axes[-1], keepdims=True)
        y = partial[axes]
        K[subset] = float(np.mean(np.square(y)))
    for a, n in enumerate(x.shape):
        if n > 1:
            same, both = np.take(K, 0, axis=a), np.take(K, 1, axis=a)
            K = np.stack([same, (both - same / n) / (1 - 1 / n)], axis=a)
    return Signal(x.shape, float(x.mean()), K)


def _from_vector(x: Array) -> Signal:
    """`from_array` for one axis: E[x x'] over different places is ((sum x)^2 - sum x^2)/(n (n - 1))."""
    if x.ndim == 0:
        return Signal((), float(x), np.square(x))
    n, total, squares = x.size, float(x.sum()), float(x @ x)
    other = (total * total - squares) / (n * (n - 1)) if n > 1 else squares
    return Signal(x.shape, total / n, np.array([squares / n, other]))
