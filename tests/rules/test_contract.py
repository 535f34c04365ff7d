"""Dense, bilinear, einsum, matmul and embedding against torch.

Operands are exchangeable and independent, and for these the rules are exact: with weights that are drawn anew (the
average over weights and data is compared) and with given arrays (the average over data). So every tolerance is
five standard errors of the sample mean, as the harness measures them, and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import autoinit.rules.contract  # noqa: F401
from autoinit.core.signal.measured import from_array
from autoinit.core.signal.signal import Signal, iid
from autoinit.frontends.torch.lowering.chance import equal_chance

from .harness import compare, components, measure
from .weighted import check_fresh, check_kept, predicted

INPUTS = [
    iid((4, 5, 6), 0.0, 1.0),
    components((4, 5, 6), 1.5, {(0, 1, 2): 0.5, (0, 1): 0.4, (0,): 0.3}),
    components((4, 5, 6), -0.7, {(0, 1, 2): 2.0, (1, 2): 1.0, (2,): 0.5, (1,): 0.2}),
]


def array(*shape: int, mean: float = 0.0, std: float = 1.0, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(mean, std, shape)


# --- linear ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", INPUTS)
def test_linear_with_fresh_weights(x: Signal) -> None:
    """m' = 0 and K'(S) = n s^2 K(S); nothing is shared between output features."""
    w = iid((7, 6), 0.0, 0.4)
    y = check_fresh("linear", [x, w], 1, F.linear, repeats=400)
    assert y.mean == 0.0
    np.testing.assert_allclose(y.K[..., 0], 6 * 0.4 * x.K[..., 0])
    assert not y.K[..., 1].any()


@pytest.mark.parametrize("x", INPUTS)
def test_linear_with_weights_that_have_a_mean(x: Signal) -> None:
    w = components((7, 6), 0.3, {(0, 1): 0.5, (0,): 0.2, (1,): 0.1})
    check_fresh("linear", [x, w], 1, F.linear, repeats=400)


@pytest.mark.parametrize("x", INPUTS)
@pytest.mark.parametrize("mean", [0.0, 0.5])
def test_linear_with_kept_weight(x: Signal, mean: float) -> None:
    w = array(7, 6, mean=mean)
    check_kept("linear", [x], {1: w}, lambda t: F.linear(t, torch.from_numpy(w)), repeats=300)


@pytest.mark.parametrize("x", INPUTS)
def test_linear_with_kept_weight_and_bias(x: Signal) -> None:
    """The bias is far from independent of the row sums of the weight that it goes with."""
    w = array(7, 6, mean=0.2)
    b = 1.0 - 2.0 * w.sum(axis=1)
    run = lambda t: F.linear(t, torch.from_numpy(w), torch.from_numpy(b))  # noqa: E731
    check_kept("linear", [x], {1: w, 2: b}, run, repeats=300)


def test_linear_of_a_vector() -> None:
    x = components((6,), 1.0, {(0,): 1.0, (): 0.5})
    check_fresh("linear", [x, iid((7, 6), 0.0, 0.4)], 1, F.linear, repeats=1500)


def test_bias_along_the_output_features() -> None:
    x, w, b = INPUTS[1], iid((7, 6), 0.0, 0.4), components((7,), 1.0, {(0,): 0.5})
    check_fresh("linear", [x, w, b], 1, F.linear, repeats=400)


# --- bilinear -------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", INPUTS[:2])
def test_bilinear(x: Signal) -> None:
    other = components((4, 5, 3), 0.5, {(0, 1, 2): 0.5, (0, 2): 0.4})
    w = iid((4, 6, 3), 0.0, 0.2)
    check_fresh("bilinear", [x, other, w], 2, F.bilinear, repeats=400)
    kept = array(4, 6, 3, mean=0.3)
    run = lambda a, b: F.bilinear(a, b, torch.from_numpy(kept))  # noqa: E731
    check_kept("bilinear", [x, other], {2: kept}, run, weight=2, repeats=400)


# --- einsum ---------------------------------------------------------------------------------------

SIZES = {"b": 3, "t": 4, "s": 5, "h": 2, "d": 3, "e": 4}
EQUATIONS = [
    "btd,de->bte",
    "bthd,bshd->bhts",
    "bhts,bshd->bthd",
    "td,te->tde",
    "btd,b->td",
    "btd,btd->",
    "dd,de->e",
    "bt,hd->dhtb",
    "bd,de,e->b",
    "btd,hde,bth->be",
    "bd,bd,bd->bd",
    "bt,td,de,eh->bh",
]


def operands(names: str) -> list[Signal]:
    """Operands of the equation with different means and with correlation along their first axis."""
    made = []
    for k, labels in enumerate(names.split(",")):
        every = tuple(range(len(labels)))
        parts = {every: 0.6}
        parts[every[1:]] = parts.get(every[1:], 0.0) + 0.3
        made.append(components([SIZES[c] for c in labels], 0.5 * k - 0.3, parts))
    return made


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum_of_signals(equation: str) -> None:
    signals = operands(equation.split("->")[0])
    run = lambda *ts: torch.einsum(equation, *ts)  # noqa: E731
    check_fresh("einsum", signals, None, run, repeats=500, equation=equation)


@pytest.mark.parametrize("equation", ["btd->dbt", "btd->b", "btd->", "tt->t", "tt->", "btt->bt"])
def test_einsum_of_one_operand(equation: str) -> None:
    signals = operands(equation.split("->")[0])
    check_fresh("einsum", signals, None, lambda t: torch.einsum(equation, t), repeats=400, equation=equation)


@pytest.mark.parametrize("slot", [0, 1])
def test_einsum_with_a_weight_on_either_side(slot: int) -> None:
    equation = ("de,btd->bte", "btd,de->bte")[slot]
    signals = operands(equation.split("->")[0])
    signals[slot] = iid((3, 4), 0.0, 0.5)
    run = lambda *ts: torch.einsum(equation, *ts)  # noqa: E731
    check_fresh("einsum", signals, slot, run, repeats=400, equation=equation, weights=(slot,))


@pytest.mark.parametrize("shapes", [((3, 4, 5), (1, 5, 2)), ((1, 4, 5), (3, 5, 2)), ((3, 4, 5), (3, 5, 2), (1, 2))])
def test_einsum_broadcasts_axes_of_size_one(shapes: Any) -> None:
    equation = ("btd,bde->bte", "btd,bde,be->bte")[len(shapes) - 2]
    signals = [components(s, 0.4, {tuple(range(len(s))): 0.7, (0,): 0.3}) for s in shapes]
    run = lambda *ts: torch.einsum(equation, *ts)  # noqa: E731
    check_fresh("einsum", signals, None, run, repeats=500, equation=equation)


# --- matmul ---------------------------------------------------------------------------------------

RANKS = [
    ((5,), (5,)),
    ((4, 5), (5,)),
    ((5,), (5, 3)),
    ((4, 5), (5, 3)),
    ((2, 4, 5), (5,)),
    ((5,), (2, 5, 3)),
    ((2, 4, 5), (5, 3)),
    ((4, 5), (2, 5, 3)),
    ((2, 4, 5), (2, 5, 3)),
    ((2, 1, 4, 5), (3, 5, 2)),
    ((1, 4, 5), (3, 5, 2)),
]


@pytest.mark.parametrize(("left", "right"), RANKS)
def test_matmul_in_all_ranks(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a = components(left, 0.6, {tuple(range(len(left))): 0.8, (len(left) - 1,): 0.4})
    b = components(right, -0.4, {tuple(range(len(right))): 1.0, (0,): 0.5})
    check_fresh("matmul", [a, b], None, torch.matmul, repeats=400)


@pytest.mark.parametrize("slot", [0, 1])
def test_matmul_with_a_weight(slot: int) -> None:
    shapes = ((4, 5), (5, 6))
    pair = [components(s, 0.8, {(0, 1): 0.5, (0,): 0.5}) for s in shapes]
    pair[slot] = iid(shapes[slot], 0.0, 0.3)
    y = check_fresh("matmul", pair, slot, torch.matmul, repeats=1500, weights=(slot,))
    assert y.mean == 0.0
    kept = array(*shapes[slot], mean=0.4)
    moments = from_array(kept)
    made = predicted("matmul", [moments if k == slot else p for k, p in enumerate(pair)], {slot: moments}, (4, 6),
                     weights=(slot,))  # fmt: skip
    assert made.mean == pytest.approx(5 * 0.8 * moments.mean)


# --- embedding ------------------------------------------------------------------------------------


def test_embedding_of_random_tokens() -> None:
    """Two places hold the same row as often as two uniform draws from 5 words coincide."""
    table = components((5, 6), 0.3, {(0, 1): 1.0, (0,): 0.2})
    run = lambda w: F.embedding(torch.randint(5, (3, 8)), w)  # noqa: E731
    made = predicted("embedding", [table, iid((3, 8))], {0: table}, (3, 8, 6), vocabulary=5)
    compare(made, measure([table], run, 1500)[0])
    assert made.correlation(1) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(
    "indices", [[[0, 0, 1, 2], [0, 3, 3, 3]], [[1, 1, 1, 1], [1, 1, 1, 1]], [[0, 1, 2, 3], [4, 5, 6, 7]]]
)
def test_embedding_of_known_tokens(indices: list[list[int]]) -> None:
    """Known indices repeat as often as they repeat."""
    tokens = torch.tensor(indices)
    table = components((8, 6), -0.5, {(0, 1): 1.0, (1,): 0.4})
    chance = equal_chance(tokens)
    made = predicted("embedding", [table, iid((2, 4))], {0: table}, (2, 4, 6), vocabulary=8, chance=chance)
    compare(made, measure([table], lambda w: F.embedding(tokens, w), 1500)[0])


def test_embedding_with_a_kept_table_and_every_token() -> None:
    """All words once: the output is the table itself, moments and all."""
    table = from_array(array(8, 6, mean=1.0))
    chance = equal_chance(torch.randperm(8))
    made = predicted("embedding", [table, iid((8,))], {0: table}, (8, 6), vocabulary=8, chance=chance)
    np.testing.assert_allclose(made.K, table.K, atol=1e-12)
