"""The law of the gradient of one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..signal.axis_maps import levelled
from ..signal.marginal import POINTS
from ..signal.profiles import Array
from ..signal.signal import Signal


@dataclass(frozen=True, slots=True)
class Own:
    """What g = h a(u) knows of the entry u that it belongs to, at the points of the law of u (`marginal.points_of`).

    squares: E[a^2 | u] / E[a^2]; amplitudes: E[a | u] / E[a], which is what two entries have in common.
    """

    squares: Array
    amplitudes: Array

    @classmethod
    def of(cls, squares: Array, amplitudes: Array) -> Own | None:
        """With means of one; amplitudes of mean zero have nothing in common."""
        level, mean = float(squares.mean()), float(amplitudes.mean())
        if not level > 0.0:
            return None
        steady = abs(mean) > 1e-6 * float(np.abs(amplitudes).max(initial=1e-300))
        return cls(squares / level, amplitudes / mean if steady else np.ones(amplitudes.size))


@dataclass(frozen=True, slots=True)
class Law:
    """Gradients g of a tensor u.

    own: what they know of their own entry, where no fresh weight lies between; None: nothing.
    shared, inverse_width: what the logits of an attention have in common with its keys (see `rules.adjoint.attention`).
    """

    moments: Signal
    own: Own | None = None
    shared: Array | None = None
    inverse_width: float = 0.0
    divided: float = 0.0
    """1 + t, if g was divided by a statistic of each feature of u: what t owes to the weights before cancels there."""
    parts: tuple[Law, ...] = ()
    """Of a sum, where some know their entry and others do not."""

    @property
    def second(self) -> float:
        return self.moments.second

    @property
    def each(self) -> tuple[Law, ...]:
        """The terms of a sum, or the law alone."""
        return self.parts or (self,)

    def plain(self) -> Law:
        """The moments alone."""
        return Law(self.moments)

    def scaled(self, factor: float) -> Law:
        """factor * g."""
        shared = None if self.shared is None else self.shared * factor * factor
        return replace(self, moments=times(self.moments, factor * factor), shared=shared, parts=())


def times(g: Signal, factor: Array | float) -> Signal:
    """The law with its moments multiplied."""
    return Signal(g.shape, 0.0, g.K * factor, profiles=g.profiles)


def added(laws: Sequence[Law]) -> Law:
    """The sum of gradients that come from several readers, which have nothing in common but the tensor."""
    if len(laws) == 1:
        return laws[0]
    total = max(sum(law.second for law in laws), 1e-300)
    K = sum((law.moments.K for law in laws[1:]), laws[0].moments.K)
    moments = Signal(laws[0].moments.shape, 0.0, K, profiles=_blended([law.moments for law in laws], total))
    shared = [law.shared for law in laws if law.shared is not None]
    known = any(law.own is not None for law in laws)
    return Law(moments, _own_of_sum(laws), sum(shared[1:], shared[0]) if shared else None,
               max(law.inverse_width for law in laws), parts=tuple(laws) if known else ())  # fmt: skip


def _own_of_sum(laws: Sequence[Law]) -> Own | None:
    if all(law.own is None for law in laws):
        return None
    ones = np.ones(POINTS)
    pairs = [float(np.abs(law.moments.K.ravel()[1:]).sum()) + 1e-6 * law.second for law in laws]  # in common
    squares = sum((law.second * (ones if law.own is None else law.own.squares) for law in laws), 0.0 * ones)
    amplitudes = sum(
        (pair * (ones if law.own is None else law.own.amplitudes) for pair, law in zip(pairs, laws, strict=True)),
        0.0 * ones,
    )
    return Own.of(squares, amplitudes)


def _blended(laws: Sequence[Signal], total: float) -> tuple[Array | None, ...]:
    """Profiles weighted by second moments."""
    out: list[Array | None] = []
    for axis, n in enumerate(laws[0].shape):
        known = [(g.second / total, g.profiles[axis]) for g in laws]
        if all(p is None for _, p in known):
            out.append(None)
        else:
            out.append(sum((share * (np.ones(n) if p is None else p) for share, p in known), np.zeros(n)))
    return tuple(out)


def summed(g: Signal, shape: tuple[int, ...]) -> Signal:
    """The gradient of a tensor that was broadcast: the sum over the axes that it did not have, or had once.

    A sum over n places has n K(same) + n (n - 1) K(different).
    """
    K, profiles = g.K, list(g.profiles)
    missing = g.ndim - len(shape)
    for axis, n in enumerate(g.shape):
        if axis < missing or (shape[axis - missing] == 1 and n > 1):
            one = n * np.take(K, [0], axis=axis) + n * (n - 1) * np.take(K, [1], axis=axis)
            K, profiles[axis] = np.concatenate([one, one], axis=axis), None
    K = K.reshape((2,) * missing + K.shape[missing:])[(0,) * missing]
    return Signal(shape, 0.0, K, profiles=tuple(profiles[missing:]))


def level_places(g: Signal, axis: int, factor: Array) -> Signal:
    """Gradients multiplied, place by place of an axis, by numbers whose squares are `factor`."""
    p = g.profiles[axis]
    new = factor if p is None else p * factor
    level = float(new.mean())
    profiles = list(g.profiles)
    profiles[axis] = new / level if level > 0.0 and float(np.ptp(new)) > 1e-9 * level else None
    K = np.array(g.K if p is None else levelled(g.K, axis, p))
    pairs = K.reshape(2**axis, 2, -1)
    pairs[:, 0] *= level
    pairs[:, 1] *= _of_pairs(np.sqrt(np.maximum(new, 0.0)))
    return Signal(g.shape, 0.0, K, profiles=tuple(profiles))


def _of_pairs(q: Array) -> float:
    n = q.size
    return float(q.sum() ** 2 - q @ q) / (n * (n - 1)) if n > 1 else float(q @ q)
