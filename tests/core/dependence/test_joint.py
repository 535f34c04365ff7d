"""E[u_i v_j] of values of one program, against averages over samples of the real ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from autoinit.core.graph.graph import Constant, Node, Value
from autoinit.core.signal.measured import from_array
from autoinit.core.signal.profiles import Array
from autoinit.core.signal.samples import sample
from autoinit.core.signal.signal import Signal, iid
from autoinit.rules.registry import RULES
from tests.core.dependence.program import Program, by_pairs
from tests.rules.weighted import GivenWeights

SHAPE = (3, 4, 6)
Build = Callable[[Program, Value], Value]
Run = Callable[[torch.Tensor], torch.Tensor]


def source(mean: float = 0.5) -> Signal:
    table = np.full((2, 2, 2), mean**2)
    for S in product((0, 1), repeat=3):
        table[S] += 0.5 * (sum(S) == 0) + 0.3 * (S[2] == 0) + 0.4 * (S[0] == 0)
    return Signal(SHAPE, mean, table)


@cache
def samples(mean: float, repeats: int) -> torch.Tensor:
    rng = np.random.default_rng(0)
    return torch.from_numpy(np.stack([sample(source(mean), rng, None) for _ in range(repeats)]))


def against_samples(one: Build, two: Build, run: Callable[[torch.Tensor], tuple[Any, Any]], *, mean: float = 0.5,
                    repeats: int = 1500, error: float = 0.0, same: int | None = None) -> None:  # fmt: skip
    """`error`: of the root of the powers, for forms that are no more than linear. `same`: an axis along which only
    entries at the same place are compared."""
    program = Program()
    x = program.input(source(mean))
    u, v = one(program, x), two(program, x)
    torch.manual_seed(0)
    made = [run(t.clone()) for t in samples(mean, repeats)]
    a, b = (np.stack([pair[k].numpy() for pair in made]) for k in (0, 1))
    tables = np.moveaxis(by_pairs(a, b, samples=1), -1, 0)
    root = np.sqrt(program.signals[u.id].second * program.signals[v.id].second)
    slack = 5 * tables.std(axis=0, ddof=1) / np.sqrt(repeats) + 1e-9 + error * root
    found, measured = program.cross(u, v), tables.mean(axis=0)
    if same is not None:
        found, measured, slack = (np.take(table, 0, axis=same) for table in (found, measured, slack))
    assert np.all(np.abs(found - measured) <= slack), (found, measured, slack)
    apart = program.signals[u.id].mean * program.signals[v.id].mean
    assert np.any(np.abs(measured - apart) > slack), "independence would pass as well"


def itself(p: Program, x: Value) -> Value:
    return x


def test_the_count_of_pairs_is_right() -> None:
    u, v = np.random.default_rng(0).normal(size=(2, 2, 3))
    K, count = np.zeros((2, 2)), np.zeros((2, 2))
    for i, j in product(np.ndindex(2, 3), np.ndindex(2, 3)):
        S = tuple(int(a != b) for a, b in zip(i, j, strict=True))
        K[S] += u[i] * v[j]
        count[S] += 1
    np.testing.assert_allclose(by_pairs(u, v), K / count)


@pytest.mark.parametrize("axes", [(0,), (2,), (1, 2), (0, 1, 2)])
def test_with_its_mean(axes: tuple[int, ...]) -> None:
    against_samples(itself, lambda p, x: p.mean(x, *axes), lambda t: (t, t.mean(axes, keepdim=True)))


def test_of_two_means() -> None:
    run = lambda t: (t.mean(2, keepdim=True), t.mean((1, 2), keepdim=True))  # noqa: E731
    against_samples(lambda p, x: p.mean(x, 2), lambda p, x: p.mean(x, 1, 2), run)


def test_of_linear_combinations() -> None:
    """3 x - 2 mean(x) against x + 1."""

    def one(p: Program, x: Value) -> Value:
        return p.function("sub", p.function("mul", x, 3.0), p.function("mul", p.mean(x, 2), 2.0))

    run = lambda t: (3 * t - 2 * t.mean(2, keepdim=True), t + 1)  # noqa: E731
    against_samples(one, lambda p, x: p.function("add", x, 1.0), run)


@pytest.mark.parametrize(("f", "g"), [("relu", "tanh"), ("exp", "sigmoid"), ("relu", "neg")])
def test_of_functions_of_one_source(f: str, g: str) -> None:
    run = lambda t: (getattr(torch, f)(t), getattr(torch, g)(t))  # noqa: E731
    against_samples(lambda p, x: p.function(f, x), lambda p, x: p.function(g, x), run)


@pytest.mark.parametrize(("f", "g"), [("relu", "tanh"), ("square", "abs"), ("relu", "relu")])
def test_of_functions_of_correlated_sources(f: str, g: str) -> None:
    def two(p: Program, x: Value) -> Value:
        return p.function(g, p.function("sub", x, p.mean(x, 2)))

    run = lambda t: (getattr(torch, f)(t), getattr(torch, g)(t - t.mean(2, keepdim=True)))  # noqa: E731
    against_samples(lambda p, x: p.function(f, x), two, run)


@pytest.mark.parametrize("level", [1.0, 1e-6])
def test_small_signals_are_related_all_the_same(level: float) -> None:
    """Whether two signals are related does not depend on their scale (layer scales are 1e-6 and less)."""
    p = Program()
    small = p.input(Signal(SHAPE, 0.0, iid(SHAPE).K * level**2))
    found = p.cross(p.function("mul", small, 2.0), p.mean(small, 2))
    np.testing.assert_allclose(found[0, 0], 2 * level**2 / 6, rtol=1e-9)


def test_unrelated_signals_have_the_product_of_their_means() -> None:
    p = Program()
    np.testing.assert_array_equal(p.cross(p.input(source(0.5)), p.input(source(2.0))), np.full((2, 2, 2), 1.0))


OPS: dict[str, tuple[Build, Run, float]] = {
    "dropout": (
        lambda p, x: p.op("dropout", x, rate=0.3, shared=(), kind="inverted"), lambda t: F.dropout(t, 0.3, True), 0.0,
    ),
    "softmax": (lambda p, x: p.op("softmax", x, axis=2), lambda t: t.softmax(2), 0.03),
    "layer norm": (
        lambda p, x: p.op("normalize", x, axes=(2,), channel_axes=(2,), eps=1e-5),
        lambda t: F.layer_norm(t, (6,)), 0.05,
    ),
    "RMS norm": (
        lambda p, x: p.op("normalize", x, axes=(2,), channel_axes=(2,), eps=1e-5, centre=False),
        lambda t: F.rms_norm(t, (6,), eps=1e-5), 0.08,
    ),
    "group norm": (
        lambda p, x: p.op("normalize", x, axes=(2,), channel_axes=(1,), groups=2, eps=1e-5),
        lambda t: F.group_norm(t, 2), 0.08,
    ),
    "mean of groups": (
        lambda p, x: p.op("reshape", p.op("expand", p.mean(p.op("reshape", x, shape=(3, 4, 2, 3)), 3),
                                          shape=(3, 4, 2, 3)), shape=(3, 4, 6)),
        lambda t: t.view(3, 4, 2, 3).mean(3, keepdim=True).expand(3, 4, 2, 3).reshape(3, 4, 6), 0.0,
    ),
    "running sum": (lambda p, x: p.op("cumulative", x, kind="sum", axis=2), lambda t: t.cumsum(2), 0.0),
    "what is left": (
        lambda p, x: p.op("cumulative", x, kind="sum", axis=2, remaining=True),
        lambda t: t.sum(2, keepdim=True) - t.cumsum(2), 0.0,
    ),
    "maximum": (
        lambda p, x: p.op("reduce", x, shape=(3, 4, 1), kind="max", axes=(2,), keepdim=True),
        lambda t: t.amax(2, keepdim=True), 0.03,
    ),
    "gate": (
        lambda p, x: p.function("mul", x, p.function("sigmoid", p.mean(x, 2))),
        lambda t: t * t.mean(2, keepdim=True).sigmoid(), 0.08,
    ),
    "quotient": (
        lambda p, x: p.function("div", x, p.function("add", p.function("sigmoid", p.mean(x, 2)), 1.0)),
        lambda t: t / (t.mean(2, keepdim=True).sigmoid() + 1), 0.02,
    ),
    "pieces": (
        lambda p, x: p.op("concat", p.function("relu", x), p.function("neg", x), shape=(3, 4, 12), axis=2),
        lambda t: torch.cat([t.relu(), -t], 2), 0.0,
    ),
    "matmul": (
        lambda p, x: p.op("matmul", p.op("softmax", p.op("permute", x, shape=(3, 6, 4), perm=(0, 2, 1)), axis=2), x,
                          shape=(3, 6, 6)),
        lambda t: t.transpose(1, 2).softmax(2) @ t, 0.1,
    ),
}  # fmt: skip


def kernel(*shape: int) -> Array:
    """Of no symmetry, and not the product of two vectors."""
    return np.cos(np.arange(np.prod(shape))).reshape(shape) + 0.5


def with_constant(p: Program, op: str, x: Value, array: Array, shape: tuple[int, ...], **attrs: Any) -> Value:
    """An op whose weight has known values."""
    constant, out = Constant(array.shape, lambda: array), p.new(shape)
    node = Node(op, (x, constant, None), (out,), attrs)
    p.seen(node, RULES[op](node, GivenWeights({1: from_array(array)}), p.signals[x.id], None))
    return out


def convolved(p: Program, x: Value) -> Value:
    """Along the last two axes, the first being channels by themselves."""
    image = p.op("reshape", x, shape=(1, *SHAPE))
    made = with_constant(p, "conv", image, np.broadcast_to(kernel(1, 1, 3, 3), (3, 1, 3, 3)), (1, *SHAPE), groups=3,
                         stride=(1, 1), dilation=(1, 1), padding=((1, 1), (1, 1)), transposed=False,
                         x_axes=(0, 1, 2, 3), w_axes=(0, 1, 2, 3))  # fmt: skip
    return p.op("reshape", made, shape=SHAPE)


NEW: dict[str, tuple[Build, Run, float]] = {
    "constant kernel": (
        convolved, lambda t: F.conv2d(t[None], torch.from_numpy(kernel(1, 1, 3, 3)).expand(3, 1, 3, 3), padding=1,
                                      groups=3)[0], 0.03,  # borders are averaged in
    ),
    "constant matrix": (
        lambda p, x: with_constant(p, "linear", x, kernel(6, 6), SHAPE),
        lambda t: F.linear(t, torch.from_numpy(kernel(6, 6))), 0.02,
    ),
    "triangle": (lambda p, x: p.op("triangle", x, lower=True, diagonal=1), lambda t: t.tril(1), 0.0),
    "maximum with its flip": (
        lambda p, x: p.function("maximum", x, p.op("shuffle", x, moves=(("flip", 2, 0),))),
        lambda t: torch.maximum(t, t.flip(2)), 0.03,
    ),
    "einsum": (
        lambda p, x: p.op("einsum", x, p.input(iid((4, 4), 0.5, 0.0)), shape=SHAPE, equation="abc,db->adc"),
        lambda t: torch.einsum("abc,db->adc", t, torch.full((4, 4), 0.5, dtype=t.dtype)), 0.0,
    ),
}  # fmt: skip
OPS.update(NEW)


def test_an_op_without_a_form_is_named() -> None:
    """It meets what went into it: nobody knows. What is made of something else varies with nothing here."""
    p = Program()
    x, y = p.input(source()), p.input(source())
    made = p.op("cumulative", x, kind="prod", axis=2)
    assert p.joint.covariance(made, x, SHAPE) is None
    assert p.joint.unfollowed(made, x, SHAPE) == "cumulative"
    found = p.joint.covariance(made, y, SHAPE)
    assert found is not None and not found.any() and p.joint.unfollowed(made, y, SHAPE) == ""


@pytest.mark.parametrize("name", OPS)
def test_an_op_with_its_operand(name: str) -> None:
    build, run, error = OPS[name]
    if name == "pieces":
        against_samples(
            build, lambda p, x: p.op("concat", x, x, shape=(3, 4, 12), axis=2),
            lambda t: (run(t), torch.cat([t, t], 2)), error=error, same=2,  # pairs across pieces are not asked for
        )  # fmt: skip
        return
    if name == "matmul":
        against_samples(build, lambda p, x: p.mean(x, 1), lambda t: (run(t), t.mean(1, keepdim=True)), error=error)
        return
    against_samples(build, itself, lambda t: (run(t), t), error=error)
