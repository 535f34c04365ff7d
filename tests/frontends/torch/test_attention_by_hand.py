"""Attention written out in matmuls and a softmax is the attention that arrives as one op."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import autoinit  # noqa: E402


class Attention(nn.Module):
    """One head on 16 tokens of 48 features made from 12: keys and values share an input of small effective width."""

    def __init__(self, by_hand: bool, mask: torch.Tensor | None = None) -> None:
        super().__init__()
        self.by_hand, self.mask = by_hand, mask
        self.embed = nn.Linear(12, 48)
        self.q, self.k, self.v = nn.Linear(48, 48), nn.Linear(48, 48), nn.Linear(48, 48)
        self.out = nn.Linear(48, 48)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x)
        q, k, v = self.q(x), self.k(x), self.v(x)
        if not self.by_hand:
            return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask))
        logits = q @ k.transpose(-2, -1) * 48**-0.5
        if self.mask is not None:
            logits = logits + self.mask
        return self.out(F.dropout(logits.softmax(-1), 0.0) @ v)


def window_mask() -> torch.Tensor:
    """Two windows of 8 that do not see each other, masked with -100 as in shifted-window transformers."""
    own = torch.block_diag(torch.ones(8, 8), torch.ones(8, 8))
    return (1 - own) * -100.0


@pytest.mark.parametrize("masked", [False, True])
def test_both_ways_get_the_same_plan(masked: bool) -> None:
    mask = window_mask() if masked else None
    plans = [autoinit.plan(Attention(by_hand, mask), (16, 16, 12)) for by_hand in (False, True)]
    for name in ("q.weight", "v.weight", "out.weight"):
        assert plans[1][name].std == pytest.approx(plans[0][name].std, rel=1e-6)


@pytest.mark.parametrize("masked", [False, True])
def test_the_output_is_on_target(masked: bool) -> None:
    """The mean over 24 draws of the output's variance: standard error about 3 %, model error 6 %.

    Without the part that keys and values share (s/12 of the spread) the output would be a third too large, and with a
    mask taken for a bias the softmax would be taken for one-hot."""
    model = Attention(True, window_mask() if masked else None)
    plan = autoinit.plan(model, (16, 16, 12))
    found = []
    for seed in range(24):
        plan.apply(model, seed=seed)
        with torch.no_grad():
            x = torch.randn(16, 16, 12, generator=torch.Generator().manual_seed(seed))
            found.append(float(model(x).var()))
    assert torch.tensor(found).mean().item() == pytest.approx(1.0, abs=0.15)


def test_a_layer_that_no_signal_reaches_has_no_target() -> None:
    """The last norm of a residual branch starts at zero: what follows it cannot be solved for, and the plan says so."""
    norm = nn.BatchNorm1d(8)
    nn.init.zeros_(norm.weight)
    plan = autoinit.plan(nn.Sequential(nn.Linear(4, 8), norm, nn.Linear(8, 8)), (32, 4))
    assert [t.target for t in plan.weight_layers] == [1.0, None]
    assert plan["2.weight"].std == pytest.approx(8**-0.5)
    assert "no signal" in plan["2.weight"].reason and any("is zero" in n.message for n in plan.warnings)
