from __future__ import annotations

import pytest
import torch
from torch import nn

import autoinit
from autoinit.baselines import classical
from autoinit.errors import OptionError
from autoinit.labs.models import preactivation_resnet, resnet50


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def preactivation_by_hand(n: int, norm: bool) -> int:
    """Kernels, plus per channel a bias (without norm) or scale and shift (with norm, in front of the layer)."""

    def conv(a, b, k):
        return a * b * k * k + (2 * a if norm else b)

    total = 3 * 16 * 9 + (0 if norm else 16)  # the stem has no norm ahead of it
    inputs = 16
    for inner in (16, 32, 64):
        block = conv(inner, inner, 3) + conv(inner, 4 * inner, 1)
        projection = inputs * 4 * inner + (0 if norm else 4 * inner)  # shares its norm with the branch
        total += conv(inputs, inner, 1) + block + projection
        total += (n - 1) * (conv(4 * inner, inner, 1) + block)
        inputs = 4 * inner
    return total + (2 * 256 if norm else 0) + 256 * 10 + 10


@pytest.mark.parametrize(("depth", "n", "millions"), [(56, 6, 0.59), (164, 18, 1.70), (812, 90, 8.38)])
@pytest.mark.parametrize("norm", [True, False])
def test_parameters_of_preactivation_networks_by_hand(depth, n, millions, norm):
    with torch.device("meta"):
        model = preactivation_resnet(depth, norm=norm)
    assert count(model) == preactivation_by_hand(n, norm)
    assert count(model) / 1e6 == pytest.approx(millions, abs=0.07)  # 1.7 M for 164 layers in He et al.
    branches = [m for name, m in model.named_modules() if isinstance(m, nn.Conv2d) and "projection" not in name]
    assert len(branches) + 1 == depth
    assert norm == any(isinstance(m, nn.BatchNorm2d) for m in model.modules())


def test_projections_stand_where_the_shape_changes_only():
    model = preactivation_resnet(20)
    projections = {name.split(".")[0]: m for name, m in model.named_modules() if name.endswith("projection")}
    assert [m.stride[0] for m in projections.values()] == [1, 2, 2]
    assert list(projections) == ["1", "3", "5"]


def test_a_block_without_projection_passes_its_input_on():
    block = preactivation_resnet(20, norm=False)[2]
    for p in block.branch[-1].parameters():
        nn.init.zeros_(p)
    x = torch.randn(2, 64, 8, 8)
    assert torch.equal(block(x), x)


def test_resolution_and_activation():
    asked = []

    def make(channels):
        asked.append(channels)
        return nn.PReLU(channels)

    model = preactivation_resnet(11, make, width=8, channels=1, classes=5)
    assert model(torch.zeros(2, 1, 28, 28)).shape == (2, 5)
    assert asked == [8, 8, 8, 32, 16, 16, 64, 32, 32, 128]


@pytest.mark.parametrize("depth", [2, 18, 50, 1])
def test_depths_that_there_are_not(depth):
    with pytest.raises(OptionError, match="9n"):
        preactivation_resnet(depth)


def test_parameters_of_resnet50_by_hand():
    def conv(a, b, k):
        return a * b * k * k + 2 * b

    total, inputs = conv(3, 64, 7), 64
    for inner, blocks in zip((64, 128, 256, 512), (3, 4, 6, 3), strict=True):
        rest = conv(inner, inner, 3) + conv(inner, 4 * inner, 1)
        total += conv(inputs, inner, 1) + rest + conv(inputs, 4 * inner, 1)
        total += (blocks - 1) * (conv(4 * inner, inner, 1) + rest)
        inputs = 4 * inner
    with torch.device("meta"):
        model = resnet50()
    assert count(model) == total + 2048 * 1000 + 1000 == 25_557_032
    weighty = [n for n, m in model.named_modules() if isinstance(m, (nn.Conv2d, nn.Linear)) and "shortcut" not in n]
    assert len(weighty) == 50


def test_strides_of_resnet50_stand_in_the_first_convolution_of_a_block():
    model = resnet50(width=4)
    strides = [(n, m.stride[0]) for n, m in model.named_modules() if isinstance(m, nn.Conv2d) and m.stride[0] > 1]
    assert [n for n, _ in strides[1:]] == [f"{i}.{part}.0" for i in (7, 11, 17) for part in ("branch", "shortcut")]
    assert resnet50(width=4, classes=7, norm=False)(torch.zeros(2, 3, 64, 64)).shape == (2, 7)


def test_autoinit_keeps_an_unnormalised_network_near_its_target():
    """One draw of a narrow network scatters around E[y²] = 1; He's weights let it grow by orders of magnitude."""
    model = preactivation_resnet(56, norm=False)
    x = torch.randn(16, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        autoinit.initialize(model, autoinit.Input((16, 3, 32, 32)), seed=0)
        assert 1 / 3 < model(x).square().mean() < 3
        assert classical(model, "he_normal", 0)(x).square().mean() > 1000
