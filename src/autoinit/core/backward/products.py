"""Products of independent tensors, summed over labels: what the adjoints of contractions are made of.

For y = sum_T prod_k x_k the gradient of each operand is the same sum with g in its place, so all that is needed is
`einsum_moments` of laws whose places may be unequal. Along a label whose operands have profiles p_k, with r their
product: n places of one pair count as sum r, and pairs of different places as (sum sqrt r)^2 - sum r, the moments of
different places being brought to scale one before (`levelled`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..signal.axis_maps import apart, levelled
from ..signal.contraction import label_sizes
from ..signal.profiles import Array
from ..signal.signal import Signal, constant


def product(names: Sequence[str], out: str, signals: Sequence[Signal], sizes: dict[str, int] | None = None) -> Signal:
    """The law of the sum of products; labels that only the output has (their `sizes` given) are broadcast."""
    known = {**(sizes or {}), **label_sizes(names, signals)}
    names, signals = list(names), list(signals)
    for label in dict.fromkeys(out):
        if not any(label in labels for labels in names):
            names.append(label)
            signals.append(constant((known[label],), 1.0))
    numbers = {label: k for k, label in enumerate(dict.fromkeys("".join(names) + out))}
    levels: dict[str, Array] = {}
    operands: list[Any] = []
    for labels, signal in zip(names, signals, strict=True):
        K = signal.K
        for axis, (label, p) in enumerate(zip(labels, signal.profiles, strict=True)):
            if p is not None and signal.shape[axis] > 1:
                K = levelled(K, axis, p)
                levels[label] = levels.get(label, np.ones(p.size)) * p
        operands += [K, [numbers[label] for label in labels]]
    profiles: list[Array | None] = []
    for label in numbers:
        n, r = float(known[label]), levels.get(label)
        inside = label in out
        if inside and r is None:
            continue
        if r is None:
            count = np.array([n, n * (n - 1.0)])
        elif inside:
            count = np.array([float(r.mean()), apart(np.sqrt(r), np.sqrt(r))])
        else:
            total = float(r.sum())
            count = np.array([total, max(float(np.sqrt(r).sum()) ** 2 - total, 0.0)])
        operands += [count, [numbers[label]]]
    for label in out:
        r = levels.get(label)
        mean = 0.0 if r is None else float(r.mean())
        profiles.append(None if r is None or mean <= 0.0 or float(np.ptp(r)) <= 1e-9 * mean else r / mean)
    K = np.einsum(*operands, [numbers[label] for label in out], optimize=len(operands) > 6)
    shape = tuple(known[label] for label in out)
    return Signal(shape, 0.0, np.asarray(K, float).reshape((2,) * len(out)), profiles=tuple(profiles))
