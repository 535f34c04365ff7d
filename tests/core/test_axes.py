"""Moves of the axes of a moment table, against the moments of arrays that are really moved."""

from __future__ import annotations

import numpy as np
import pytest

from autoinit.core.signal import axes
from autoinit.core.signal.measured import from_array

ARRAY = np.random.default_rng(0).normal(0.7, 1.0, (3, 4, 5))
K = from_array(ARRAY).K


def exchangeable(shape: tuple[int, ...]) -> np.ndarray:
    """Any table will do for identities between moves."""
    return np.random.default_rng(1).normal(size=(2,) * len(shape))


def test_same_and_different_take_an_axis_away() -> None:
    np.testing.assert_array_equal(axes.same(K, 1), K[:, 0])
    np.testing.assert_array_equal(axes.different(K, 2), K[:, :, 1])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_mean_over_is_exact(axis: int) -> None:
    np.testing.assert_allclose(axes.mean_over(K, axis, ARRAY.shape[axis]), from_array(ARRAY.mean(axis)).K, atol=1e-12)


@pytest.mark.parametrize(("axis", "count", "shape"), [(0, 2, (12, 5)), (1, 2, (3, 20)), (0, 3, (60,))])
def test_merge_is_exact(axis: int, count: int, shape: tuple[int, ...]) -> None:
    merged = axes.merge(K, axis, ARRAY.shape[axis : axis + count])
    np.testing.assert_allclose(merged, from_array(ARRAY.reshape(shape)).K, atol=1e-12)


def test_merge_with_axes_of_size_one() -> None:
    array = ARRAY[:, :1]
    np.testing.assert_allclose(axes.merge(from_array(array).K, 0, (3, 1)), from_array(array[:, 0]).K, atol=1e-12)
    single = from_array(ARRAY[:1, :1]).K
    merged = axes.merge(single, 0, (1, 1))
    np.testing.assert_array_equal(merged[0], merged[1])


def test_merge_of_no_axes_makes_one_of_size_one() -> None:
    np.testing.assert_allclose(axes.merge(K, 1, ()), from_array(ARRAY[:, None]).K, atol=1e-12)
    assert axes.merge(K, 1, (4,)) is K


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_split_differs_if_any_part_differs(parts: int) -> None:
    table = axes.split(K, 1, parts)
    assert table.shape == (2,) * (2 + parts)
    for bits in np.ndindex(*(2,) * parts):
        np.testing.assert_array_equal(table[(slice(None), *bits)], K[:, int(any(bits))])


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2, 2)])
def test_merge_undoes_split(sizes: tuple[int, ...]) -> None:
    table = exchangeable((4, 12, 5))
    np.testing.assert_allclose(axes.merge(axes.split(table, 1, len(sizes)), 1, sizes), table, atol=1e-12)
