"""Normalisations written out in means, squares and roots are the normalisations that arrive as one op."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import autoinit  # noqa: E402


def rms(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def rms_without_keepdim(x: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).mean(-1) + 1e-6).unsqueeze(-1)


def layer(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-6)


def layer_with_the_deviation_twice(x: Tensor) -> Tensor:
    mean = x.mean(-1, keepdim=True)
    variance = (x - mean).pow(2).mean(-1, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + 1e-6)


def unit_length(x: Tensor) -> Tensor:
    return x / x.norm(dim=-1, keepdim=True)


def unit_length_over_tokens(x: Tensor) -> Tensor:
    return F.normalize(x, dim=1)


WHOLE: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]] = {
    "rms": (rms, lambda x: F.rms_norm(x, x.shape[-1:], eps=1e-6)),
    "rms without keepdim": (rms_without_keepdim, lambda x: F.rms_norm(x, x.shape[-1:], eps=1e-6)),
    "layer": (layer, lambda x: F.layer_norm(x, x.shape[-1:], eps=1e-6)),
    "deviation twice": (layer_with_the_deviation_twice, lambda x: F.layer_norm(x, x.shape[-1:], eps=1e-6)),
}


class Net(nn.Module):
    """A sum of unlike branches, so that the statistic scatters, a norm, and a layer behind it."""

    def __init__(self, norm: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.norm = norm
        self.a, self.b, self.c = nn.Linear(8, 24), nn.Linear(24, 24), nn.Linear(24, 24)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.a(x))
        return self.c(self.norm(3 * h + self.b(h)))


@pytest.mark.parametrize("name", WHOLE)
def test_by_hand_and_whole_agree(name: str) -> None:
    by_hand, whole = (autoinit.plan(Net(norm), (16, 12, 8)) for norm in WHOLE[name])
    assert by_hand["c.weight"].std == pytest.approx(whole["c.weight"].std, rel=2e-3)


@pytest.mark.parametrize("norm, square", [(unit_length, 1 / 24), (unit_length_over_tokens, 1 / 12), (rms, 1.0)])
def test_the_mean_square_is_exact(norm: Callable[[Tensor], Tensor], square: float) -> None:
    """By construction the squares along the normalised axis sum to a fixed number, however the statistic scatters."""
    plan = autoinit.plan(Net(norm), (16, 12, 8))
    last = [t for t in plan.tensors if t.module == "" and t.op in ("aten.mul", "aten.div")][-1]
    assert last.second == pytest.approx(square, rel=1e-3)


def test_a_statistic_of_something_else_is_not_taken_for_a_norm() -> None:
    class Other(Net):
        def forward(self, x: Tensor) -> Tensor:
            h = torch.relu(self.a(x))
            g = self.b(h)
            return self.c(h / g.norm(dim=-1, keepdim=True))

    plan = autoinit.plan(Other(rms), (16, 12, 8))
    divided = next(t for t in plan.tensors if t.op == "aten.div")
    assert divided.second != pytest.approx(1 / 24, rel=1e-3)
