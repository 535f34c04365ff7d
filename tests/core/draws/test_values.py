"""Weights have the distribution that the plan names, and any rectangle of them can be drawn alone."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from autoinit import Plan
from autoinit.core.drawing import Draw, centred_bias, slabs
from autoinit.core.drawing.regions import Region, together_cover
from autoinit.core.plan.check import check_writes
from autoinit.core.plan.plan import ParameterPlan, PartPlan
from autoinit.errors import PlanError


def planned(shape, *parts, name="w"):
    return ParameterPlan(name, list(shape), "set", "", list(parts))


def whole(shape, kind, std, **more):
    strides = [int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    return PartPlan(list(shape), strides, 0, kind, std, **more)


def drawn(shape, kind="random", std=0.5, distribution="normal", seed=0, dtype=np.float32, **more):
    made = np.full(shape, np.nan, dtype=dtype)
    Draw(planned(shape, whole(shape, kind, std, **more)), distribution, seed).into(made)
    return made


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
    made = np.zeros((3, 4), dtype=np.float32)
    draw = Draw(planned((3, 4), PartPlan([2, 3], [1, 4], 1, "constant", 7.0)), "normal", 0)  # columns 1 and 2
    assert not draw.covers
    draw.into(made)
    expected = np.zeros((3, 4))
    expected[:, 1:3] = 7.0
    assert np.array_equal(made, expected)


def test_values_do_not_depend_on_how_a_part_lies():
    made = np.zeros((3, 4), dtype=np.float32)
    Draw(planned((3, 4), PartPlan([4, 3], [1, 4], 0, "random", 1.0)), "normal", 5).into(made)
    assert np.array_equal(made, drawn((3, 4), std=1.0, seed=5))


def test_parts_only_scale_what_the_whole_parameter_would_hold():
    whole_one = drawn((6, 4), std=1.0)
    made = np.zeros((6, 4), dtype=np.float32)
    parts = [PartPlan([2, 4], [4, 1], 0, "random", 0.5), PartPlan([2, 2], [8, 2], 9, "random", 3.0)]
    Draw(planned((6, 4), *parts), "normal", 0).into(made)
    expected = np.zeros((6, 4), dtype=np.float32)
    expected[:2] = whole_one[:2] * np.float32(0.5)
    for row in (2, 4):
        expected[row, [1, 3]] = whole_one[row, [1, 3]] * np.float32(3.0)
    assert np.array_equal(made, expected)


CUTS = {
    "rows": ((300, 70, 33), [slice(17, 140), slice(None), slice(None)]),
    "columns": ((300, 70, 33), [slice(None), slice(None), slice(5, 9)]),
    "middle": ((300, 70, 33), [slice(None), slice(60, 70), slice(None)]),
    "a corner": ((300, 70, 33), [slice(299, 300), slice(0, 1), slice(32, 33)]),
    "narrow columns of wide rows": ((40, 8192), [slice(3, 30), slice(4000, 4064)]),
    "one column": ((5000, 300), [slice(None), slice(299, 300)]),
    "a vector": ((100_001,), [slice(99_990, 100_001)]),
    "more than one task": ((1200, 1000), [slice(100, 1100), slice(1, 1000)]),
    "nothing": ((7, 3), [slice(7, 7), slice(None)]),
}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("kind", ["truncated_normal", "normal", "uniform", "orthogonal", "constant"])
@pytest.mark.parametrize("cut", CUTS)
def test_any_rectangle_alone(cut, kind, exact):
    shape, slices = CUTS[cut]
    if kind == "orthogonal" and np.prod(shape) > 500_000:
        shape, slices = (130, 110), [slice(7, 99), slice(11, 12)]
    plan = planned(shape, whole(shape, kind, 0.3))
    everything = np.empty(shape, dtype=np.float32)
    Draw(plan, "normal", 7, exact).into(everything)
    low = [s.indices(n)[0] for s, n in zip(slices, shape, strict=True)]
    wanted = everything[tuple(slices)]
    made = np.full(wanted.shape, np.nan, dtype=np.float32)
    Draw(plan, "normal", 7, exact).into(made, low)
    assert np.array_equal(made, wanted)


PARTS = [
    PartPlan([40, 30], [60, 1], 0, "random", 0.1),  # a box
    PartPlan([40, 15], [60, 2], 30, "random", 0.2),  # every other column of the right half
    PartPlan([20, 15], [120, 2], 31, "orthogonal", 0.3, rows=[0]),  # a grid
]


@pytest.mark.parametrize("exact", [False, True])
def test_rectangles_of_a_parameter_of_many_parts(exact):
    plan = planned((40, 60), *PARTS)
    everything = np.full((40, 60), np.nan, dtype=np.float32)
    Draw(plan, "truncated_normal", 3, exact).into(everything)
    assert np.isnan(everything).sum() == 20 * 15
    rng = np.random.default_rng(0)
    for _ in range(60):
        low = [int(rng.integers(0, n)) for n in (40, 60)]
        high = [int(rng.integers(a + 1, n + 1)) for a, n in zip(low, (40, 60), strict=True)]
        made = np.full([b - a for a, b in zip(low, high, strict=True)], np.nan, dtype=np.float32)
        Draw(plan, "truncated_normal", 3, exact).into(made, low)
        assert np.array_equal(made, everything[low[0] : high[0], low[1] : high[1]], equal_nan=True)


def test_exact_parts():
    plan = planned((40, 60), *PARTS)
    made = np.zeros((40, 60), dtype=np.float32)
    Draw(plan, "truncated_normal", 3, True).into(made)
    for region, std in ((made[:, :30], 0.1), (made[:, 30::2], 0.2)):
        assert region.astype(float).mean() == pytest.approx(0.0, abs=1e-8)
        assert np.sqrt(np.square(region, dtype=float).mean()) == pytest.approx(std, rel=1e-6)


def test_a_strided_part_is_orthogonal():
    made = np.zeros((40, 60), dtype=np.float32)
    Draw(planned((40, 60), PARTS[2]), "normal", 0).into(made)
    block = made[::2, 31::2].astype(float)
    gram = block.T @ block
    np.testing.assert_allclose(gram, np.eye(15) * gram[0, 0], atol=1e-5)
    assert np.square(block).mean() == pytest.approx(0.09, rel=1e-5)
    assert not made[1::2].any() and not made[:, ::2].any()


def test_complex_numbers_are_pairs():
    made = np.empty((400, 300, 2), dtype=np.float32)
    Draw(planned((400, 300), whole((400, 300), "random", 0.5)), "normal", 0, pairs=True).into(made)
    z = made.view(np.complex64)[..., 0]
    assert np.mean(np.abs(z) ** 2) == pytest.approx(0.25, rel=0.02)
    assert abs(np.mean(z**2)) < 0.005
    Draw(planned((8, 5), whole((8, 5), "orthogonal", 0.5)), "normal", 0, pairs=True).into(made[:8, :5])
    q = np.ascontiguousarray(made[:8, :5]).view(np.complex64)[..., 0].astype(complex)
    np.testing.assert_allclose(q.conj().T @ q, np.eye(5) * 2.0, atol=1e-5)


def test_no_number_of_threads_changes_a_bit(monkeypatch):
    made = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        made.append(drawn((1100, 1000), distribution="truncated_normal"))
    assert np.array_equal(made[0], made[1]) and np.array_equal(made[0], made[2])


def test_slabs_make_up_the_array():
    for shape in ((), (5,), (3, 4), (2, 3000, 1000), (3, 2_000_000), (1, 1, 7)):
        seen = np.zeros(shape, dtype=np.int8)
        for low, size in slabs(shape):
            seen[tuple(slice(a, a + n) for a, n in zip(low, size, strict=True))] += 1
            assert np.prod(size) <= 2**20
        assert (seen == 1).all()


def test_seeds():
    assert np.array_equal(drawn((9,), seed=1), drawn((9,), seed=1))
    assert not np.array_equal(drawn((9,), seed=1), drawn((9,), seed=2))


def test_centred_bias():
    weight = np.arange(6, dtype=np.float32)
    part = PartPlan([3], [1], 0, "centre", 0.0, rows=[0], of="w", of_shape=[3, 2], of_stride=[1, 3], of_offset=0,
                    value=0.5)  # fmt: skip
    assert np.allclose(centred_bias(part, [6], [([0], weight)]), -0.5 * weight.reshape(2, 3).sum(axis=0))
    pieces = [([4], weight[4:]), ([0], weight[:4])]
    assert np.allclose(centred_bias(part, [6], pieces), -0.5 * weight.reshape(2, 3).sum(axis=0))


def test_centred_bias_of_a_grouped_transposed_convolution():
    w = np.random.default_rng(0).normal(size=(4, 2, 3))  # inputs (two groups of two), outputs per group, taps
    expected = np.concatenate([w[:2].sum(axis=(0, 2)), w[2:].sum(axis=(0, 2))])
    part = PartPlan([4], [1], 0, "centre", 0.0, rows=[1], groups=2, of="w", of_shape=[4, 2, 3], of_stride=[6, 3, 1],
                    value=-1.0)  # fmt: skip
    assert np.allclose(centred_bias(part, [4, 2, 3], [([0, 0, 0], w)]), expected)


def test_regions():
    region = Region.of((40, 60), [20, 15], [120, 2], 31)
    assert region.box() is None and not region.covers
    places = np.arange(2400)
    assert np.array_equal(np.flatnonzero(region.holds(places)), np.sort((np.arange(20)[:, None] * 120 + 31
                                                                         + 2 * np.arange(15)).ravel()))  # fmt: skip
    assert region.number(np.array([31, 33, 151])).tolist() == [0, 1, 15]


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


def test_parts_cover_a_parameter_together() -> None:
    """Layers of a stack, as boxes; heads with queries, keys and values in turn, as strided regions."""
    whole = (6, 4, 5)
    stack = [Region(whole, (4, 5), (5, 1), 20 * k) for k in range(6)]
    assert together_cover(stack) and together_cover(stack[::-1])
    assert not together_cover(stack[:5]) and not together_cover([*stack[:5], stack[0]]) and not together_cover([])
    turns = [Region((8, 30), (8, 2, 5), (30, 15, 1), 5 * k) for k in range(3)]
    assert together_cover(turns) and not together_cover([turns[0], turns[1], turns[1]])
