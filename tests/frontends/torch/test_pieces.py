"""Cuts that go back to what was put together: class tokens, padded ones, and axes that were merged for a norm."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

import autoinit  # noqa: E402


class ClassToken(nn.Module):
    """A zero class token before the tokens; blocks without a norm at the end, then the token alone goes to the head."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, 32))
        self.embed = nn.Linear(48, 32)
        layer = nn.TransformerEncoderLayer
        self.blocks = nn.ModuleList(
            [layer(32, 2, 64, dropout=0.0, batch_first=True, norm_first=True) for _ in range(2)]
        )
        self.head = nn.Linear(32, 24)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cat([self.token.expand(len(x), -1, -1), self.embed(x)], dim=1)
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, 0])


def measured(model: nn.Module, shape: tuple[int, ...], draws: int = 20) -> float:
    plan = autoinit.plan(model, shape)
    found = []
    for seed in range(draws):
        plan.apply(model, seed=seed)
        with torch.no_grad():
            x = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
            found.append(float(model(x).square().mean()))
    return sum(found) / draws


def test_the_head_behind_a_class_token_is_on_target() -> None:
    """The token starts at zero, so it lacks the embedding's share of the variance (one of four or five parts)."""
    model = ClassToken()
    cut = next(t for t in autoinit.plan(model, (16, 16, 48)).tensors if t.op == "aten.select" and t.module == "")
    whole = [t for t in autoinit.plan(model, (16, 16, 48)).tensors if t.shape == [16, 17, 32]][-1]
    assert cut.second < 0.9 * whole.second
    assert measured(model, (16, 16, 48)) == pytest.approx(1.0, abs=0.25)


class OnesColumn(nn.Module):
    """Linear attention's way to sum its weights: a column of ones is padded to the values and cut off again."""

    def __init__(self) -> None:
        super().__init__()
        self.unused = nn.Linear(1, 1)

    def forward(self, x: Tensor) -> Tensor:
        values = nn.functional.pad(x, (0, 1), value=1.0)
        made = torch.relu(x).transpose(-1, -2) @ values
        return made[..., -1:]


def test_padded_ones_are_found_again() -> None:
    """sum over 64 places of relu(x): mean 64/sqrt(2 pi), variance 64 (1/2 - 1/(2 pi))."""
    plan = autoinit.plan(OnesColumn(), (8, 64, 16))
    out = plan.tensors[-1]
    assert out.mean == pytest.approx(64 * 0.39894, rel=1e-3)
    assert out.variance == pytest.approx(64 * 0.34085, rel=1e-2)


def test_a_cut_of_a_concatenation_is_the_piece() -> None:
    class Pieces(OnesColumn):
        def forward(self, x: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
            y = torch.cat([10 * x, 0.1 * x], dim=-1).transpose(1, 2) * 2
            return y[:, :6], y[:, 6:], y[:, 3:9]

    large, small, both = (t.second for t in autoinit.plan(Pieces(), (8, 5, 6)).tensors[-3:])
    assert large == pytest.approx(400) and small == pytest.approx(0.04)
    assert both == pytest.approx((large + small) / 2)


class MergedNorm(nn.Module):
    """(batch, tokens) merged for a batch norm and split again: tokens of one sample stay alike."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(16)
        self.out = nn.Linear(16, 16)

    def forward(self, x: Tensor, shared: Tensor) -> Tensor:
        y = x + shared.unsqueeze(1)
        y = self.norm(y.flatten(0, 1)).reshape(y.shape)
        return self.out(y).mean(1)


def test_merged_axes_are_remembered_through_a_norm() -> None:
    """Half of the variance is shared by the 20 tokens of a sample, so their mean has 1/2 + 1/40 of it."""
    plan = autoinit.plan(MergedNorm(), ((32, 20, 16), (32, 16)))
    assert plan.tensors[-1].variance == pytest.approx(0.525, rel=0.05)


class Gate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.both = nn.Linear(32, 64)

    def forward(self, x: Tensor) -> Tensor:
        h, z = self.both(x).chunk(2, dim=-1)
        return h * torch.sigmoid(z) + h


def test_a_gate_and_its_shortcut_are_one_factor() -> None:
    """h sigmoid(z) + h = h (1 + sigmoid(z)): E = 1 + 2 E[s] + E[s^2] = 2 + 0.2933."""
    plan = autoinit.plan(Gate(), (64, 32))
    assert plan.tensors[-1].second == pytest.approx(2.2933, rel=0.05)
