"""Weights on their way to a contraction: masks, gains, products, views, functions. One line per case.

Whatever happens to a parameter inside forward, if it is set it is random, and the output is on target (the mean over
draws within a factor of two; the plan predicts it too), or a note says why that cannot be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import autoinit
from autoinit.testing import violations

DRAWS = 6
N, O, I = 128, 48, 64  # noqa: E741
X, MAP = (N, I), (8, 16, 10, 10)
G = torch.Generator().manual_seed(0)
HALF = torch.rand(O, I, generator=G) < 0.5
TAPS = torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
INDEX = (torch.arange(I)[:, None] - torch.arange(I)) % I
MIX = torch.randn(6, O, I, generator=G)
STEPS, ZEROS = torch.full((O,), 0.01), torch.zeros(O, dtype=torch.int32)
ORDER = torch.randperm(I, generator=G)


class Net(nn.Module):
    """A forward in one line: parameters and buffers by name."""

    def __init__(self, forward: Callable[[Any, Tensor], Tensor], **held: Any) -> None:
        super().__init__()
        self.body = forward
        for name, item in held.items():
            if isinstance(item, tuple):
                item = nn.Parameter(torch.randn(item))
            if isinstance(item, Tensor) and not isinstance(item, nn.Parameter):
                self.register_buffer(name, item)
            else:
                setattr(self, name, item)

    def forward(self, x: Tensor) -> Tensor:
        return self.body(self, x)


def fixed(tensor: Tensor) -> nn.Parameter:
    return nn.Parameter(tensor, requires_grad=False)


def q(w: Tensor, step: Any = 0.05) -> Tensor:
    return torch.round(w / step) * step


def lin(weight: Callable[[Any], Tensor], **held: Any) -> Callable[[], nn.Module]:
    """A dense layer with a weight that is made in forward."""
    return lambda: Net(lambda s, x: F.linear(x, weight(s)), **held)


def conv(weight: Callable[[Any], Tensor], **held: Any) -> Callable[[], nn.Module]:
    return lambda: Net(lambda s, x: F.conv2d(x, weight(s), padding=1), **held)


def net(forward: Callable[[Any, Tensor], Tensor], **held: Any) -> Callable[[], nn.Module]:
    return lambda: Net(forward, **held)


def modulated(s: Any, x: Tensor, demodulate: bool = False) -> Tensor:
    """The modulated convolution of StyleGAN2, its batch in the groups."""
    n = x.shape[0]
    style = s.style(8 * x.mean((2, 3))) + 1
    w = s.w[None] * style[:, None, :, None, None]
    if demodulate:
        w = w * torch.rsqrt(w.square().sum((2, 3, 4), keepdim=True) + 1e-8)
    y = F.conv2d(x.reshape(1, -1, *x.shape[2:]), w.reshape(-1, *w.shape[2:]), padding=1, groups=n)
    return y.reshape(n, -1, *x.shape[2:])


def unrolled(s: Any, x: Tensor) -> Tensor:
    h = x.new_zeros(x.shape[0], 64)
    for t in range(2):
        h = s.a(x) + s.b(torch.tanh(h)) if t else torch.tanh(s.a(x) + s.b(h))
    return 0.5**0.5 * h


W, SQ, K = (O, I), (I, I), (24, 16, 3, 3)

# --- on target: (module, input shape, parameters that are drawn) -----------------------------------------------------

ON_TARGET: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], str]] = {
    "float mask": (lin(lambda s: s.w * s.m, w=W, m=HALF.float()), X, "w"),
    "mask first": (lin(lambda s: s.m * s.w, w=W, m=HALF.float()), X, "w"),
    "bool mask": (lin(lambda s: s.w * s.m, w=W, m=HALF), X, "w"),
    "integer mask": (lin(lambda s: s.w * s.m, w=W, m=HALF.long()), X, "w"),
    "mask of ones": (lin(lambda s: s.w * s.m, w=W, m=torch.ones(W)), X, "w"),
    "frozen mask": (lin(lambda s: s.w * s.m, w=W, m=fixed(HALF.float())), X, "w"),
    "mask of rows": (lin(lambda s: s.w * s.m, w=W, m=HALF[:, :1].float()), X, "w"),
    "mask of columns": (lin(lambda s: s.w * s.m, w=W, m=HALF[0].float()), X, "w"),
    "mask made in forward": (lin(lambda s: s.w * torch.ones(W).tril(), w=W), X, "w"),
    "two masks": (lin(lambda s: s.w * s.m * s.n, w=W, m=HALF.float(), n=HALF.flip(0)), X, "w"),
    "mask of a view": (lin(lambda s: (s.w.T * s.m.T).T, w=W, m=HALF.float()), X, "w"),
    "where": (lin(lambda s: torch.where(s.m, s.w, 0.0), w=W, m=HALF), X, "w"),
    "where, zeros": (lin(lambda s: torch.where(s.m, s.w, torch.zeros_like(s.w)), w=W, m=HALF), X, "w"),
    "masked_fill": (lin(lambda s: s.w.masked_fill(s.m, 0), w=W, m=HALF), X, "w"),
    "mask in place": (lin(lambda s: s.w.clone().mul_(s.m), w=W, m=HALF.float()), X, "w"),
    "scores": (lin(lambda s: s.w * (s.s > 0.5), w=W, s=W), X, "w"),
    "magnitudes": (lin(lambda s: s.w * (s.w.abs() > 0.1), w=W), X, "w"),
    "dropped connections": (lin(lambda s: F.dropout(s.w, 0.5, s.training), w=W), X, "w"),
    "lower triangle": (lin(lambda s: torch.tril(s.w), w=SQ), X, "w"),
    "upper triangle": (net(lambda s, x: x @ torch.triu(s.w), w=SQ), X, "w"),
    "masked taps": (conv(lambda s: s.w * s.m, w=K, m=TAPS), MAP, "w"),
    "masked vector": (net(lambda s, x: x @ (s.w * s.m).expand(8, I).T, w=(I,), m=HALF[0]), X, "w"),
    "masked experts": (net(lambda s, x: torch.einsum("bi,eio->beo", x, s.w * s.m), w=(4, I, O), m=HALF.T), X, "w"),
    "half precision": (net(lambda s, x: F.linear(x.half(), (s.w * s.m).half()).float(), w=W, m=HALF), X, "w"),
    "product": (lin(lambda s: s.a @ s.b, a=(O, 8), b=(8, I)), X, "a b"),
    "product, right": (net(lambda s, x: x @ (s.a @ s.b), a=(I, 8), b=(8, O)), X, "a b"),
    "three factors": (lin(lambda s: s.a @ s.b @ s.c, a=(O, 8), b=(8, 8), c=(8, I)), X, "a b c"),
    "product by linear": (lin(lambda s: F.linear(s.a, s.b), a=(O, 8), b=(I, 8)), X, "a b"),
    "one factor frozen": (lin(lambda s: s.a @ s.b, a=fixed(torch.randn(O, 8)), b=(8, I)), X, "b"),
    "kron": (lin(lambda s: torch.kron(s.a, s.b), a=(6, 8), b=(8, 8)), X, "a b"),
    "Tucker": (conv(lambda s: torch.einsum("or,rskl,si->oikl", s.a, s.b, s.c), a=(24, 8), b=(8, 6, 3, 3), c=(6, 16)), MAP, "a b c"),  # noqa: E501
    "CP": (lin(lambda s: torch.einsum("or,ir->oi", s.a, s.b), a=(O, 8), b=(I, 8)), X, "a b"),
    "CP on data": (net(lambda s, x: torch.einsum("bi,ir,or->bo", x, s.a, s.b), a=(I, 8), b=(O, 8)), X, "a b"),
    "product of entries": (lin(lambda s: s.a * s.b, a=W, b=W), X, "a b"),
    "outer product": (lin(lambda s: torch.outer(s.a, s.b), a=(O,), b=(I,)), X, "a b"),
    "outer, broadcast": (lin(lambda s: s.a[:, None] * s.b, a=(O,), b=(I,)), X, "a b"),
    "symmetric": (lin(lambda s: s.w + s.w.T, w=SQ), X, "w"),
    "antisymmetric": (lin(lambda s: s.w - s.w.T, w=SQ), X, "w"),
    "sum": (lin(lambda s: s.a + s.b, a=W, b=W), X, "a b"),
    "low rank update": (lin(lambda s: s.w + 2.0 * (s.b @ s.a), w=W, a=(4, I), b=(O, 4)), X, "w a b"),
    "zero update": (lin(lambda s: s.w + 2.0 * (s.b @ s.a), w=W, a=(4, I), b=nn.Parameter(torch.zeros(O, 4))), X, "w a"),
    "update of frozen": (lin(lambda s: s.w + s.b @ s.a, w=fixed(0.05 * torch.randn(W)), a=(4, I), b=(O, 4)), X, "a b"),
    "circulant": (lin(lambda s: s.c[INDEX], c=(I,)), X, "c"),
    "permuted columns": (lin(lambda s: s.w[:, ORDER], w=W), X, "w"),
    "flipped taps": (conv(lambda s: s.w.flip(2, 3), w=K), MAP, "w"),
    "stretched taps": (conv(lambda s: F.interpolate(s.w, size=(3, 3), mode="bilinear"), w=(24, 16, 5, 5)), MAP, "w"),
    "rows joined": (lin(lambda s: torch.cat([s.a, s.b]), a=(20, I), b=(28, I)), X, "a b"),
    "complex as real": (lin(lambda s: torch.cat([torch.cat([s.a, -s.b], 1), torch.cat([s.b, s.a], 1)]), a=(24, 32), b=(24, 32)), X, "a b"),  # noqa: E501
    "blocks": (lin(lambda s: torch.block_diag(s.a, s.b), a=(24, 32), b=(24, 32)), X, "a b"),
    "fixed patterns": (lin(lambda s: torch.einsum("ok,kij->oij", s.c, MIX[:, :6]).reshape(-1, I), c=(8, 6)), X, "c"),
    "sum of products": (net(lambda s, x: (x.unsqueeze(-2) * s.w).sum(-1), w=W), X, "w"),
    "mean of products": (net(lambda s, x: (x.unsqueeze(-2) * s.w).mean(-1), w=W), X, "w"),
    "sum, masked": (net(lambda s, x: (x.unsqueeze(-2) * (s.w * s.m)).sum(-1), w=W, m=HALF), X, "w"),
    "scores of heads": (net(lambda s, x: (x.view(-1, 4, 16) * s.a).sum(-1), a=(1, 4, 16)), X, "a"),
    "locally connected": (net(lambda s, x: (F.unfold(x, 3)[:, None] * s.w).sum(2), w=(24, 144, 64)), MAP, "w"),
    "locally, einsum": (net(lambda s, x: torch.einsum("bkp,okp->bop", F.unfold(x, 3), s.w), w=(24, 144, 64)), MAP, "w"),
    "fake quantised": (lin(lambda s: torch.fake_quantize_per_tensor_affine(s.w, 0.01, 0, -128, 127), w=W), X, "w"),
    "quantised by rows": (lin(lambda s: torch.fake_quantize_per_channel_affine(s.w * s.m, STEPS, ZEROS, 0, -128, 127), w=W, m=HALF), X, "w"),  # noqa: E501
    "quantised by a parameter": (lin(lambda s: torch._fake_quantize_learnable_per_tensor_affine(s.w, s.t, torch.zeros(1), -8, 7), w=W, t=nn.Parameter(torch.tensor([0.05]))), X, "w"),  # noqa: E501
    "rounded": (lin(lambda s: q(s.w), w=W), X, "w"),
    "rounded by its maximum": (lin(lambda s: q(s.w, s.w.abs().max() / 127), w=W), X, "w"),
    "straight through": (lin(lambda s: s.w + (q(s.w) - s.w).detach(), w=W), X, "w"),
    "learned step": (lin(lambda s: q(s.w, s.t).clamp(-0.4, 0.35), w=W, t=nn.Parameter(torch.tensor(0.05))), X, "w"),
    "signs, sized": (lin(lambda s: s.w.sign() * s.w.abs().mean(), w=W), X, "w"),
    "signs, scaled": (lin(lambda s: s.w.sign() / 8, w=W), X, "w"),
    "signs of ones": (lin(lambda s: s.w.sign() / 8, w=nn.Parameter(torch.ones(W))), X, "w"),
    "signs and gains": (lin(lambda s: s.w.sign() * s.g, w=W, g=nn.Parameter(torch.ones(O, 1))), X, "w"),
    "ternary": (lin(lambda s: s.w.sign() * (s.w.abs() > 0.7 * s.w.abs().mean()) * s.w.abs().mean(), w=W), X, "w"),
    "tanh": (lin(lambda s: s.w.tanh(), w=W), X, "w"),
    "clamped": (lin(lambda s: s.w.clamp(-0.2, 0.2), w=W), X, "w"),
    "absolute": (lin(lambda s: s.w.abs(), w=W), X, "w"),
    "squared": (lin(lambda s: s.w.square(), w=W), X, "w"),
    "gated": (lin(lambda s: s.w * s.g.sigmoid(), w=W, g=W), X, "w g"),
    "rows of length one": (lin(lambda s: s.w / s.w.norm(dim=1, keepdim=True), w=W), X, "w"),
    "normalised ones": (lin(lambda s: F.normalize(s.w), w=nn.Parameter(torch.ones(W))), X, "w"),
    "standardised": (lin(lambda s: (s.w - s.w.mean(1, keepdim=True)) / (8 * s.w.std(1, keepdim=True) + 1e-5), w=W), X, "w"),  # noqa: E501
    "gain of rows": (lin(lambda s: s.w * s.g, w=W, g=nn.Parameter(torch.full((O, 1), 3.0))), X, "w"),
    "exponential gain": (lin(lambda s: s.w * s.g.exp(), w=W, g=nn.Parameter(torch.ones(O, 1))), X, "w"),
    "posterior": (lin(lambda s: s.w + F.softplus(s.r) * torch.randn_like(s.r), w=W, r=nn.Parameter(torch.full(W, -5.0))), X, "w"),  # noqa: E501
    "noise level": (lin(lambda s: s.w + s.n * MIX[0], w=W, n=nn.Parameter(torch.full(W, 0.02))), X, "w"),
    "modulated": (net(modulated, w=K, style=nn.Linear(16, 16)), MAP, "w style.weight"),
    "demodulated": (net(lambda s, x: modulated(s, x, True), w=K, style=nn.Linear(16, 16)), MAP, "w style.weight"),
    "mixture of kernels": (net(lambda s, x: F.linear(x, (s.r(x.mean(0)).sigmoid() @ s.w).view(O, I)), w=(4, O * I), r=nn.Linear(I, 4)), X, "w r.weight"),  # noqa: E501
    "generated": (net(lambda s, x: torch.einsum("boi,bi->bo", s.g(x[:, :16]).view(-1, 24, 48), x[:, 16:]), g=nn.Linear(16, 24 * 48)), X, "g.weight"),  # noqa: E501
    "generated, bmm": (net(lambda s, x: torch.bmm(s.g(x[:, :16]).view(-1, 24, 48), x[:, 16:, None]), g=nn.Linear(16, 24 * 48)), X, "g.weight"),  # noqa: E501
    "generated by a code": (net(lambda s, x: F.linear(x, s.g(s.e).view(O, I)), g=nn.Linear(16, O * I), e=(16,)), X, "g.weight e"),  # noqa: E501
    "assembled": (lin(lambda s: torch.zeros(O, I).index_copy(1, ORDER[:32], s.w), w=(O, 32)), X, "w"),
    "expanded": (net(lambda s, x: torch.bmm(x.view(4, 32, I), s.w.expand(4, I, O)), w=(I, O)), X, "w"),
    "unrolled from zeros": (net(unrolled, a=nn.Linear(I, 64), b=nn.Linear(64, 64)), X, "a.weight b.weight"),
}  # fmt: skip


def studied(build: Callable[[], nn.Module], shape: tuple[int, ...]) -> tuple[nn.Module, autoinit.Plan, float]:
    """The model, its plan, and the measured second moment of the output, averaged over draws."""
    torch.manual_seed(0)
    model = build()
    plan = autoinit.plan(model, shape)
    found = []
    for seed in range(DRAWS):
        plan.apply(model, seed=seed)
        torch.manual_seed(seed)
        with torch.no_grad():
            found.append(float(model(torch.randn(shape)).double().square().mean()))
    return model, plan, float(np.mean(found))


def values(model: nn.Module) -> dict[str, Any]:
    return {name: p.detach().numpy() for name, p in model.named_parameters()}


@pytest.mark.parametrize("name", ON_TARGET)
def test_a_weight_is_random_and_on_target(name: str) -> None:
    build, shape, drawn = ON_TARGET[name]
    model, plan, second = studied(build, shape)
    assert {p.name for p in plan.parameters if p.action == "set"} == set(drawn.split())
    assert not violations(plan, values(model))
    assert 0.5 < second < 2.0
    assert plan.tensors[plan.outputs[0]].second == pytest.approx(second, rel=0.5)
    assert not plan.warnings


# --- what no scale brings there: (module, a word of the note or reason, E[y^2] of the plan) ---------------------------

SAID: dict[str, tuple[Callable[[], nn.Module], str, float]] = {
    "signs": (lin(lambda s: s.w.sign(), w=W), "no effect", I),
    "length one": (lin(lambda s: s.w / s.w.norm(), w=W), "no effect", 1 / O),
    "softmax": (lin(lambda s: s.w.softmax(-1), w=W), "whatever the scale", 1 / I),
    "softplus": (lin(lambda s: F.softplus(s.w), w=W), "whatever the scale", 31.2),
    "exponential": (lin(lambda s: s.w.exp(), w=W), "whatever the scale", 66.0),
    "sigmoid": (lin(lambda s: s.w.sigmoid(), w=W), "whatever the scale", 16.1),
    "clamped tightly": (lin(lambda s: s.w.clamp(-0.01, 0.01), w=W), "whatever the scale", 0.0061),
    "beside the identity": (lin(lambda s: torch.eye(I) + s.w, w=SQ), "whatever the scale", 2.0),
    "all masked": (lin(lambda s: s.w * s.m, w=W, m=torch.zeros(W)), "is zero", 0.0),
}


@pytest.mark.parametrize("name", SAID)
def test_what_cannot_be_is_said(name: str) -> None:
    build, word, expected = SAID[name]
    model, plan, second = studied(build, X)
    assert plan["w"].action == "set" and plan["w"].std == pytest.approx(I**-0.5)
    assert any(word in note.message for note in plan.notes)
    assert not violations(plan, values(model))
    assert plan.tensors[plan.outputs[0]].second == pytest.approx(expected, rel=0.05)
    assert second == pytest.approx(expected, rel=0.3)


# --- what stays: gains, mixtures, norms -------------------------------------------------------------------------------

LEFT: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], str]] = {
    "layer scale, then a mean": (net(lambda s, x: (s.l(x).view(-1, 4, 12) * s.p).mean(1), l=nn.Linear(I, O), p=nn.Parameter(torch.full((12,), 0.1))), X, "p"),  # noqa: E501
    "norm scale, then a sum": (net(lambda s, x: (F.layer_norm(s.l(x), (O,)).square() * s.p).sum(-1), l=nn.Linear(I, O), p=nn.Parameter(torch.ones(O))), X, "p"),  # noqa: E501
    "scalar mix": (net(lambda s, x: (torch.stack([x, s.l(x)]) * s.p.softmax(0).view(2, 1, 1)).sum(0), l=nn.Linear(I, I), p=nn.Parameter(torch.ones(2))), X, "p"),  # noqa: E501
    "temperature": (net(lambda s, x: F.linear(F.normalize(x), F.normalize(s.l.weight)) * s.p, l=nn.Linear(I, O), p=nn.Parameter(torch.tensor(10.0))), X, "p"),  # noqa: E501
    "gate": (net(lambda s, x: x + s.p * s.l(x), l=nn.Linear(I, I), p=nn.Parameter(torch.tensor(0.5))), X, "p"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_gains_stay_as_they_are(name: str) -> None:
    build, shape, kept = LEFT[name]
    torch.manual_seed(0)
    model = build()
    before = model.get_parameter(kept).detach().clone()
    plan = autoinit.initialize(model, shape)
    assert plan[kept].action == "kept" and plan["l.weight"].action == "set"
    assert torch.equal(model.get_parameter(kept), before)
