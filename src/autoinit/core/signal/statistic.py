"""Tensors that are a statistic of another one: its mean square, norm or variance over some axes.

x / |x|, x * rsqrt(mean(x^2) + eps) and (x - mean) / sqrt(var + eps), written out by hand, are normalisations: what the
statistic has in common with x must not be lost. A statistic is kept as a function h(g) of its own source g (the
logarithm of a positive signal, `positive`), and that source remembers what it is a statistic of. Functions of
it, broadcasting and reshapes that keep the source keep the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dependence.lineage import STATISTIC, Term, averaged, combination
from ..gaussian.expression import X, apply, evaluate
from .signal import Signal


@dataclass(frozen=True, slots=True)
class Statistic:
    """`scale` times the mean square of `of` (centred: of its deviations from the mean) over `axes`."""

    of: Signal
    axes: tuple[int, ...]
    centred: bool = False
    scale: float = 1.0


def remember(made: Signal, statistic: Statistic) -> Signal:
    """`made` is the statistic itself, as the exponential of a Gaussian source (else there is nothing to remember)."""
    if made.source is not made and made.expr is apply("exp", X):
        made.source.memo[STATISTIC] = statistic  # type: ignore[assignment]
    return made


def statistic_of(divisor: Signal, x: Signal) -> Statistic | None:
    """What `divisor` is a statistic of, if that is x itself (centred: what x is the deviation of)."""
    found: Any = divisor.source.memo.get(STATISTIC)
    if not isinstance(found, Statistic) or found.of.shape != x.shape:
        return None
    if not found.centred:
        return found if x.expr is found.of.expr and _same_tensor(x.source, found.of.source) else None
    return found if _is_deviation(x, found) else None


def _same_tensor(x: Signal, y: Signal) -> bool:
    """The same signal, or the same combination of the same signals worked out twice."""
    return x is y or (bool(x.terms) and _spelt(x.terms) == _spelt(y.terms))


def _spelt(terms: tuple[Term, ...], factor: float = 1.0) -> list[str]:
    return sorted(repr((factor * t.coefficient, id(t.root), t.windows, t.picks)) for t in terms)


def _is_deviation(x: Signal, statistic: Statistic) -> bool:
    """x = of - mean(of) over the axes, up to a constant."""
    whole = statistic.of
    windows = tuple(float(n) if a in statistic.axes else 1.0 for a, n in enumerate(whole.shape))
    wanted = _spelt(combination(whole)[1]) + _spelt(averaged(whole, windows), -1.0)
    return sorted(wanted) == _spelt(combination(x)[1])


def factor_at(multiplier: Signal, statistic: Statistic, inverse: bool) -> float:
    """h(s) sqrt(s) in the middle of the law of s: what multiplies x / sqrt(s). `inverse`: x is divided by h."""
    middle = multiplier.source.mean
    value = float(np.asarray(evaluate(multiplier.expr, np.array([middle]))).flat[0])
    root = float(np.sqrt(np.exp(middle) / statistic.scale))
    return root / value if inverse else root * value
