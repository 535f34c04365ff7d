"""Concatenation, padding, masks and writes against torch.

Exact for exchangeable inputs unless a test states a model error; otherwise five standard errors of the sample mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import autoinit
import autoinit.rules.merge
import autoinit.rules.shape
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.graph.graph import Node, Value
from autoinit.core.signal.broadcast import aligned
from autoinit.core.signal.measured import from_array
from autoinit.core.signal.signal import Signal, iid
from autoinit.rules.registry import RULES

from .harness import FakeContext, check, compare, components, measure, predict

A = components((4, 6, 5), 1.0, {(0, 1, 2): 0.5, (0, 1): 0.4, (0,): 0.3})
B = components((4, 3, 5), -0.5, {(0, 1, 2): 2.0, (1, 2): 0.4})
C = components((4, 6, 5), 0.0, {(0, 1, 2): 1.0, (2,): 0.5})
WHITE = iid((4, 6, 5))


def function(name: str, x: Signal, *params: float) -> Signal:
    return Signal.function(x.source, apply(name, x.expr, params=params))


# --- concat, stack --------------------------------------------------------------------------------


def test_concat_of_independent_parts() -> None:
    check("concat", [A, B], lambda a, b: torch.cat([a, b], 1), repeats=400, axis=1)
    check("concat", [A, B, C], lambda *ts: torch.cat(ts, 1), repeats=400, axis=1)


def test_stack_of_independent_parts() -> None:
    for axis in (0, 1, 3):
        check("stack", [A, C], lambda a, c, axis=axis: torch.stack([a, c], axis), repeats=400, axis=axis)


def test_concat_of_functions_of_independent_parts_stays_one_function() -> None:
    a, b = function("relu", A), function("relu", B)
    y = check("concat", [a, b], lambda s, t: torch.cat([s, t], 1), repeats=600, axis=1)
    assert y.expr is a.expr


def test_concat_of_functions_of_parts_of_one_tensor() -> None:
    """relu on the halves of a tensor, put together again: relu of the tensor, to the last digit."""
    halves = predict("split", [A], [(4, 3, 5), (4, 3, 5)], axis=1, sizes=(3, 3))
    y = predict("concat", [function("relu", h) for h in halves], [A.shape], axis=1)
    np.testing.assert_allclose(y.K, function("relu", A).K, rtol=1e-9)


def concatenated(parts: list[Signal], run: Any, axis: int = 1, model_error: float = 0.0, source: Signal = A) -> None:
    """Parts that come from one source: `run` makes all of it from a sample of the source."""
    measured = measure([source], run, 600)[0]
    shape = list(parts[0].shape)
    shape[axis] = sum(p.shape[axis] for p in parts)
    compare(predict("concat", parts, [shape], axis=axis), measured, model_error=model_error)


def test_concat_with_itself() -> None:
    concatenated([A, A], lambda t: torch.cat([t, t], 1))
    concatenated([A, A.scaled(-1.0)], lambda t: torch.cat([t, -t], 1))


def test_concatenated_relu() -> None:
    """CReLU: relu(x) and relu(-x)."""
    minus = Signal.function(A, apply("relu", apply("neg", X)))
    concatenated([function("relu", A), minus], lambda t: torch.cat([t.relu(), (-t).relu()], 1))


def test_split_and_concat_is_the_tensor_itself() -> None:
    parts = predict("split", [A], [(4, 2, 5), (4, 4, 5)], axis=1, sizes=(2, 4))
    y = predict("concat", list(parts), [(4, 6, 5)], axis=1)
    np.testing.assert_allclose(y.K, A.K, rtol=1e-12)


# --- pad ------------------------------------------------------------------------------------------

PADS = [((0, 0), (1, 2), (0, 0)), ((0, 0), (2, 2), (2, 2)), ((0, 0), (0, 0), (4, 0))]


def flat(pads: Any) -> list[int]:
    return [n for pair in reversed(pads) for n in pair]


@pytest.mark.parametrize("x", [A, C])
@pytest.mark.parametrize("pads", PADS)
@pytest.mark.parametrize("value", [0.0, 1.5])
def test_constant_padding(x: Signal, pads: Any, value: float) -> None:
    run = lambda t: F.pad(t, flat(pads), value=value)  # noqa: E731
    y = check("pad", [x], run, repeats=300, pads=pads, mode="constant", value=value)
    if value == 0.0:
        dead = np.pad(np.ones(x.shape[2]), pads[2]) == 0
        assert y.profiles[2] is None or not y.profiles[2][dead].any()


@pytest.mark.parametrize("pads", [((0, 0), (-1, -2), (0, 0)), ((0, 0), (2, -1), (-1, 3)), ((0, 0), (-1, 1), (0, 0))])
def test_negative_padding(pads: Any) -> None:
    check("pad", [A], lambda t: F.pad(t, flat(pads)), repeats=300, pads=pads, mode="constant", value=0.0)


@pytest.mark.parametrize("x", [A, C])
@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("pads", [((0, 0), (0, 0), (1, 2)), ((0, 0), (0, 0), (4, 4)), ((0, 0), (0, 0), (3, 0))])
def test_padding_by_copies(x: Signal, mode: str, pads: Any) -> None:
    """Two places show the same entry as often as the copies say."""
    run = lambda t: F.pad(t, flat(pads)[:2], mode=mode)  # noqa: E731
    check("pad", [x], run, repeats=200, pads=pads, mode=mode, value=0.0)


def test_padding_by_copies_keeps_the_function() -> None:
    y = check("pad", [function("relu", C)], lambda t: F.pad(t, [2, 2], mode="replicate"), repeats=300,
              pads=((0, 0), (0, 0), (2, 2)), mode="replicate", value=0.0)  # fmt: skip
    assert y.expr is function("relu", C).expr


def test_zero_padding_of_a_mean() -> None:
    """ZeroPadding 2 on 4x4, N(2, 1): a quarter is live, so the variance is 1/4 + (1/4)(3/4) 4 = 1."""
    y = predict("pad", [iid((8, 3, 4, 4), 2.0, 1.0)], [(8, 3, 8, 8)], pads=((0, 0), (0, 0), (2, 2), (2, 2)),
                mode="constant", value=0.0)  # fmt: skip
    assert y.mean == pytest.approx(0.5) and y.variance == pytest.approx(1.0)


def test_copied_profile() -> None:
    """Circular padding of a rim of 0.4 and a middle of 1.6: power follows the copies."""
    p = np.array([0.4, 0.4, 1.6, 1.6, 1.0])
    x = Signal((4, 6, 5), 0.0, iid((4, 6, 5)).K, profiles=(None, None, p))
    y = check("pad", [x], lambda t: F.pad(t, [2, 1], mode="circular"), repeats=600, pads=((0, 0), (0, 0), (2, 1)),
              mode="circular", value=0.0)  # fmt: skip
    wrapped = np.pad(p, (2, 1), mode="wrap")
    np.testing.assert_allclose(y.profiles[2], wrapped / wrapped.mean())
    assert y.second == pytest.approx(wrapped.mean())


# --- masks ----------------------------------------------------------------------------------------


def masked(x: Signal, mask: np.ndarray, value: float) -> Signal:
    inputs = (Value(0, x.shape), Value(1, mask.shape))
    node = Node("masked_fill", inputs, (Value(2, x.shape),), {"value": value})
    return RULES["masked_fill"](node, FakeContext({1: mask}), x, from_array(mask.astype(float)))


MASKS = [
    np.random.default_rng(0).random((4, 6, 5)) < 0.3,
    np.arange(6)[:, None] >= np.array([[4]]),
    np.random.default_rng(1).random((4, 1, 1)) < 0.5,
]


@pytest.mark.parametrize("x", [A, C])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_masked_fill(x: Signal, mask: np.ndarray, value: float) -> None:
    """A known mask, of any structure, is exact: the mixture uses how often both entries are filled."""
    measured = measure([x], lambda t: t.masked_fill(torch.from_numpy(mask), value), 300)[0]
    compare(masked(x, mask, value), measured)


def test_masked_fill_by_a_condition_on_itself() -> None:
    """x.masked_fill(x < 0, 0) is relu(x)."""
    condition = Signal.function(A, apply("lt", X, 0.0))
    y = predict("masked_fill", [A, condition], [A.shape], value=0.0)
    relu = function("relu", A)
    assert y.mean == pytest.approx(relu.mean, rel=1e-6)
    np.testing.assert_allclose(y.K, relu.K, rtol=1e-4)


def test_minus_infinity_marks_dead_entries() -> None:
    mask = np.triu(np.ones((6, 5), bool), 1)
    y = masked(A, mask, float("-inf"))
    np.testing.assert_array_equal(y.live, ~mask)
    np.testing.assert_array_equal(y.K, A.K)
    again = masked(y, np.zeros((6, 5), bool), -1e9)
    np.testing.assert_array_equal(again.live, ~mask)


@pytest.mark.parametrize("mask", MASKS)
def test_where(mask: np.ndarray) -> None:
    condition = aligned(from_array(mask.astype(float)), A.shape)
    measured = measure([A, C], lambda a, c: torch.where(torch.from_numpy(mask), a, c), 300)[0]
    compare(predict("where", [condition, A, C], [A.shape]), measured)


def test_where_of_dependent_branches() -> None:
    """Branches that are functions of one tensor: their cross moment counts."""
    mask = MASKS[0]
    condition = from_array(mask.astype(float))
    measured = measure([A], lambda a: torch.where(torch.from_numpy(mask), a, a.relu() + 1), 400)[0]
    other = Signal.function(A, apply("add", apply("relu", X), 1.0))
    compare(predict("where", [condition, A, other], [A.shape]), measured)


@pytest.mark.parametrize("x", [A, C])
@pytest.mark.parametrize("diagonal", [-1, 0, 2])
def test_triangles(x: Signal, diagonal: int) -> None:
    check("triangle", [x], lambda t: t.tril(diagonal), repeats=300, lower=True, diagonal=diagonal)
    check("triangle", [x], lambda t: t.triu(diagonal), repeats=300, lower=False, diagonal=diagonal)


# --- write ----------------------------------------------------------------------------------------


def test_write_at_scattered_places() -> None:
    """Random places: pairs of entries are both old, both new or mixed as if drawn independently (1 %: they are drawn
    without replacement from 120)."""
    update = components((4, 6, 5), -2.0, {(0, 1, 2): 0.5})

    def run(base: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        chosen = torch.rand(base.shape).flatten().argsort()[:40]
        out = base.clone().flatten()
        out[chosen] = new.flatten()[:40]
        return out.reshape(base.shape)

    check("write", [A, update], run, repeats=800, fraction=1 / 3, model_error=0.01)


def test_write_everywhere_is_the_update() -> None:
    assert predict("write", [A, C], [A.shape], fraction=1.0) is C


def test_write_of_a_scalar() -> None:
    """Second moment and mean are exact wherever the places are; correlations assume scattered ones."""
    y = predict("write", [A, Signal((), 3.0, np.array(9.0))], [A.shape], fraction=0.5)
    assert y.mean == pytest.approx((A.mean + 3) / 2) and y.second == pytest.approx((A.second + 9) / 2)


def test_padding_with_minus_infinity_leaves_the_entries() -> None:
    """'Same' max pooling pads with -inf: what lies inside keeps its law, and nothing becomes infinite or NaN."""
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3), MinusInfinity(), torch.nn.MaxPool2d(2), torch.nn.Flatten())
    model.append(torch.nn.Linear(32 * 16, 64))
    plan = autoinit.initialize(model, (32, 3, 9, 9))
    assert all(np.isfinite(t.second) for t in plan.tensors)
    ratio = np.mean([r.variance for k in range(4) for r in _last(plan, model, k)])
    # 64 outputs of 32 samples: the standard error of a variance over 4 draws is about sqrt(2 / 256) = 0.09; borders of
    # 8 x 8 maps padded by one see two live entries instead of four, a model error of 15 %.
    assert abs(ratio - 1.0) < 0.45


class MinusInfinity(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.pad(x, (0, 1, 0, 1), value=float("-inf"))


def _last(plan: autoinit.Plan, model: torch.nn.Module, seed: int) -> list[Any]:
    plan.apply(model, seed=seed)
    return autoinit.measure(model, (32, 3, 9, 9), seed=seed).weight_layers[-1:]


def test_empty_axes_do_not_stop_a_plan() -> None:
    """A slice of length zero has no entries; the plan goes on."""

    class Prefix(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.dense = torch.nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.dense(torch.cat([x[:, :0], x], dim=1))

    plan = autoinit.plan(Prefix(), (4, 5, 8))
    assert plan["dense.weight"].std == pytest.approx(8**-0.5)
