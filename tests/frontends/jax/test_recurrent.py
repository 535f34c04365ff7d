"""Recurrent cells of libraries and of hand, in loops over steps: one op each, with what torch's layers get."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from jax import lax

import autoinit
import autoinit.haiku
from autoinit.core.graph.graph import Node, ParameterView

from .programs import noise, plan_of, program, traced

X, H, STEPS, BATCH = 24, 32, 12, 16
INPUTS = (STEPS, BATCH, X)
PACKED = {"cell.w": (X, 4 * H), "cell.u": (H, 4 * H), "cell.b": (4 * H,), "head.w": (H, 8)}
GATED = {"cell.w": (X, 3 * H), "cell.u": (H, 3 * H), "cell.b": (3 * H,), "head.w": (H, 8)}


def sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + jnp.exp(-x))


def lstm(p: Any, state: Any, x: Any) -> Any:
    h, c = state
    i, f, g, o = jnp.split(x @ p["cell.w"] + h @ p["cell.u"] + p["cell.b"], 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (h, c), h


def lstm_joined(p: Any, state: Any, x: Any) -> Any:
    """One product of both, gates in another order, a number added to what is forgotten, sigmoids by hand."""
    c, h = state
    w = jnp.concatenate([p["cell.w"], p["cell.u"]])
    f, o, g, i = jnp.split(jnp.concatenate([x, h], axis=-1) @ w + p["cell.b"], 4, axis=-1)
    new = jnp.tanh(g) * sigmoid(i) + c * sigmoid(f + 1.0)
    h = jnp.tanh(new) * sigmoid(o)
    return (new, h), h


def gru(p: Any, h: Any, x: Any) -> Any:
    a, b = jnp.split(x @ p["cell.w"] + p["cell.b"], [2 * H], axis=-1), jnp.split(h @ p["cell.u"], [2 * H], axis=-1)
    r, z = jnp.split(jax.nn.sigmoid(a[0] + b[0]), 2, axis=-1)
    n = jnp.tanh(a[1] + r * b[1])
    h = n + z * (h - n)
    return h, h


def gru_before(p: Any, h: Any, x: Any) -> Any:
    """The reset gate acts on the state, and the update gate is the share of what is new."""
    a = x @ p["cell.w"] + p["cell.b"]
    z, r = jnp.split(jax.nn.sigmoid(a[:, : 2 * H] + h @ p["cell.u"][:, : 2 * H]), 2, axis=-1)
    n = jnp.tanh(a[:, 2 * H :] + (r * h) @ p["cell.u"][:, 2 * H :])
    h = (1.0 - z) * h + z * n
    return h, h


def over(cell: Callable[..., Any], states: int, **settings: Any) -> Callable[..., Any]:
    def run(p: Any, x: Any, key: Any) -> Any:
        zeros = jnp.zeros((x.shape[1], H))
        start = zeros if states == 1 else (zeros,) * states
        rows = lax.scan(lambda s, x: cell(p, s, x), start, x, **settings)[1]
        return rows @ p["head.w"]

    return run


def cells(made: Any, inputs: Any = None) -> list[Node]:
    followed = traced(made, noise(*INPUTS) if inputs is None else inputs)
    assert not [note for note in followed.graph.notes if "step by step" in note]
    return [node for node in followed.graph.nodes if node.op == "recurrent"]


def gates(node: Node, first: int, count: int) -> list[tuple[str, int]]:
    """(parameter, offset) of some operands."""
    views = node.inputs[first : first + count]
    assert all(isinstance(view, ParameterView) for view in views)
    return [(view.name, view.offset) for view in views if isinstance(view, ParameterView)]


@pytest.mark.parametrize("settings", [{}, {"reverse": True}, {"unroll": 3}], ids=str)
def test_a_cell_by_hand_is_one_op(settings: Any) -> None:
    (node,) = cells(program(over(lstm, 2, **settings), PACKED))
    assert (node.module, node.label, node.attrs["kind"], node.attrs["activation"]) == ("cell", "lstm", "lstm", "tanh")
    assert gates(node, 3, 4) == [("cell.w", k * H) for k in range(4)]
    assert gates(node, 7, 4) == [("cell.u", k * H) for k in range(4)]
    assert node.outputs[0].shape == (STEPS, BATCH, H)


def test_gates_are_found_in_any_order_and_writing() -> None:
    (node,) = cells(program(over(lstm_joined, 2), PACKED))
    order = [3, 0, 2, 1]  # of i f g o in f o g i
    assert gates(node, 3, 4) == [("cell.w", k * H) for k in order]
    assert gates(node, 11, 4) == [("cell.b", k * H) for k in order]
    assert node.attrs["added"] == (0.0, 1.0, 0.0, 0.0) and node.attrs["forget_bias"] == 0.0


@pytest.mark.parametrize(("cell", "after", "writes", "order"), [
    (gru, True, False, [0, 1, 2]), (gru_before, False, True, [1, 0, 2]),
], ids=["after", "before"])  # fmt: skip
def test_both_kinds_of_gru(cell: Any, after: bool, writes: bool, order: list[int]) -> None:
    (node,) = cells(program(over(cell, 1), GATED))
    assert (node.attrs["reset_after"], node.attrs["z_writes"]) == (after, writes)
    assert gates(node, 2, 3) == [("cell.w", k * H) for k in order]
    assert gates(node, 5, 3) == [("cell.u", k * H) for k in order]


def test_products_that_were_made_before_the_loop() -> None:
    def run(p: Any, x: Any, key: Any) -> Any:
        driven = jnp.swapaxes(x @ p["cell.w"] + p["cell.b"], 0, 1)  # x is (batch, steps, features)

        def step(state: Any, at: Any) -> Any:
            (_h, c), _y = lstm({**p, "cell.w": jnp.eye(1), "cell.b": 0.0}, state, jnp.zeros((BATCH, 1)))
            i, f, g, o = jnp.split(at + state[0] @ p["cell.u"], 4, axis=-1)
            c = jax.nn.sigmoid(f) * state[1] + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        return lax.scan(step, (jnp.zeros((BATCH, H)),) * 2, driven)[0][0] @ p["head.w"]

    made = program(run, PACKED)
    (node,) = cells(made, noise(BATCH, STEPS, X))
    assert gates(node, 3, 4) == [("cell.w", k * H) for k in range(4)] and node.inputs[0].shape == (STEPS, BATCH, X)
    plan = plan_of(made, noise(BATCH, STEPS, X))
    assert [part.std for part in plan.parameter("cell.w").parts] == pytest.approx([(2 / (X + H)) ** 0.5] * 4)


def test_layers_and_heads_inside_of_one_loop_come_out() -> None:
    """A loop of two cells with a dense layer between, dropout, and a head: what is no cell is done for all steps."""
    shapes = {**PACKED, "second.w": (20, H), "second.u": (H, H), "between.w": (H, 20)}

    def run(p: Any, x: Any, key: Any) -> Any:
        def step(state: Any, row: Any) -> Any:
            x, key = row
            first, h = lstm(p, state[0], x)
            mid = jax.nn.relu(h @ p["between.w"])
            mid = mid * jax.random.bernoulli(key, 0.5, mid.shape) * 2.0
            second = jnp.tanh(mid @ p["second.w"] + state[1] @ p["second.u"])
            return (first, second, state[2] + 1), (second + state[1]) @ p["head.w"]

        start = ((jnp.zeros((BATCH, H)),) * 2, jnp.zeros((BATCH, H)), 0)
        return lax.scan(step, start, (x, jax.random.split(key, STEPS)))[1]

    made = program(run, shapes)
    one, two = cells(made)
    assert (one.attrs["kind"], two.attrs["kind"]) == ("lstm", "tanh")
    followed = traced(made, noise(*INPUTS))
    ops = [node.op for node in followed.graph.nodes]
    assert ops.count("linear") == 2 and ops.count("dropout") == 1
    assert followed.graph.nodes[ops.index("linear")].module == "between"


class Linen(nn.Module):
    cell: Any

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.Dense(8)(nn.RNN(self.cell(H))(nn.RNN(self.cell(H))(x))[:, -1])


class Nnx(nnx.Module):
    def __init__(self, cell: Any, rngs: nnx.Rngs) -> None:
        self.rnn = nnx.RNN(cell(X, H, rngs=rngs))
        self.head = nnx.Linear(H, 8, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.head(self.rnn(x, rngs=nnx.Rngs(0))[:, -1])


class Equinox(eqx.Module):
    cell: Any
    head: eqx.nn.Linear

    def __call__(self, x: Any) -> Any:
        lstm = isinstance(self.cell, eqx.nn.LSTMCell)
        start: Any = (jnp.zeros(H), jnp.zeros(H)) if lstm else jnp.zeros(H)
        last = lax.scan(lambda state, x: (self.cell(x, state), None), start, x)[0]
        return self.head(last[0] if lstm else last)


def haiku(core: Any) -> Any:
    def run(x: Any) -> Any:
        cell = core(H)
        return hk.Linear(8)(hk.dynamic_unroll(cell, x, cell.initial_state(BATCH), time_major=False)[0][:, -1])

    return autoinit.haiku.transform(hk.transform(run))


def libraries() -> list[Any]:
    key = jax.random.key(0)
    head = eqx.nn.Linear(H, 8, key=key)
    made = [(f"linen {c.__name__}", Linen(c), 2)
            for c in (nn.OptimizedLSTMCell, nn.LSTMCell, nn.GRUCell, nn.SimpleCell, nn.MGUCell)]  # fmt: skip
    made += [(f"nnx {c.__name__}", Nnx(c, nnx.Rngs(0)), 1) for c in (nnx.OptimizedLSTMCell, nnx.GRUCell)]
    made += [(f"equinox {c.__name__}", Equinox(c(X, H, key=key), head), 1) for c in (eqx.nn.LSTMCell, eqx.nn.GRUCell)]
    made += [(f"haiku {c.__name__}", haiku(c), 1) for c in (hk.LSTM, hk.GRU, hk.VanillaRNN)]
    return [pytest.param(model, count, id=name) for name, model, count in made]


@pytest.mark.parametrize(("model", "count"), libraries())
def test_cells_of_libraries_are_recognised(model: Any, count: int) -> None:
    plan = autoinit.plan(model, (BATCH, STEPS, X))
    assert len([row for row in plan.tensors if row.op in ("lstm", "gru", "rnn") and row.output == 0]) == count
    assert not [note for note in plan.notes if note.kind in ("warning", "passed", "simulated", "shared")]
    assert sum(part.kind == "orthogonal" for p in plan.parameters for part in p.parts) >= count


@pytest.mark.slow
@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.SimpleCell], ids=lambda cell: str(cell.__name__))
def test_what_comes_out_is_what_was_planned(cell: Any) -> None:
    """Two layers, of which the upper one sees how the states of the lower one go on in time.

    The mean of 6 draws; a state of width 32 over 16 sequences scatters by about 15 % from draw to draw (measured), so
    25 % is four standard errors.
    """
    model, found = Linen(cell), []
    for seed in range(6):
        params, plan = autoinit.initialize(model, (BATCH, STEPS, X), seed=seed)
        rows = autoinit.measure(model, (BATCH, STEPS, X), params=params, seed=seed).rows
        found.append({row.predicted.index: row.variance for row in rows})
    wanted = [row for row in plan.tensors if (row.op in ("lstm", "gru", "rnn") and row.output == 0) or row.weight]
    assert len(wanted) == 3
    for row in wanted:
        assert np.mean([run[row.index] for run in found]) / row.tensor_variance == pytest.approx(1.0, abs=0.25)
