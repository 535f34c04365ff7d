"""Softmax, log-softmax and attention against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import autoinit.rules.attention  # noqa: F401
from autoinit.core.graph.graph import Node
from autoinit.core.signal.contraction import einsum_moments, matmul_moments
from autoinit.core.signal.measured import from_array
from autoinit.core.signal.signal import Signal, iid
from tests.core.dependence.program import Program

from .harness import check, compare, components, measure, predict

LOGITS = [
    components((4, 6, 10), 0.0, {(0, 1, 2): 0.05}),
    components((4, 6, 10), 1.0, {(0, 1, 2): 1.0}),
    components((4, 6, 10), -2.0, {(0, 1, 2): 0.5, (0, 2): 0.7, (0, 1): 2.0, (2,): 0.2}),
    components((4, 6, 10), 0.0, {(0, 1, 2): 4.0, (0, 2): 5.0}),
]


@pytest.mark.parametrize("x", LOGITS)
@pytest.mark.parametrize("axis", [1, 2])
def test_softmax(x, axis):
    """Exact for one row; two correlated rows are interpolated (measured: below 0.5 % of E[p^2])."""
    check("softmax", [x], lambda t: t.softmax(axis), axis=axis, log=False, model_error=0.012, repeats=500)


@pytest.mark.parametrize("x", LOGITS)
def test_log_softmax(x):
    check(
        "softmax",
        [x],
        lambda t: t.log_softmax(2),
        axis=2,
        log=True,
        model_error=0.01,
        mean_error=0.002,
        repeats=400,
    )


def test_softmax_of_a_wide_layer():
    """Dense(softmax) at input variance 100, ten classes.

    0.0748 is what independence and a clipped series give.
    """
    x = iid((64, 10), 0.0, 100.0)
    y = check("softmax", [x], lambda t: t.softmax(1), axis=1, log=False, model_error=0.002, repeats=600)
    assert y.mean == pytest.approx(0.1)


def test_softmax_over_the_last_axis_of_a_sequence():
    y = predict("softmax", [iid((2, 20, 10))], [(2, 20, 10)], axis=2, log=False)
    assert y.mean == pytest.approx(0.1)


@pytest.mark.parametrize("x", [LOGITS[1], components((4, 10, 10), 0.0, {(0, 1, 2): 0.5, (0, 2): 0.7, (0, 1): 2.0})])
def test_causal_softmax(x):
    live = np.tri(x.shape[1], x.shape[2], dtype=bool)
    masked = Signal(x.shape, x.mean, x.K, live=live)
    dead = torch.from_numpy(~live)
    run = lambda t: t.masked_fill(dead, -torch.inf).softmax(2)  # noqa: E731
    y = predict("softmax", [masked], [x.shape], axis=2, log=False)
    measured = measure([x], run, 500)[0]
    compare(y, measured, model_error=0.02)
    rows = torch.stack([run(torch.from_numpy(s)).pow(2).mean(dim=(0, 2)) for s in _draws(x, 300)]).mean(0).numpy()
    assert np.allclose(y.profiles[1], rows / rows.mean(), rtol=0.06)


def _draws(x, count):
    from autoinit.core.signal.samples import sample

    rng = np.random.default_rng(5)
    return [sample(x, rng, None) for _ in range(count)]


def test_padding_mask():
    x = LOGITS[1]
    live = np.ones((4, 1, 10), bool)
    live[0, :, 3:] = live[1, :, 7:] = False
    dead = torch.from_numpy(~live)
    run = lambda t: t.masked_fill(dead, -torch.inf).softmax(2)  # noqa: E731
    y = predict("softmax", [Signal(x.shape, x.mean, x.K, live=live)], [x.shape], axis=2, log=False)
    compare(y, measure([x], run, 600)[0], model_error=0.02)


def test_one_mask_for_all_rows():
    x = LOGITS[2]
    live = np.arange(10) < 4
    run = lambda t: t.masked_fill(torch.from_numpy(~live), -torch.inf).softmax(2)  # noqa: E731
    y = predict("softmax", [Signal(x.shape, x.mean, x.K, live=live)], [x.shape], axis=2, log=False)
    compare(y, measure([x], run, 600)[0], model_error=0.02)


# --- attention -------------------------------------------------------------------------------------


def heads(batch=3, count=2, tokens=12, width=16, shared=0.0, variance=1.0, mean=0.0):
    parts = {(0, 1, 2, 3): variance * (1 - shared), (0, 1, 3): variance * shared}
    return components((batch, count, tokens, width), mean, parts)


@pytest.mark.parametrize("shared", [0.0, 0.5])
@pytest.mark.parametrize("variance", [0.5, 2.0])
@pytest.mark.parametrize("causal", [False, True])
def test_independent_operands(shared, variance, causal):
    """Queries, keys and values that share nothing.

    The key/value correction (at most s/D) is the model error.
    """
    q, k, v = (
        heads(shared=shared, variance=variance),
        heads(variance=variance),
        heads(shared=shared, mean=0.5),
    )
    run = lambda a, b, c: F.scaled_dot_product_attention(a, b, c, is_causal=causal)  # noqa: E731
    check("attention", [q, k, v], run, causal=causal, scale=None, dropout=0.0, grouped=False,
          model_error=0.02 + variance**2 / 32, repeats=250)  # fmt: skip


def test_grouped_heads():
    q, k, v = heads(count=6), heads(count=2), heads(count=2, shared=0.3, mean=0.4)
    run = lambda a, b, c: F.scaled_dot_product_attention(a, b, c, enable_gqa=True)  # noqa: E731
    check(
        "attention",
        [q, k, v],
        run,
        causal=False,
        scale=None,
        dropout=0.0,
        grouped=True,
        model_error=0.03,
        repeats=300,
    )


def test_dropout_on_the_weights():
    q, k, v = heads(), heads(), heads(shared=0.5)
    run = lambda a, b, c: F.scaled_dot_product_attention(a, b, c, dropout_p=0.4)  # noqa: E731
    check(
        "attention",
        [q, k, v],
        run,
        causal=False,
        scale=None,
        dropout=0.4,
        grouped=False,
        model_error=0.04,
        repeats=300,
    )


@pytest.mark.parametrize("kind", ["boolean", "additive", "bias"])
def test_constant_masks(kind):
    q, k, v = heads(), heads(), heads(shared=0.3)
    rng = np.random.default_rng(3)
    live = np.tri(12, dtype=bool)
    mask = {"boolean": live, "additive": np.where(live, 0.0, -np.inf), "bias": rng.normal(size=(2, 12, 12))}[kind]
    tensor = torch.from_numpy(mask)
    run = lambda a, b, c: F.scaled_dot_product_attention(a, b, c, attn_mask=tensor)  # noqa: E731
    extra = [from_array(np.where(live, 0.0, 1.0))]
    check("attention", [q, k, v], run, extra=extra, arrays={3: mask}, causal=False,
          scale=None, dropout=0.0, grouped=False, model_error=0.04, repeats=300)  # fmt: skip


def test_bias_that_is_a_signal():
    q, k, v, bias = heads(), heads(), heads(shared=0.3), iid((2, 12, 12), 0.0, 1.5)
    run = lambda a, b, c, m: F.scaled_dot_product_attention(a, b, c, attn_mask=m)  # noqa: E731
    check(
        "attention",
        [q, k, v, bias],
        run,
        causal=False,
        scale=None,
        dropout=0.0,
        grouped=False,
        model_error=0.04,
    )


@pytest.mark.parametrize("token_correlation", [0.0, 0.5])
@pytest.mark.parametrize("variance", [1.0, 2.0])
def test_self_attention_with_real_projections(token_correlation, variance):
    """Keys and values from one input.

    With the correction the variance is right to 4 %, at every draw of weights.
    """
    B, T, H, d = 4, 24, 4, 16
    D = H * d
    x = components((B, T, D), 0.0, {(0, 1, 2): 1 - token_correlation, (0, 2): token_correlation})

    def run(t):
        q, k, v = (t @ (torch.randn(D, D, dtype=t.dtype) * g / D**0.5) for g in (variance**0.5, variance**0.5, 1.0))
        q, k, v = (z.reshape(B, T, H, d).transpose(1, 2) for z in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v)

    def projected(gain):
        C = x.K * gain
        split = np.zeros((2, 2, 2, 2))  # batch, head, token, feature
        split[:, 0, :, 0] = C[:, :, 0]
        return Signal((B, H, T, d), 0.0, split)

    q, k, v = projected(variance), projected(variance), projected(1.0)
    y = predict("attention", [q, k, v], [(B, H, T, d)], causal=False, scale=None, dropout=0.0, grouped=False)
    compare(y, measure([x], run, 250)[0], model_error=0.04)


# --- contraction -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("bij,jk->bik", [(3, 4, 5), (5, 6)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("bi,bj->bij", [(4, 3), (4, 5)]),
        ("bij,bik->j", [(2, 3, 4), (2, 3, 5)]),
    ],
)
def test_einsum_moments(equation, shapes):
    left, out = equation.split("->")
    inputs = left.split(",")
    rng = np.random.default_rng(0)
    signals = []
    for shape in shapes:
        d = len(shape)
        parts = {axes: float(rng.uniform(0, 1)) for axes in [tuple(range(d)), (0,), (d - 1,), ()]}
        signals.append(components(shape, float(rng.normal()), parts))
    sizes = {c: n for labels, shape in zip(inputs, shapes, strict=True) for c, n in zip(labels, shape, strict=True)}
    mean, K = einsum_moments(inputs, out, signals)
    shape = tuple(sizes[c] for c in out)
    compare(Signal(shape, mean, K), measure(signals, lambda *t: torch.einsum(equation, *t), 1000)[0])


def test_matmul_moments_broadcast():
    a, b = (
        components((3, 4, 5), 0.5, {(0, 1, 2): 1.0, (1,): 0.5}),
        components((2, 1, 5, 6), 0.2, {(0, 1, 2, 3): 1.0, (2,): 0.4}),
    )
    mean, K = matmul_moments(a, b)
    compare(Signal((2, 3, 4, 6), mean, K), measure([a, b], torch.matmul, 1000)[0])


def test_shares_may_stand_behind_the_values():
    """v p^T is (p v^T)^T, what keys and values share included."""
    logits = iid((2, 6, 6), 0.0, 2.0)
    values = Signal((2, 6, 3), 0.0, iid((2, 6, 3)).K, deficiency=1 / 3)
    p = predict("softmax", [logits], [(2, 6, 6)], axis=2)
    one = predict("matmul", [p, values], [(2, 6, 3)])
    turned = predict("permute", [p], [(2, 6, 6)], perm=(0, 2, 1))
    v = Signal((2, 3, 6), 0.0, iid((2, 3, 6)).K, deficiency=1 / 3)
    two = predict("matmul", [v, turned], [(2, 3, 6)])
    np.testing.assert_allclose(two.K, one.K.transpose(0, 2, 1))
    alone = predict("matmul", [p, iid((2, 6, 3))], [(2, 6, 3)])
    assert one.second > 1.1 * alone.second


@pytest.mark.parametrize("equation", ["rtw,rsw->rts", "rtw,rtv->rwv", "rtw,stv->rwsv"])
def test_a_tensor_meets_itself(equation):
    """Wherever the free places of both factors may be the same: rows, or features, of which a pair in 64 is."""
    program = Program()
    x, y = program.input(iid((2, 12, 64))), program.input(iid((2, 12, 64)))
    for other, expected in ((x, True), (y, False)):
        node = Node("einsum", (x, other), (program.new((1,)),), {"equation": equation})
        assert program.relations(node).meets_itself(equation) is expected


def test_a_product_meets_its_factor():
    program = Program()
    x, y = program.input(iid((2, 12, 64))), program.input(iid((2, 64, 64)))
    turned = program.op("permute", x, shape=(2, 64, 12), perm=(0, 2, 1))
    gram = program.op("matmul", turned, x, shape=(2, 64, 64))
    for other, expected in ((gram, True), (y, False)):
        node = Node("matmul", (x, other), (program.new((2, 12, 64)),), {})
        assert program.relations(node).meets_itself("amk,akp->amp") is expected
