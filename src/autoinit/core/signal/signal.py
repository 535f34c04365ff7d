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

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..gaussian.expression import Expr, X, apply
from ..gaussian.functions import clamp
from ..gaussian.integrals import analyse
from ..gaussian.ranges import inside
from .axes import settle_singletons, shares
from .marginal import ShapedAnalysis, Sum
from .profiles import Array, Profiles, bent_profiles
from .volatility import function_moments, function_volatility, sound_volatility

if TYPE_CHECKING:
    from .columns import Columns

T = TypeVar("T")

HUGE = 1e60
"""Moments beyond this are overflow: they are said, and replaced."""

LONGEST_CHAIN = 48
"""Longer elementwise chains are cut: the intermediate tensor becomes a Gaussian source of its own."""


class Fine(NamedTuple):
    """A signal whose axes were merged, and for each axis that there is now those that it merges."""

    signal: Signal
    groups: list[tuple[int, ...]]


class PerPlace(Protocol):
    """Sums of rows at places along an axis; `n`: rows per place."""

    @property
    def axis(self) -> int: ...
    @property
    def n(self) -> Array: ...
    def scaled(self, factor: Array) -> Signal:
        """With a factor per place."""


class Signal:
    """Mean, second moments K(S), and provenance of a random tensor: a value, which nobody changes.

    Beside what the text above says: `parts` of a sum that is not Gaussian (`marginal`), `fine` where axes were merged,
    `logits` behind a softmax, `columns` of an input, `placed` for rows that were added up at places, `function_of` for
    the rules of the paper.
    """

    __slots__ = (
        "_K", "_deficiency", "_lazy_volatility", "_mean", "_once", "_problem", "_source", "_volatility", "columns",
        "expr", "fine", "function_of", "live", "logits", "parts", "placed", "profiles", "shape",
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
        parts: Sum | None = None,
        fine: Fine | None = None,
        logits: Signal | None = None,
        columns: Columns | None = None,
        placed: PerPlace | None = None,
        function_of: tuple[Signal, Expr] | None = None,
    ) -> None:
        self.shape = tuple(map(int, shape))
        self._mean: float | None = float(mean)
        ndim, K = len(self.shape), np.asarray(K, float)
        if K.shape != (2,) * ndim:
            K = K.reshape((2,) * ndim)
        self._K: Array | None = settle_singletons(K, self.shape)
        self.profiles: Profiles = profiles if profiles is not None else (None,) * ndim
        self._source: Signal | None = None
        self.expr: Expr = X
        self.live = live
        self._deficiency: float | None = deficiency
        self._volatility: Array | None = sound_volatility(volatility)
        self._lazy_volatility = False
        self._once: dict[Hashable, Any] = {}
        self.parts, self.fine, self.logits, self.columns = parts, fine, logits, columns
        self.placed, self.function_of = placed, function_of
        self._problem: str | None = None

    @classmethod
    def function(
        cls, source: Signal, expr: Expr, *, mean: float | None = None, K: Array | None = None,
        profiles: Profiles | None = None, fine: Fine | None = None,
    ) -> Signal:  # fmt: skip
        """The signal ``expr(source)``, elementwise. Moments are integrated on first use unless given."""
        if expr is X and K is None:
            return source
        made = cls.__new__(cls)
        made.shape = source.shape
        made._mean = mean
        made._K = K
        made.profiles = source.profiles if profiles is None else profiles
        made._source = source
        made.expr = expr
        made.live = None
        made._deficiency = None
        made._volatility, made._lazy_volatility = None, True
        made._once = {}
        made.parts = made.logits = made.columns = made.placed = made.function_of = None
        made.fine = fine
        made._problem = None
        if expr.depth > LONGEST_CHAIN:
            return Signal(made.shape, made.mean, made.K, profiles=made.profiles)
        return made

    def _integrate(self) -> None:
        """Moments of expr(source): Gaussian integrals, or those of a shaped law (`core.signal.marginal`)."""
        if self.expr.name == "affine" and self.expr.params[1] != 0.0 and self.expr.line is None:
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
        if self.expr.line is None and sound(*made):
            self._mean, pairs = inside(self.expr, *made)
        if any(p is not None for p in self.profiles):
            pairs, self.profiles = bent_profiles(pairs, self.profiles, float(analysis.slope))
        self._K = pairs

    def _moments(self, analysis: Any, K: Array) -> tuple[float, Array]:
        """Mean and K of expr(source) by these integrals, with what the scatter of local variances does to them."""
        source = self.source
        mean, second = source.mean, float(K.flat[0])
        made = np.asarray(analysis.pair(K.ravel() - mean * mean), float).reshape(K.shape)
        made = clamp(made, -analysis.second, analysis.second)
        first, own = float(analysis.mean), float(analysis.second)
        if isinstance(analysis, ShapedAnalysis):
            shaken = analysis.shaken()
            if shaken is not None:
                first, own, made = shaken[0], shaken[1], made + shaken[2]
        elif source.volatility is not None and self.expr.line is None:
            moments = function_moments(self.expr, mean, second - mean * mean, (first, own), made, source.volatility)
            first, own, made = moments
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
            _, self.profiles = bent_profiles(K, self.profiles, float(self.analysis().slope))

    def analysis(self) -> Any:
        """The integrals of expr over the law of the source."""
        source = self.source
        if source.parts is not None and self.expr.line is None:
            return ShapedAnalysis(self.expr, source)
        return analyse(self.expr, source.mean, source.variance)

    @property
    def source(self) -> Signal:
        """The Gaussian that the entries are a function of: itself, where that is X."""
        return self if self._source is None else self._source

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

    @property
    def volatility(self) -> Array | None:
        """V(S) of `core.signal.volatility`, or None."""
        if self._lazy_volatility:
            V = self.source.volatility
            if V is not None and self.expr.line is None:
                V = function_volatility(V, float(self.analysis().slope))
            self._volatility, self._lazy_volatility = V, False
        return self._volatility

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
        if factor == 1.0:
            return self
        return Signal.function(self.source, apply("mul", self.expr, float(factor)),
                               mean=None if self._mean is None else self._mean * factor,
                               K=None if self._K is None else self._K * factor**2)  # fmt: skip

    def but(self, **changes: Any) -> Signal:
        """The same signal with some of its facets changed: profiles, live, deficiency, volatility, parts, fine, ..."""
        made = Signal.__new__(Signal)
        for name in Signal.__slots__:
            setattr(made, name, getattr(self, name))
        made._once = {}
        if "deficiency" in changes:
            made._deficiency = changes.pop("deficiency")
        if "volatility" in changes:
            made._volatility, made._lazy_volatility = sound_volatility(changes.pop("volatility")), False
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gave when it was first asked for by this key: the same move of the same signal is one signal."""
        if key not in self._once:
            self._once[key] = make()
        found: T = self._once[key]
        return found

    def having(self, mean: float, K: Array) -> Signal:
        """A source of these moments, with the levels and the scatter of this signal."""
        made = Signal(self.shape, mean, K, profiles=self.profiles, deficiency=self.deficiency)
        made._volatility = self.volatility
        return made

    def materialised(self) -> Signal:
        """The same moments as a fresh Gaussian source."""
        return self.having(self.mean, self.K)

    def __repr__(self) -> str:
        return f"Signal(shape={self.shape}, mean={self.mean:.4g}, variance={self.variance:.4g})"


def _linear_share(source: Signal, expr: Expr) -> float:
    """The share of the variance of expr(source) that its best linear approximation explains."""
    if expr.line is not None:
        return 1.0
    mean, variance = source.mean, source.variance
    analysis = analyse(expr, mean, variance)
    spread = analysis.second - analysis.mean**2
    if variance <= 0 or spread <= 0:
        return 0.0
    return min(analysis.mean_slope**2 * variance / spread, 1.0)


def sound(mean: float, K: Array) -> bool:
    """Numbers that arithmetic can go on with."""
    return abs(mean) < HUGE and bool((np.abs(K) <= HUGE).all())


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
