"""Orthogonal draws: orthonormal to the last digits, any rectangle by itself, entries as good as normal."""

from __future__ import annotations

from math import prod, sqrt

import numpy as np
import pytest

from autoinit.core.drawing.orthogonal import SMALL, Orthogonal

CASES = {
    "square": ((96, 96), (0,), 1),
    "wide": ((40, 200), (0,), 1),
    "tall": ((200, 40), (0,), 1),
    "small": ((5, 3), (0,), 1),
    "kernel": ((64, 3, 7, 7), (0,), 1),
    "kernel with outputs last": ((3, 3, 32, 64), (3,), 1),
    "depthwise": ((96, 1, 3, 3), (0,), 96),
    "grouped": ((64, 16, 3, 3), (0,), 4),
    "experts": ((3, 70, 90), (0, 2), 3),
    "one number": ((1, 1), (0,), 1),
    "a vector": ((70,), (0,), 1),
}


def matrices(part: Orthogonal, drawn: np.ndarray) -> np.ndarray:
    """The vectors of every group, of length one."""
    rows, columns = part.axes
    made = drawn.transpose([*rows, *columns]).reshape(part.groups, part.rows, part.columns)
    return (made if part.wide else made.swapaxes(1, 2)).astype(float)


def drawn(part: Orthogonal, low: list[int] | None = None, shape: list[int] | None = None) -> np.ndarray:
    out = np.full(shape or list(part.shape), np.nan, dtype=np.float32)
    part.into(out, low or [0] * out.ndim)
    return out


@pytest.mark.parametrize("name", CASES)
def test_orthonormal_with_the_planned_mean_square(name: str) -> None:
    part = Orthogonal(11, *CASES[name], std=0.3)
    made = matrices(part, drawn(part)) / (0.3 * sqrt(part.n))
    gram = made @ made.swapaxes(1, 2)
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(part.k), gram.shape), atol=2e-6)


@pytest.mark.parametrize("name", CASES)
def test_any_rectangle_holds_what_the_whole_holds_there(name: str) -> None:
    part = Orthogonal(12, *CASES[name], std=1.0)
    whole, rng = drawn(part), np.random.default_rng(0)
    for _ in range(5):
        low = [int(rng.integers(0, n)) for n in part.shape]
        shape = [int(rng.integers(1, n - a + 1)) for a, n in zip(low, part.shape, strict=True)]
        cut = whole[tuple(slice(a, a + n) for a, n in zip(low, shape, strict=True))]
        np.testing.assert_array_equal(drawn(part, low, shape), cut)


def test_other_keys_and_other_groups_are_other_matrices() -> None:
    a, b = (drawn(Orthogonal(key, (96, 96), (0,), 1, 1.0)) for key in (1, 2))
    assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 5 / 96
    groups = drawn(Orthogonal(1, (2, 90, 90), (0, 1), 2, 1.0))
    assert abs(np.corrcoef(groups[0].ravel(), groups[1].ravel())[0, 1]) < 5 / 90


@pytest.mark.parametrize("n", [SMALL, SMALL + 1, 147, 768])
def test_entries_are_as_good_as_normal(n: int) -> None:
    """Mean 0; the fourth moment of n-dimensional unit vectors' entries, times n^2, is 3 n / (n + 2)."""
    values = np.concatenate([drawn(Orthogonal(key, (n, n), (0,), 1, 1.0)).ravel() for key in range(8)]).astype(float)
    error = sqrt(96 / values.size) * 5
    assert abs(values.mean()) < 5 / sqrt(values.size) * 2
    assert (values**2).mean() == pytest.approx(1.0, abs=1e-5)
    assert (values**4).mean() == pytest.approx(3 * n / (n + 2), abs=max(2 * error, 0.06))


def test_no_row_is_a_shift_of_another() -> None:
    """Products of two cosine transforms without a permutation between them would be."""
    made = drawn(Orthogonal(5, (256, 256), (0,), 1, 1.0)).astype(float)
    likeness = [abs(np.corrcoef(np.roll(made[3], s), made[4])[0, 1]) for s in range(-3, 4)]
    assert max(likeness) < 5 / sqrt(256)


def test_size_is_counted() -> None:
    part = Orthogonal(3, (64, 16, 3, 3), (0,), 4, 1.0)
    assert (part.groups, part.rows, part.columns, part.n, part.k) == (4, 16, 144, 144, 16)
    assert prod(part.shape) == part.groups * part.rows * part.columns
