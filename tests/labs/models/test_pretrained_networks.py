"""DenseNet-121 and EfficientNet-lite0 compared with the editions whose weights they read."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
import torch
from torch import nn

from autoinit.labs.models import densenet121, efficientnet_lite0


def torchvision_or_skip() -> None:
    if find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed")


def unsettled(module: nn.Module) -> nn.Module:
    """Statistics and scales that are not 1 and 0, so that a missing normalization shows."""
    for layer in module.modules():
        if isinstance(layer, nn.BatchNorm2d):
            nn.init.uniform_(layer.weight, 0.5, 1.5)
            for values in (layer.bias, layer.running_mean):
                nn.init.normal_(values, 0, 0.1)
            nn.init.uniform_(layer.running_var, 0.5, 2)
    return module.eval().requires_grad_(False)


@pytest.mark.slow
def test_densenet_is_torchvision_s() -> None:
    torchvision_or_skip()
    from torchvision.models import densenet121 as reference

    theirs, ours = unsettled(reference(weights=None)), densenet121().eval().requires_grad_(False)
    wanted = {name: tuple(value.shape) for name, value in theirs.state_dict().items()}
    assert {name: tuple(value.shape) for name, value in ours.state_dict().items()} == wanted and len(wanted) == 727
    ours.load_state_dict(theirs.state_dict())
    images = torch.randn(2, 3, 96, 80)
    assert torch.allclose(ours(images), theirs(images), atol=1e-5, rtol=1e-5)


def test_densenet_in_numbers() -> None:
    """Huang et al. (2017): 6, 12, 24 and 16 layers that add 32 channels each, halved between blocks; 1,024 are left."""
    network = densenet121()
    assert sum(p.numel() for p in network.parameters()) == 7_978_856 and network.width == 1024
    assert sum(isinstance(layer, (nn.Conv2d, nn.Linear)) for layer in network.modules()) == 121
    assert network.eval().embedding(torch.zeros(1, 3, 64, 64)).shape == (1, 1024)
    assert densenet121(classes=7, channels=1)(torch.zeros(2, 1, 64, 64)).shape == (2, 7)


@pytest.mark.slow
def test_efficientnet_is_timm_s() -> None:
    torchvision_or_skip()
    timm = pytest.importorskip("timm")
    theirs = unsettled(timm.create_model("tf_efficientnet_lite0"))
    ours = efficientnet_lite0().eval().requires_grad_(False)
    names, values = list(ours.state_dict()), list(theirs.state_dict().values())  # both in the order of computation
    ours.load_state_dict(dict(zip(names, values, strict=True)))
    for height, width in ((96, 96), (97, 66)):  # odd sides are padded on one side only
        images = torch.randn(2, 3, height, width)
        assert torch.allclose(ours(images), theirs(images), atol=1e-5, rtol=1e-5)


def test_efficientnet_in_numbers() -> None:
    network = efficientnet_lite0()
    assert sum(p.numel() for p in network.parameters()) == 4_652_008 and network.width == 1280
    assert len(network.blocks) == 16 and sum(block.adds for block in network.blocks) == 9
    assert network.eval().embedding(torch.zeros(1, 3, 33, 64)).shape == (1, 1280)
    assert efficientnet_lite0(classes=7, channels=1)(torch.zeros(2, 1, 32, 32)).shape == (2, 7)
