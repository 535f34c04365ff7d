"""Weights drawn in NumPy have the distribution that the plan names."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from autoinit.core.drawing import centred_bias, covers, fill, row_sums
from autoinit.core.plan import ParameterPlan, PartPlan, Plan
from autoinit.core.plan_check import check_writes
from autoinit.errors import PlanError


def planned(shape, *parts, name="w"):
    return ParameterPlan(name, list(shape), "set", "", list(parts))


def whole(shape, kind, std, **more):
    strides = [int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    return PartPlan(list(shape), strides, 0, kind, std, **more)


def drawn(shape, kind="random", std=0.5, distribution="normal", seed=0, dtype=np.float32, **more):
    flat = np.full(int(np.prod(shape)), np.nan, dtype=dtype)
    fill(flat, planned(shape, whole(shape, kind, std, **more)), distribution, seed)
    return flat.reshape(shape)


KURTOSIS = {"normal": 3.0, "uniform": 1.8, "truncated_normal": 2.3651}
"""E x^4 / (E x^2)^2; of a unit normal cut at 2: (3 - 2 (8 + 3 * 2) phi(2) / Z) / std^4 with Z = 0.9545."""


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("distribution", sorted(KURTOSIS))
def test_moments(distribution, dtype):
    n = 2_000_000  # more than one chunk
    x = drawn((n,), distribution=distribution, dtype=dtype).astype(np.float64)
    assert abs(x.mean()) < 4 * 0.5 / sqrt(n)
    assert x.var() == pytest.approx(0.25, rel=4 * sqrt((KURTOSIS[distribution] - 1) / n))
    assert (x**4).mean() / x.var() ** 2 == pytest.approx(KURTOSIS[distribution], rel=0.01)
    neighbours = np.corrcoef(x[:-1], x[1:])[0, 1]
    assert abs(neighbours) < 4 / sqrt(n)


def test_bounds():
    assert np.abs(drawn((100_000,), distribution="uniform")).max() <= 0.5 * sqrt(3) * (1 + 1e-6)
    assert np.abs(drawn((100_000,), distribution="truncated_normal")).max() <= 2 * 0.5 / 0.8796 * 1.001


@pytest.mark.parametrize("shape", [(8, 20), (20, 8), (3, 3, 4, 6)])
def test_orthogonal(shape):
    rows = [len(shape) - 1]
    w = drawn(shape, "orthogonal", 0.3, rows=rows).astype(np.float64)
    flat = np.moveaxis(w, rows[0], 0).reshape(shape[rows[0]], -1)
    gram = flat @ flat.T if flat.shape[0] <= flat.shape[1] else flat.T @ flat
    np.testing.assert_allclose(gram, np.eye(len(gram)) * gram[0, 0], atol=1e-5)
    assert (w**2).mean() == pytest.approx(0.09, rel=1e-5)


def test_orthogonal_per_group():
    w = drawn((6, 4), "orthogonal", 1.0, rows=[0], groups=2).astype(np.float64)
    for part in (w[:3], w[3:]):
        np.testing.assert_allclose(part @ part.T, np.eye(3) * 4.0, atol=1e-5)


def test_a_part_is_filled_and_the_rest_stays():
    flat = np.zeros(12, dtype=np.float32)
    part = PartPlan([2, 3], [1, 4], 1, "constant", 7.0)  # columns 1 and 2 of a (3, 4) matrix, transposed
    plan = planned((3, 4), part)
    assert not covers(plan)
    fill(flat, plan, "normal", 0)
    expected = np.zeros((3, 4))
    expected[:, 1:3] = 7.0
    assert np.array_equal(flat.reshape(3, 4), expected)


def test_values_do_not_depend_on_how_a_part_lies():
    part = PartPlan([4, 3], [1, 4], 0, "random", 1.0)
    flat = np.zeros(12, dtype=np.float32)
    fill(flat, planned((3, 4), part), "normal", 5)
    assert np.array_equal(flat.reshape(3, 4).T, drawn((4, 3), std=1.0, seed=5))


def test_seeds():
    assert np.array_equal(drawn((9,), seed=1), drawn((9,), seed=1))
    assert not np.array_equal(drawn((9,), seed=1), drawn((9,), seed=2))


def test_centred_bias():
    weight = np.arange(6, dtype=np.float32)
    part = PartPlan([3], [1], 0, "centre", 0.0, rows=[0], of="w", of_shape=[3, 2], of_stride=[1, 3], of_offset=0,
                    value=0.5)  # fmt: skip
    assert np.allclose(centred_bias(weight, part), -0.5 * weight.reshape(2, 3).sum(axis=0))


def test_row_sums_of_a_grouped_transposed_convolution():
    w = np.random.default_rng(0).normal(size=(4, 2, 3))  # inputs (two groups of two), outputs per group, taps
    expected = np.concatenate([w[:2].sum(axis=(0, 2)), w[2:].sum(axis=(0, 2))])
    assert np.allclose(row_sums(w, [1], 2), expected)


@pytest.mark.parametrize(
    "part",
    [
        PartPlan([3], [1], 0, "nonsense", 1.0),
        PartPlan([3], [1], 0, "random", float("nan")),
        PartPlan([3], [1], 0, "random", -1.0),
        PartPlan([3], [1], 9, "random", 1.0),
        PartPlan([3], [-1], 4, "random", 1.0),
    ],
)
def test_bad_parts_are_refused(part):
    with pytest.raises(PlanError):
        check_writes(Plan("Net", "torch", 1.0, "normal", 0, True, [planned((10,), part)], [], []))
