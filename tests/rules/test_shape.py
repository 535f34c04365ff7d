"""Reshape, permute, slices, gathers and copies against torch. Entries only move: every rule here is exact.

Tolerances are five standard errors of the sample mean unless a test says more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import autoinit.rules.merge
import autoinit.rules.shape  # noqa: F401
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.measured import from_array
from autoinit.core.signal.signal import Signal, iid
from autoinit.frontends.torch.lowering.chance import equal_chance
from autoinit.rules.shape import permuted, reshaped

from .harness import check, compare, components, measure, predict

INPUTS = [
    components((4, 6, 5), 0.0, {(0, 1, 2): 1.0}),
    components((4, 6, 5), 1.0, {(0, 1, 2): 0.5, (0, 1): 0.4, (0,): 0.3, (2,): 0.2}),
    components((4, 6, 5), -2.0, {(0, 1, 2): 0.2, (1, 2): 1.0, (0, 2): 0.5}),
]


def relu(x: Signal) -> Signal:
    return Signal.function(x, apply("relu", X))


# --- reshape --------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", INPUTS)
@pytest.mark.parametrize(
    "shape",
    [(24, 5), (4, 30), (120,), (4, 2, 3, 5), (2, 2, 6, 5), (4, 1, 6, 5, 1), (8, 3, 5), (8, 15), (2, 60), (12, 10)],
)  # fmt: skip
def test_reshape(x: Signal, shape: tuple[int, ...]) -> None:
    check("reshape", [x], lambda t: t.reshape(shape), repeats=150)


@pytest.mark.parametrize("x", INPUTS[1:])
def test_reshape_of_a_function(x: Signal) -> None:
    """The move goes to the source, the function is kept: the same moments as those of the moved relu(x)."""
    y = check("reshape", [relu(x)], lambda t: t.reshape(8, 15), repeats=150)
    assert y.source is not y and y.expr is relu(x).expr


def test_reshape_where_boundaries_do_not_divide() -> None:
    """(4, 6) -> (3, 8): no common refinement; all pairs are mixed, which keeps the average over all of them."""
    x = components((4, 6), 1.0, {(0, 1): 0.5, (0,): 0.5})
    y = predict("reshape", [x], [(3, 8)])
    assert y.second == x.second and y.mean == x.mean
    assert y.tensor_variance() == pytest.approx(x.tensor_variance(), rel=1e-12)


ROUND_TRIPS = [
    ((4, 256), (16, 64), (1, 0)),
    ((4, 256), (4, 4, 64), (0, 2, 1)),
    ((2, 12, 8), (2, 12, 2, 4), (0, 2, 1, 3)),
    ((2, 3, 4, 4), (2, 3, 16), (0, 2, 1)),
    ((2, 4, 6, 5), (8, 6, 5), (2, 1, 0)),
    ((6, 10), (3, 20), (1, 0)),
]


@pytest.mark.parametrize(("shape", "middle", "perm"), ROUND_TRIPS)
@pytest.mark.parametrize("rectified", [False, True])
@pytest.mark.parametrize("asked", [False, True])
def test_round_trip_is_exact(shape: Any, middle: Any, perm: Any, rectified: bool, asked: bool) -> None:
    """There, through a permutation, and back again: every moment is the old one, asked for on the way or not."""
    parts = {tuple(range(len(shape))): 0.5, (0,): 0.4, (len(shape) - 1,): 0.3, (0, 1): 0.2}
    x = components(shape, 0.5, parts)
    x = relu(x) if rectified else x
    y = reshaped(x, middle)
    if asked:
        assert np.isfinite(x.K).all() and np.isfinite(y.K).all()
    back = reshaped(permuted(permuted(y, perm), np.argsort(perm).tolist()), shape)
    np.testing.assert_allclose(back.K, x.K, rtol=1e-9)
    assert back.mean == pytest.approx(x.mean)


@pytest.mark.parametrize("rectified", [False, True])
def test_window_partition(rectified: bool) -> None:
    """(N, H, W, C) into windows of 2x2 tokens, as in Swin: mixed splits and merges around a permutation."""
    x = components((2, 4, 6, 3), 0.5, {(0, 1, 2, 3): 0.5, (0, 3): 0.3, (0, 1, 3): 0.2})
    x = relu(x) if rectified else x
    assert np.isfinite(x.K).all()
    y = reshaped(permuted(reshaped(x, (2, 2, 2, 3, 2, 3)), (0, 1, 3, 2, 4, 5)), (12, 4, 3))
    run = lambda t: t.reshape(2, 2, 2, 3, 2, 3).permute(0, 1, 3, 2, 4, 5).reshape(12, 4, 3)  # noqa: E731
    compare(y, measure([x], run, 400)[0])
    back = reshaped(permuted(reshaped(y, (2, 2, 3, 2, 2, 3)), (0, 1, 3, 2, 4, 5)), (2, 4, 6, 3))
    np.testing.assert_allclose(back.K, x.K, rtol=1e-9)


def test_profiles_survive_flattening_and_back() -> None:
    rows, columns = np.array([0.5, 1.0, 1.5, 1.0]), np.array([0.8, 1.2, 1.0])
    x = Signal((2, 3, 4, 3), 0.0, iid((2, 3, 4, 3)).K, profiles=(None, None, rows, columns))
    flat = reshaped(x, (2, 3, 12))
    np.testing.assert_allclose(flat.profiles[2], np.outer(rows, columns).ravel())
    back = reshaped(permuted(permuted(flat, (0, 2, 1)), (0, 2, 1)), (2, 3, 4, 3))
    np.testing.assert_allclose(back.profiles[2], rows)
    np.testing.assert_allclose(back.profiles[3], columns)


# --- permute, slices ------------------------------------------------------------------------------


@pytest.mark.parametrize("x", INPUTS)
@pytest.mark.parametrize("perm", [(2, 0, 1), (0, 2, 1), (2, 1, 0)])
def test_permute(x: Signal, perm: tuple[int, ...]) -> None:
    y = check("permute", [x], lambda t: t.permute(perm), repeats=60, perm=perm)
    back = predict("permute", [y], [x.shape], perm=tuple(np.argsort(perm).tolist()))
    np.testing.assert_array_equal(back.K, x.K)


@pytest.mark.parametrize("x", INPUTS)
@pytest.mark.parametrize(("start", "stop", "step"), [(0, 3, 1), (1, 6, 2), (5, 6, 1)])
def test_slice(x: Signal, start: int, stop: int, step: int) -> None:
    run = lambda t: t[:, start:stop:step]  # noqa: E731
    check("slice", [x], run, repeats=200, axis=1, start=start, stop=stop, step=step)


@pytest.mark.parametrize("x", INPUTS)
def test_select_split_unbind(x: Signal) -> None:
    check("select", [x], lambda t: t[:, 3], repeats=200, axis=1, index=3)
    check("split", [x], lambda t: t.split([1, 2, 3], dim=1), repeats=200, axis=1, sizes=(1, 2, 3))
    check("unbind", [x], lambda t: t.unbind(2), repeats=200, axis=2)


def test_slice_of_a_profile() -> None:
    """Places differ in power: the part has the power of its places. A half of 0.4 and one of 1.6."""
    p = np.array([0.4, 0.4, 0.4, 1.6, 1.6, 1.6])
    x = Signal((4, 6, 5), 0.0, iid((4, 6, 5)).K, profiles=(None, p, None))
    low = check("slice", [x], lambda t: t[:, :3], repeats=400, axis=1, start=0, stop=3, step=1)
    assert low.second == pytest.approx(0.4) and low.profiles[1] is None
    mixed = check("slice", [x], lambda t: t[:, 2:4], repeats=400, axis=1, start=2, stop=4, step=1)
    np.testing.assert_allclose(mixed.profiles[1], [0.4, 1.6])


# --- gather, copies -------------------------------------------------------------------------------


@pytest.mark.parametrize("x", INPUTS)
@pytest.mark.parametrize("indices", [[0, 0, 1, 5], [3, 3, 3], [5, 4, 3, 2, 1, 0], [[0, 1], [1, 0]], [[2, 2], [4, 5]]])
def test_gather_with_known_indices(x: Signal, indices: Any) -> None:
    """index_select and x[:, indices] with indices of any rank: repeats are counted."""
    known = torch.tensor(indices)
    run = lambda t: t[:, known]  # noqa: E731
    check("gather", [x], run, extra=[None], repeats=400, axis=1, chance=equal_chance(known))


@pytest.mark.parametrize("x", INPUTS)
@pytest.mark.parametrize("shape", [(7,), (3, 4)])
def test_gather_with_random_indices(x: Signal, shape: tuple[int, ...]) -> None:
    """Two uniform draws from n rows coincide with chance 1/n."""
    check("gather", [x], lambda t: t[:, torch.randint(6, shape)], extra=[None], repeats=800, axis=1)


def test_gather_of_one_row() -> None:
    x = INPUTS[1]
    check("gather", [x], lambda t: t[:, torch.tensor(2)], extra=[None], repeats=400, axis=1)


@pytest.mark.parametrize("x", INPUTS)
@pytest.mark.parametrize("repeats", [(1, 3, 1), (2, 1, 2), (3, 1, 1, 1), (2, 1, 2, 1)])
def test_repeat(x: Signal, repeats: tuple[int, ...]) -> None:
    check("repeat", [x], lambda t: t.repeat(repeats), repeats=150)


@pytest.mark.parametrize("x", INPUTS)
def test_repeat_interleave(x: Signal) -> None:
    check("repeat", [x], lambda t: t.repeat_interleave(3, dim=1), repeats=150)


@pytest.mark.parametrize("shape", [(4, 6, 5), (3, 4, 6, 5)])
def test_expand(shape: tuple[int, ...]) -> None:
    x = components((4, 1, 5), 1.0, {(0, 1, 2): 0.5, (0,): 0.5})
    y = check("expand", [x], lambda t: t.expand(shape), repeats=300)
    assert y.correlation(len(shape) - 2) == pytest.approx(1.0)


@pytest.mark.parametrize("x", INPUTS)
def test_roll_and_flip(x: Signal) -> None:
    check("shuffle", [x], lambda t: t.roll(2, 1), repeats=60)
    check("shuffle", [x], lambda t: t.flip(0, 2), repeats=60)


@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (2, 0)])
def test_diagonal(axes: tuple[int, int]) -> None:
    x = components((5, 5, 5), 1.0, {(0, 1, 2): 0.5, (0, 1): 0.4, (2,): 0.3})
    run = lambda t: t.diagonal(dim1=axes[0], dim2=axes[1])  # noqa: E731
    check("diagonal", [x], run, repeats=600, axis1=axes[0], axis2=axes[1])


@pytest.mark.parametrize("x", INPUTS)
@pytest.mark.parametrize(("size", "step"), [(2, 2), (3, 1), (3, 2), (6, 1), (1, 2)])
def test_unfold(x: Signal, size: int, step: int) -> None:
    """Overlapping windows show the same entry at different places."""
    check("unfold", [x], lambda t: t.unfold(1, size, step), repeats=300, axis=1, size=size, step=step)


def test_moves_are_remembered() -> None:
    """The same move of the same tensor is the same signal, so that x[..., 0] - x[..., 0] knows itself."""
    x = INPUTS[1]
    assert predict("slice", [x], [(4, 2, 5)], axis=1, start=0, stop=2, step=1) is predict(
        "slice", [x], [(4, 2, 5)], axis=1, start=0, stop=2, step=1
    )
    assert permuted(x, (2, 1, 0)) is permuted(x, (2, 1, 0))


def test_constant_arrays_move_exactly() -> None:
    """An array's moments after a permutation are those of the permuted array."""
    array = np.random.default_rng(0).normal(1.0, 2.0, (3, 4, 5))
    y = permuted(from_array(array), (1, 2, 0))
    np.testing.assert_allclose(y.K, from_array(array.transpose(1, 2, 0)).K, atol=1e-12)


def test_known_rows_of_unlike_size() -> None:
    """Of rows 0, 0, 1, 1, 1, 1 (a padded border) four are picked, one of the border: E[y^2] = 3/4, and so per place."""
    x = predict("pad", [iid((4, 3))], [(6, 3)], pads=((2, 0), (0, 0)))
    made = predict("gather", [x, None], [(4, 3)], arrays={1: np.array([0, 3, 4, -1])}, axis=0)
    assert made.second == pytest.approx(0.75)
    np.testing.assert_allclose(made.profiles[0] * made.second, [0.0, 1.0, 1.0, 1.0])
