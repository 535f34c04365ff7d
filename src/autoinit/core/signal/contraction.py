"""Second moments of a contraction of independent signals.

For y = sum_T prod_k x_k, summed over the contracted labels T, two entries of y multiply two copies of every
operand. Along a contracted label of size n the two copies sit at the same index n times and at different
indices n (n - 1) times; along a kept label they agree or differ as the entries of y do. Hence, with the
operands independent of each other,

    K'(S) = sum over subsets of T  prod_t (n_t  or  n_t (n_t - 1))  prod_k K_k(bits of S and T that k has),
    m'    = prod_t n_t  prod_k m_k.

Read as tensors of shape (2,)*d this is itself an einsum: of the K_k with one weight vector (n, n (n - 1)) per
contracted label. Labels in several operands and in the output (batch labels) multiply bit by bit; a size-1
axis of a broadcast operand has K(same) = K(different) by convention and needs no care.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from .profiles import Array
from .signal import Signal


class Shaped(Protocol):
    """Whatever has axes."""

    @property
    def shape(self) -> tuple[int, ...]: ...


def label_sizes(inputs: Sequence[str], operands: Sequence[Shaped]) -> dict[str, int]:
    """The broadcast size of every label."""
    sizes: dict[str, int] = {}
    for labels, operand in zip(inputs, operands, strict=True):
        for label, n in zip(labels, operand.shape, strict=True):
            sizes[label] = n if sizes.get(label, 1) == 1 else sizes[label]
    return sizes


def einsum_moments(inputs: Sequence[str], output: str, signals: Sequence[Signal]) -> tuple[float, Array]:
    """(mean, K) of ``einsum(",".join(inputs) + "->" + output)`` over independent signals.

    A label that an operand repeats ("ii") takes its diagonal: both bits are tied, which is what sharing the
    label in the einsum of the K tensors does.
    """
    sizes = label_sizes(inputs, signals)
    numbers = {label: i for i, label in enumerate(dict.fromkeys("".join(inputs) + output))}
    contracted = [label for label in numbers if label not in output]
    tables, mean = [signal.K for signal in signals], 1.0
    for signal in signals:
        mean *= signal.mean
    for label in contracted:
        n = float(sizes[label])
        mean *= n
        k = next(k for k, labels in enumerate(inputs) if label in labels)  # the weights go with the first that has it
        behind = len(inputs[k]) - inputs[k].index(label) - 1
        tables[k] = tables[k] * np.array([n, n * (n - 1.0)]).reshape((2,) + (1,) * behind)
    operands: list[Any] = []
    for labels, table in zip(inputs, tables, strict=True):
        operands += [table, [numbers[label] for label in labels]]
    K = np.einsum(*operands, [numbers[label] for label in output], optimize=len(operands) > 4)
    return mean, np.asarray(K, float).reshape((2,) * len(output))


def matmul_equation(left: int, right: int) -> str:
    """That of a matrix product of tensors of these ranks: leading axes broadcast, vectors have an inner axis only."""
    batch = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: max(left, right, 2) - 2]
    one = batch[len(batch) - (left - 2) :] + "mk" if left > 1 else "k"
    two = batch[len(batch) - (right - 2) :] + "kp" if right > 1 else "k"
    return f"{one},{two}->{batch}{'m' if left > 1 else ''}{'p' if right > 1 else ''}"


def matmul_moments(a: Signal, b: Signal) -> tuple[float, Array]:
    """(mean, K) of ``matmul(a, b)``."""
    inputs, out = matmul_equation(a.ndim, b.ndim).split("->")
    return einsum_moments(inputs.split(","), out, [a, b])
