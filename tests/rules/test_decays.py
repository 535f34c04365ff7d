"""Decays: running sums of negative entries, what is still to come of them, and exponentials under a mask."""

from __future__ import annotations

import numpy as np
import pytest

from autoinit.core.gaussian.expression import apply
from autoinit.core.graph.canonical.form import canonical
from autoinit.core.graph.feeding import Feeding
from autoinit.core.graph.graph import Graph, Node, Value
from autoinit.core.signal.positive import sign_of
from autoinit.core.signal.signal import Signal, iid
from autoinit.rules import RULES

from .harness import FakeContext

N, DRAWS = 12, 40000


def decay() -> Signal:
    """-softplus(u): nowhere positive."""
    u = iid((3, N), -1.0, 1.0)
    return Signal.function(u.source, apply("neg", apply("softplus", u.expr)))


def samples() -> np.ndarray:
    u = np.random.default_rng(0).standard_normal((DRAWS, N)) - 1.0
    return -np.log1p(np.exp(u))


def run(op: str, shape: tuple[int, ...], *signals: Signal, **attrs: object) -> Signal:
    node = Node(op, (None,) * len(signals), (Value(0, shape),), attrs)
    made = RULES[op](node, FakeContext(), *signals)
    assert isinstance(made, Signal)
    return made


def test_a_running_sum_keeps_its_sign() -> None:
    """Its exponential is at most one. One log-normal stands for sums of one to twelve terms: a third of the mean."""
    total = run("cumulative", (3, N), decay(), axis=1, kind="sum")
    kept = run("elementwise", (3, N), total, fn="exp")
    found = np.exp(np.cumsum(samples(), axis=1))
    assert sign_of(total) == -1
    assert kept.mean == pytest.approx(found.mean(), rel=0.33)
    assert 0.0 < kept.second <= kept.mean <= 1.0


def test_what_is_still_to_come() -> None:
    """c_n - c_t: exact mean and mean square, and of the sign of the terms."""
    rest = run("cumulative", (3, N), decay(), axis=1, kind="sum", remaining=True)
    c = np.cumsum(samples(), axis=1)
    found = c[:, -1:] - c
    assert sign_of(rest) == -1
    assert rest.mean == pytest.approx(found.mean(), rel=0.02)
    assert rest.second == pytest.approx(np.square(found).mean(), rel=0.02)
    apart = (found[:, :, None] * found[:, None, :]).mean(axis=0)
    pairs = (apart.sum() - np.trace(apart)) / (N * (N - 1))
    assert float(rest.K[0, 1]) == pytest.approx(pairs, rel=0.03)


def difference(axis: int, shape: tuple[int, ...]) -> Node:
    """A cut at the end of an axis minus the running sum that it was cut from, in its canonical form."""
    x, c, last, out = Value(0, (3, N)), Value(1, (3, N)), Value(2, shape), Value(3, (3, N))
    n = x.shape[axis]
    graph = Graph()
    graph.nodes = [
        Node("cumulative", (x,), (c,), {"axis": 1, "kind": "sum"}),
        Node("slice", (c,), (last,), {"axis": axis, "start": n - 1, "stop": n, "step": 1}),
        Node("elementwise", (last, c), (out,), {"fn": "sub"}),
    ]
    canonical(graph, Feeding(graph))
    return graph.nodes[-1]


def test_the_end_minus_a_running_sum_is_what_is_still_to_come() -> None:
    found = difference(1, (3, 1))
    assert (found.op, found.inputs) == ("cumulative", (Value(0, (3, N)),)) and found.attrs["remaining"]


def test_the_last_row_of_another_axis_is_not_the_end_of_the_sum() -> None:
    assert difference(0, (1, N)).op == "elementwise"


def test_a_product_of_decays_and_steps_is_negative() -> None:
    steps = Signal.function(iid((3, N)), apply("exp", iid((3, N)).expr))
    made = run("elementwise", (3, N), decay(), steps, fn="mul")
    assert sign_of(made) == -1
    assert made.mean == pytest.approx(decay().mean * steps.mean)


def test_the_exponential_of_a_masked_entry_is_zero() -> None:
    """exp(-inf) = 0 on the upper triangle: of 144 entries 78 are alive."""
    x = iid((N, N), 0.0, 0.25)
    masked = Signal(x.shape, x.mean, x.K, live=np.tri(N, dtype=bool))
    made = run("elementwise", (N, N), masked, fn="exp")
    assert made.mean == pytest.approx(np.exp(0.125) * 78 / 144)
    assert made.second == pytest.approx(np.exp(0.5) * 78 / 144)


def test_exponents_of_a_masked_table_are_not_positive() -> None:
    """Differences of running sums, N(0, 400) on all places together: where they are alive they are decays."""
    x = iid((N, N), 0.0, 400.0)
    masked = Signal(x.shape, x.mean, x.K, live=np.tri(N, dtype=bool))
    context = FakeContext()
    node = Node("elementwise", (None,), (Value(0, (N, N)),), {"fn": "exp"})
    made = RULES["elementwise"](node, context, masked)
    assert isinstance(made, Signal) and made.second <= made.mean <= 78 / 144
    assert any("decays" in message for _, message in context.notes)
