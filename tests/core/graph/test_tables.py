"""Tables that are added get the size of what they are added to, however they are written."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import autoinit
from tests.core.graph.test_trunk import SHAPE, Net, linear


def std(model: nn.Module, name: str, inputs: object = SHAPE, **options: object) -> float | None:
    plan = autoinit.plan(model, inputs, warn=False, **{"tables": "matched", **options})  # type: ignore[arg-type]
    parts = plan[name].parts
    return parts[0].std if parts else None


def small(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(*shape) * 0.02)


@pytest.mark.parametrize("variance", [1.0, 0.25])
def test_positions_as_a_parameter(variance: float) -> None:
    net = Net(lambda n, x: n.b(n.a(x) + n.positions), a=linear(), b=linear(), positions=small(1, 5, 8))
    assert std(net, "positions", variance=variance) == pytest.approx(variance**0.5, rel=1e-6)
    assert std(net, "positions", tables="kept") is None


def test_cut_out_moved_and_resized() -> None:
    def forward(n: Net, x: Tensor) -> Tensor:
        table = F.interpolate(n.positions.transpose(1, 2), size=5, mode="linear").transpose(1, 2)
        return n.b(3.0 * n.a(x) + table)

    assert std(Net(forward, a=linear(), b=linear(), positions=small(1, 9, 8)), "positions") == pytest.approx(3.0)
    cut = Net(lambda n, x: n.b(n.a(x) + n.positions[:, :5]), a=linear(), b=linear(), positions=small(1, 9, 8))
    assert std(cut, "positions") == pytest.approx(1.0)


def test_positions_as_an_embedding_follow_tokens_that_are_scaled() -> None:
    class Tokens(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.positions, self.head = nn.Embedding(20, 8), nn.Embedding(5, 8), nn.Linear(8, 20)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(self.tokens(x) * 8**0.5 + self.positions(torch.arange(x.shape[1])))

    inputs = torch.randint(0, 20, (4, 5))
    assert std(Tokens(), "positions.weight", inputs) == pytest.approx(8**0.5, rel=1e-6)
    assert std(Tokens(), "tokens.weight", inputs) == pytest.approx(1.0, rel=1e-6)


class Words(nn.Module):
    """Positions are looked up before the tokens that they are added to."""

    def __init__(self, tied: bool, scale: float = 1.0, divisor: float = 1.0, rows: int = 20) -> None:
        super().__init__()
        self.tokens, self.positions, self.norm = nn.Embedding(rows, 64), nn.Embedding(5, 64), nn.LayerNorm(64)
        self.head = nn.Linear(64, rows, bias=False)
        self.scale, self.divisor = scale, divisor
        if tied:
            self.head.weight = self.tokens.weight

    def forward(self, x: Tensor) -> Tensor:
        positions = self.positions(torch.arange(x.shape[1])) / self.divisor
        return self.head(self.norm(positions + self.tokens(x) * self.scale))


IDS = torch.randint(0, 20, (4, 5), generator=torch.Generator().manual_seed(0))


def test_what_a_table_is_added_to_may_come_later() -> None:
    assert std(Words(False, scale=8.0), "positions.weight", IDS) == pytest.approx(8.0, rel=1e-6)
    for tables in ("matched", "kept"):
        plan = autoinit.plan(Words(True, 8.0), IDS, warn=False, tables=tables)
        assert plan["positions.weight"].std == pytest.approx(8.0 * plan["tokens.weight"].std, rel=1e-6)
        assert plan["tokens.weight"].std == pytest.approx(64**-0.5, rel=1e-3)


def test_what_a_table_is_divided_by_counts_beside_a_tied_one() -> None:
    plan = autoinit.plan(Words(True, divisor=4.0), IDS, warn=False)
    assert plan["positions.weight"].std == pytest.approx(4.0 * plan["tokens.weight"].std, rel=1e-6)


def test_beside_a_frozen_tied_table_its_present_size_counts() -> None:
    model = Words(True)
    nn.init.normal_(model.tokens.weight, std=0.5)
    model.tokens.weight.requires_grad_(False)
    present = float(model.tokens.weight.detach().square().mean()) ** 0.5
    assert std(model, "positions.weight", IDS, tables="kept") == pytest.approx(present, rel=1e-6)


def test_tied_tokens_decide() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.positions = nn.Embedding(20, 64), nn.Embedding(5, 64)
            self.norm = nn.LayerNorm(64)

        def forward(self, x: Tensor) -> Tensor:
            y = self.norm(self.tokens(x) + self.positions(torch.arange(x.shape[1])))
            return y @ self.tokens.weight.T

    inputs = torch.randint(0, 20, (4, 5))
    plan = autoinit.plan(Tied(), inputs, warn=False, tables="matched")
    tokens, positions = (plan[f"{name}.weight"].parts[0].std for name in ("tokens", "positions"))
    assert tokens == pytest.approx(64**-0.5, rel=1e-3)
    assert positions == pytest.approx(tokens, rel=1e-3)


@pytest.mark.parametrize("variance", [1.0, 0.25])
@pytest.mark.parametrize(("rows", "share"), [(256, 0.25), (65, 64 / 65), (64, 1.0), (20, 1.0)])
def test_many_rows_in_few_columns(rows: int, share: float, variance: float) -> None:
    plan = autoinit.plan(Words(False, rows=rows), IDS, warn=False, tables="scaled", variance=variance)
    tokens = plan["tokens.weight"].std
    assert tokens == pytest.approx(share * variance**0.5, rel=1e-6)
    assert plan["positions.weight"].std == pytest.approx(tokens, rel=1e-6)


def test_tied_tables_are_as_they_were() -> None:
    plans = [autoinit.plan(Words(True, rows=256), IDS, warn=False, tables=name) for name in ("matched", "scaled")]
    assert [a.std for a in plans[0]] == [b.std for b in plans[1]]


def test_rows_that_are_logits_are_none() -> None:
    """A table of relative positions is looked up, moved and added to logits."""
    where = torch.arange(5)[:, None] - torch.arange(5) + 4

    def forward(n: Net, x: Tensor) -> Tensor:
        return torch.softmax(n.a(x) @ n.b(x).transpose(1, 2) + n.relative(where).squeeze(-1), -1) @ x

    def heads(n: Net, x: Tensor) -> Tensor:
        q, k = (layer(x).view(4, 5, 4, 2).transpose(1, 2) for layer in (n.a, n.b))
        return torch.softmax(q @ k.transpose(2, 3) + n.relative(where).permute(2, 0, 1), -1) @ q

    for one, width in ((forward, 1), (heads, 4)):
        net = Net(one, a=linear(), b=linear(), relative=nn.Embedding(9, width))  # nine distances
        assert std(net, "relative.weight", tables="scaled") == std(net, "relative.weight", tables="kept")


def test_either_size_of_rows_is_right() -> None:
    for tables in ("kept", "scaled"):
        model = Words(False, rows=256)
        autoinit.initialize(model, IDS, tables=tables, warn=False)
        assert autoinit.check(model, IDS).ok
    nn.init.normal_(model.tokens.weight, std=1e-4)
    nn.init.normal_(model.positions.weight, std=1e-4)
    assert not autoinit.check(model, IDS).ok


def test_what_is_no_table() -> None:
    def relative(n: Net, x: Tensor) -> Tensor:
        return torch.softmax(n.a(x) @ n.b(x).transpose(1, 2) + n.table, -1) @ x

    assert std(Net(relative, a=linear(), b=linear(), table=small(5, 5)), "table") is None
    token = Net(lambda n, x: n.b(torch.cat([n.token.expand(4, -1, -1), n.a(x)], 1)), a=linear(), b=linear(),
                token=small(1, 1, 8))  # fmt: skip
    assert std(token, "token") is None
    zero = Net(lambda n, x: n.b(n.a(x) + n.z), a=linear(), b=linear(), z=nn.Parameter(torch.zeros(1, 5, 8)))
    assert std(zero, "z") is None
    assert std(zero, "z", keep_zeros=False) == pytest.approx(1.0)
