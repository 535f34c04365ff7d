"""Residual trunks are found however they are written, and nothing else is taken for one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import autoinit
from autoinit.core.graph.trunk import Norm, Skip
from tests.core.graph.trunks import SHAPE, Net, additions, linear, norm, prenorm, targets


def test_prenorm() -> None:
    found = additions(prenorm(6))
    assert [(one.skip, one.norm, one.n, one.terms) for one in found] == [(Skip.IDENTITY, Norm.INSIDE, 6, 1)] * 6
    assert [len(one.ends) for one in found] == [1] * 6
    assert len({one.group for one in found}) == 1


def test_postnorm() -> None:
    def forward(net: Net, x: Tensor) -> Tensor:
        for layer, after in zip(net.layers, net.norms, strict=True):  # type: ignore[call-overload, arg-type]
            x = after(x + layer(x))
        return x

    net = Net(forward, layers=nn.ModuleList(linear() for _ in range(4)), norms=nn.ModuleList(norm() for _ in range(4)))
    assert [(one.norm, one.n) for one in additions(net)] == [(Norm.AFTER, 4)] * 4


def test_without_norm_every_weight_has_its_depth() -> None:
    net = Net(lambda n, x: x + n.c(F.relu(n.b(F.relu(n.a(x))))), a=linear(), b=linear(), c=linear())
    (one,) = additions(net)
    assert one.norm is Norm.NONE
    assert [depth for _, depth in one.weights] == [1, 2, 3]


def test_branch_that_ends_in_a_norm() -> None:
    (one,) = additions(Net(lambda n, x: x + n.n(n.a(x)), a=linear(), n=norm()))
    assert (one.norm, one.ends) == (Norm.END, ())


PARALLEL: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "after": lambda x, f, g: x + f + g,
    "inside": lambda x, f, g: x + (f + g),
    "stacked": lambda x, f, g: x + torch.stack([f, g]).sum(0),
    "stacked last": lambda x, f, g: x + torch.stack([f, g], -1).sum(-1),
    "side by side": lambda x, f, g: x + torch.cat([f[None], g[None]]).sum(0),
}


@pytest.mark.parametrize("written", PARALLEL)
def test_parallel_branches_count_each(written: str) -> None:
    def forward(n: Net, x: Tensor) -> Tensor:
        y = n.n(x)
        return PARALLEL[written](x, n.a(y), n.b(y))

    found = additions(Net(forward, a=linear(), b=linear(), n=norm()))
    assert sum(one.terms for one in found) == 2
    assert {one.n for one in found} == {2}
    assert sum(len(one.ends) for one in found) == 2


def test_a_mean_of_branches_has_its_share_already() -> None:
    """x + (f + g) / 2: each term is added at half its size."""

    def forward(n: Net, x: Tensor) -> Tensor:
        y = n.n(x)
        return x + torch.stack([n.a(y), n.b(y)]).mean(0)

    (one,) = additions(Net(forward, a=linear(), b=linear(), n=norm()))
    assert (one.terms, [end.number for end in one.ends]) == (2, [0.5, 0.5])


def test_parts_of_a_branch_end_in_a_weight_each_and_count_once() -> None:
    def forward(n: Net, x: Tensor) -> Tensor:
        for _ in range(2):
            y = n.n(x)
            x = x + torch.cat([n.a(y), n.b(y)], -1)
        return x

    found = additions(Net(forward, a=nn.Linear(8, 5), b=nn.Linear(8, 3), n=norm()))
    assert [(one.terms, one.n, len(one.ends)) for one in found] == [(1, 2, 2)] * 2


def test_projection() -> None:
    class Block(nn.Module):
        def __init__(self, inner: int, outer: int) -> None:
            super().__init__()
            self.a, self.b = nn.Conv2d(inner, outer, 3, 2, 1), nn.Conv2d(outer, outer, 3, 1, 1)
            self.skip = nn.Conv2d(inner, outer, 1, 2)

        def forward(self, x: Tensor) -> Tensor:
            x = F.relu(x)
            return self.skip(x) + self.b(F.relu(self.a(x)))

    net = nn.Sequential(nn.Conv2d(3, 8, 3), Block(8, 8), Block(8, 16))
    assert [(one.skip, one.trunk, one.n) for one in additions(net, (2, 3, 16, 16))] == [(Skip.PROJECTION, 0, 2)] * 2


def test_shared_block_counts_every_use() -> None:
    def forward(net: Net, x: Tensor) -> Tensor:
        for _ in range(4):
            x = x + net.a(net.n(x))
        return x

    assert [one.n for one in additions(Net(forward, a=linear(), n=norm()))] == [4] * 4


def softsign_of_another_slope(x: Tensor) -> Tensor:
    return 1.0 - 3.0 * x / (2.0 + (5.0 * x).abs())


def sigmoid_by_hand(x: Tensor) -> Tensor:
    return 0.5 * (1.0 + torch.tanh(0.5 * x))


@pytest.mark.parametrize(
    "gate",
    [torch.sigmoid, torch.tanh, F.hardsigmoid, F.softsign, softsign_of_another_slope, sigmoid_by_hand],
)
def test_looks_through_moves_dropout_gates_numbers_and_gains(gate: Callable[[Tensor], Tensor]) -> None:
    def forward(net: Net, x: Tensor) -> Tensor:
        y = net.a(net.n(x)).transpose(1, 2).reshape(4, 40)
        y = F.dropout(y, 0.1, net.training).reshape(4, 8, 5).transpose(1, 2)
        y = gate(net.gate(x)) * y
        return x + 0.5 * (net.gamma * y)

    net = Net(forward, a=linear(), gate=linear(), n=norm(), gamma=nn.Parameter(torch.full((8,), 0.2)))
    (one,) = additions(net)
    (end,) = one.ends
    assert (end.number, [view.name for view in end.gains]) == (0.5, ["gamma"])
    assert targets(net, residual="zero")["a.weight"] is None  # the gated one, and not the gate
    assert autoinit.plan(net, SHAPE, residual="zero", warn=False)["a.weight"].action == "zero"


def rms(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def rms_of_doubles(x: Tensor) -> Tensor:
    x = x.double()
    return ((x * x).mean(-1, keepdim=True) + 1e-6).rsqrt() * x


def divided_by_its_size(x: Tensor) -> Tensor:
    return x / x.norm(dim=-1, keepdim=True).clamp(min=1e-12)


def centred(x: Tensor) -> Tensor:
    y = x - x.mean(-1, keepdim=True)
    return y / (y.square().mean(-1, keepdim=True) + 1e-6).sqrt()


def centred_twice(x: Tensor) -> Tensor:
    variance = (x - x.mean(-1, keepdim=True)).pow(2).mean(-1, keepdim=True)
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(variance + 1e-6)


def standardised(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6)


BY_HAND = [rms, rms_of_doubles, divided_by_its_size, centred, centred_twice, standardised]


@pytest.mark.parametrize("norm", BY_HAND)
def test_norms_that_are_written_out(norm: Callable[[Tensor], Tensor]) -> None:
    inside, end, after = (
        additions(Net(function, a=linear(), b=linear(), gain=nn.Parameter(torch.ones(8))))
        for function in (
            lambda n, x: x + n.b(F.relu(n.a(n.gain * norm(x).to(x.dtype)))),
            lambda n, x: x + n.gain * norm(n.a(x)).to(x.dtype),
            lambda n, x: n.b(n.gain * norm(x + n.a(x)).to(x.dtype)),
        )
    )
    assert [(one.norm, len(one.ends)) for one in (*inside, *end, *after)] == [
        (Norm.INSIDE, 1), (Norm.END, 0), (Norm.AFTER, 1)
    ]  # fmt: skip


@pytest.mark.parametrize("gained", [True, False])
def test_zero_ends_behind_a_norm_that_is_written_out(gained: bool) -> None:
    gain = nn.Parameter(torch.ones(8))
    net = Net(lambda n, x: x + (n.gain if gained else 1.0) * rms(n.a(x)), a=linear(), gain=gain)
    plan = autoinit.initialize(net, SHAPE, residual="zero", warn=False)
    x = torch.randn(SHAPE)
    torch.testing.assert_close(net(x), x)
    assert plan["a.weight"].action == ("set" if gained else "zero")


def divided_by_sums(net: Net, x: Tensor) -> Tensor:
    """Shares: nothing is squared."""
    y = x.exp()
    return y / y.sum(-1, keepdim=True)


def far_from_zero(net: Net, x: Tensor) -> Tensor:
    """x / (1 + |x|) has a size: what is added is no guard against zero."""
    return x / (1.0 + x.norm(dim=-1, keepdim=True))


def by_the_square(net: Net, x: Tensor) -> Tensor:
    return x / (x.pow(2).mean(-1, keepdim=True) + 1e-6)


def by_another(net: Net, x: Tensor) -> Tensor:
    return x * torch.rsqrt(net.c(x).pow(2).mean(-1, keepdim=True) + 1e-6)


@pytest.mark.parametrize("function", [divided_by_sums, far_from_zero, by_the_square, by_another])
def test_quotients_that_are_no_norms(function: Callable[..., Tensor]) -> None:
    net = Net(lambda n, x: x + n.b(F.relu(n.a(function(n, x)))), a=linear(), b=linear(), c=linear())
    assert [one.norm for one in additions(net)] == [Norm.NONE]


def test_the_recipe_scales_the_end_behind_a_norm_that_is_written_out() -> None:
    def forward(net: Net, x: Tensor) -> Tensor:
        for block in net.blocks:  # type: ignore[union-attr]
            x = x + block(rms(x))
        return x

    blocks = nn.ModuleList(nn.Sequential(linear(), nn.ReLU(), linear()) for _ in range(4))
    found = targets(Net(forward, blocks=blocks), residual="depth")
    assert {name: found[f"blocks.2.{name}.weight"] for name in "02"} == {"0": 1.0, "2": pytest.approx(1 / 4)}


def test_x_and_its_pooled_self_are_no_skip_of_the_addition_before() -> None:
    def forward(net: Net, x: Tensor) -> Tensor:
        x = x + net.a(net.n(x))
        return x + 0.1 * (F.avg_pool1d(x, 3, 1, 1) - x)

    assert [one.n for one in additions(Net(forward, a=linear(), n=norm()))] == [1]


def test_a_projection_whose_other_channels_are_kept_apart() -> None:
    """The first block of a dual path network: one part is added, the other one joined."""

    def forward(net: Net, x: Tensor) -> Tensor:
        x = F.relu(x)
        shortcut, deep = net.skip(x), net.b(F.relu(net.a(x)))
        return torch.cat([shortcut[..., :5] + deep[..., :5], shortcut[..., 5:], deep[..., 5:]], -1)

    layers = {name: linear() for name in ("skip", "a", "b")}
    (one,) = additions(Net(forward, **layers))
    assert (one.skip, one.trunk, one.n) == (Skip.PROJECTION, 0, 1)


@pytest.mark.parametrize(("deep", "found"), [(3, [Skip.PROJECTION]), (2, [])])
def test_a_projection_of_two_weights_beside_a_deeper_branch(deep: int, found: list[Skip]) -> None:
    def forward(net: Net, x: Tensor) -> Tensor:
        x = F.relu(x)
        return net.skip(x) + net.deep(x)

    skip, branch = nn.Sequential(linear(), norm(), linear()), [linear() for _ in range(deep)]
    assert [one.skip for one in additions(Net(forward, skip=skip, deep=nn.Sequential(*branch)))] == found


def test_copies_that_nobody_reads_do_not_count() -> None:
    def forward(net: Net, x: Tensor) -> Tensor:
        x = F.relu(x)
        y = net.a(x)
        y.transpose(0, 1).contiguous()
        return net.skip(x) + net.b(F.relu(y))

    layers = {name: linear() for name in ("skip", "a", "b")}
    assert [one.skip for one in additions(Net(forward, **layers))] == [Skip.PROJECTION]


def test_weight_computed_in_forward_is_an_end() -> None:
    def forward(net: Net, x: Tensor) -> Tensor:
        w = net.w - net.w.mean(1, keepdim=True)
        return x + F.linear(x, w / w.std(1, keepdim=True))

    (one,) = additions(Net(forward, w=nn.Parameter(torch.randn(8, 8))))
    assert len(one.ends) == 1


def rotary(net: Net, x: Tensor) -> Tensor:
    y = net.a(x)
    angle = torch.arange(5.0)[:, None] * torch.ones(8)
    return y * angle.cos() + torch.cat([-y[..., 4:], y[..., :4]], -1) * angle.sin()


def gelu_by_hand(net: Net, x: Tensor) -> Tensor:
    y = net.a(x)
    return 0.5 * y * (1 + torch.tanh(0.8 * (y + 0.044715 * y**3)))


def logits(net: Net, x: Tensor) -> Tensor:
    q, k = net.a(x), net.b(x)
    return torch.softmax(q @ k.transpose(1, 2) + (q @ net.a(k).transpose(1, 2)), -1) @ x


def pyramid(net: Net, x: Tensor) -> Tensor:
    deep = net.b(F.relu(net.a(x)))
    return torch.cat([net.c(x) + F.relu(net.d(deep)), deep], -1)


def channels_apart(net: Net, x: Tensor) -> Tensor:
    y = net.a(x)
    one, two = y[..., :4], y[..., 4:]
    return torch.cat([one, two + F.relu(net.e(one))], -1)


def queries_that_are_added(net: Net, x: Tensor) -> Tensor:
    """Residual pooling of MViT: queries, and what they asked for."""
    q = net.a(x)
    return q + torch.softmax(net.d(q) @ net.b(x).transpose(1, 2), -1) @ net.c(x)


def skip_of_a_scan(net: Net, x: Tensor) -> Tensor:
    """Mamba: what goes in decides how, and is added with a gain."""
    y = net.a(x)
    states = torch.cumsum(torch.sigmoid(net.b(y)) * y, 1)
    return states + 0.5 * y


def distance(net: Net, x: Tensor) -> Tensor:
    return net.b(F.relu(net.a(x))) - x


def with_its_own_norm(net: Net, x: Tensor) -> Tensor:
    """Convolutions that are joined after training: one of them is a norm alone."""
    y = F.relu(net.a(x))
    return torch.cat([F.layer_norm(net.b(y), (8,)) + F.layer_norm(y, (8,)), x], -1)


def two_towers(net: Net, x: Tensor) -> Tensor:
    return net.a(x) + net.b(x)


@pytest.mark.parametrize("function", [
    rotary, gelu_by_hand, logits, pyramid, channels_apart, two_towers, queries_that_are_added, skip_of_a_scan, distance,
    with_its_own_norm,
])  # fmt: skip
def test_no_trunk(function: Callable[..., Tensor]) -> None:
    layers = {name: linear() for name in "abcd"}
    assert additions(Net(function, e=nn.Linear(4, 4), **layers)) == []
