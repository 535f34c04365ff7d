"""The classical schemes: the scale that their formulas say, nothing else touched."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from autoinit.baselines import SCHEMES, classical  # noqa: E402
from autoinit.errors import ModelError, OptionError  # noqa: E402


def net() -> nn.Sequential:
    torch.manual_seed(3)
    layers = nn.Conv2d(16, 64, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 36, 100)
    return nn.Sequential(*layers)


@pytest.mark.parametrize(
    ("scheme", "variance"),
    [  # conv: fan in 16 * 9 = 144, fan out 64 * 9 = 576
        ("glorot_normal", 2 / (144 + 576)), ("glorot_uniform", 2 / (144 + 576)), ("he_normal", 2 / 144),
        ("he_uniform", 2 / 144), ("lecun_normal", 1 / 144), ("lecun_uniform", 1 / 144),
        ("orthogonal", 1 / 144),
    ],
)  # fmt: skip
def test_variance_of_a_convolution(scheme: str, variance: float) -> None:
    model = classical(net(), scheme, seed=1)
    weight = model[0].weight
    assert weight.var().item() == pytest.approx(variance, rel=4 * (2 / weight.numel()) ** 0.5)
    assert not model[0].bias.any()
    if scheme.endswith("uniform"):
        assert weight.abs().max().item() <= (3 * variance) ** 0.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_reproducible_and_global_state_kept(scheme: str) -> None:
    one, two, other = net(), net(), net()
    before = torch.get_rng_state()
    classical(one, scheme, seed=5)
    assert torch.equal(before, torch.get_rng_state())
    classical(two, scheme, seed=5)
    classical(other, scheme, seed=6)
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(one[0].weight, other[0].weight)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_frozen_parameters_are_left_alone(scheme: str) -> None:
    model = net()
    model[0].weight.requires_grad_(False)
    before = model[0].weight.clone()
    classical(model, scheme, seed=5)
    assert torch.equal(model[0].weight, before)


def test_default_is_what_construction_draws() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(32, 4)

    model = classical(Block(), "default", seed=0)
    bound = (6 / (32 + 96)) ** 0.5  # Glorot uniform on the packed projection
    weight = model.attention.in_proj_weight
    assert 0.9 * bound < weight.abs().max().item() <= bound
    assert weight.var().item() == pytest.approx(bound**2 / 3, rel=0.1)


def test_low_precision_is_drawn_in_single() -> None:
    model = classical(nn.Linear(400, 300, dtype=torch.bfloat16), "he_normal")
    assert model.weight.float().var().item() == pytest.approx(2 / 400, rel=0.03)


def test_bad_arguments() -> None:
    with pytest.raises(OptionError, match="unknown scheme"):
        classical(net(), "he")
    with pytest.raises(ModelError):
        classical(lambda x: x, "he_normal")  # type: ignore[arg-type]
