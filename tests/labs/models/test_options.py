"""Widths, depths, activations, classes and channels are options of every network that has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from autoinit.errors import OptionError
from autoinit.labs import models

IMAGES = (2, 1, 32, 32)
NETWORKS: dict[str, Callable[..., nn.Module]] = {
    "all_cnn_c": lambda **o: models.all_cnn_c(width=4, **o),
    "coatnet": lambda **o: models.coatnet(image_size=32, width=0.25, depth=0.3, **o),
    "compact coatnet": lambda **o: models.coatnet(image_size=32, width=0.25, depth=0.3, layout=models.COMPACT, **o),
    "convnext": lambda **o: models.convnext(depths=(1, 1), widths=(4, 8), **o),
    "mixer": lambda **o: models.MlpMixer(width=8, depth=1, **o),
    "mobilenet": models.mobilenet,
    "gated mobilenet": lambda **o: models.mobilenet(gate=True, **o),
    "plain_cnn": lambda **o: models.plain_cnn(depth=2, width=4, **o),
    "poolformer": lambda **o: models.poolformer(depths=(1, 1), widths=(4, 8), **o),
    "preactivation": lambda **o: models.preactivation_resnet(11, width=4, **o),
    "basic preactivation": lambda **o: models.preactivation_resnet(8, width=4, bottleneck=False, grouped=True, **o),
    "resnet": lambda **o: models.resnet50(blocks=(1, 1), width=4, late_stride=True, grouped=True, **o),
    "se_resnet": lambda **o: models.se_resnet(per_stage=1, widths=(16, 32), **o),
    "transformer": lambda **o: models.VisionTransformer(width=12, depth=1, **o),
    "unet": lambda **o: models.UNet(widths=(4, 8), **o),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_activation_classes_and_channels(name: str) -> None:
    asked: list[int] = []

    def make(channels: int) -> nn.Module:
        asked.append(channels)
        return nn.Softsign()

    model = NETWORKS[name](activation=make, classes=7, channels=1).eval()
    assert asked and sum(isinstance(layer, nn.Softsign) for layer in model.modules()) == len(asked)
    with torch.no_grad():
        assert model(torch.zeros(IMAGES)).shape[:2] == (2, 7)
    with pytest.raises(OptionError, match="activation"):
        NETWORKS[name](activation="rleu")


@pytest.mark.parametrize(
    ("build", "inputs", "shape"),
    [
        (lambda: models.GPT(vocabulary=11, width=16, depth=1, heads=2, length=6), [(3, 6)], (3, 6, 11)),
        (
            lambda: models.SequenceToSequence(vocabulary=11, width=16, depth=1, heads=2, length=6),
            [(3, 6), (3, 5)],
            (3, 5, 11),
        ),
        (
            lambda: models.GPT(vocabulary=11, width=16, depth=1, heads=2, length=6, tied=False, rotary=False),
            [(3, 5)],
            (3, 5, 11),
        ),
        (lambda: models.RecurrentLanguageModel("gru", vocabulary=11, width=4, depth=1), [(3, 6)], (3, 6, 11)),
        (lambda: models.TextEncoder(vocabulary=11, width=8, depth=1, heads=2, length=6, classes=7), [(3, 5)], (3, 7)),
        (lambda: models.RecurrentClassifier("gru", vocabulary=11, width=4, depth=1, classes=7), [(3, 6)], (3, 7)),
    ],
)
def test_tokens(build: Callable[[], nn.Module], inputs: list[Any], shape: tuple[int, ...]) -> None:
    with torch.no_grad():
        assert build().eval()(*(torch.zeros(one, dtype=torch.long) for one in inputs)).shape == shape


@pytest.mark.parametrize("rotary", [True, False])
def test_tokens_see_none_behind_them_and_know_their_places(rotary: bool) -> None:
    torch.manual_seed(0)
    model = models.GPT(vocabulary=11, width=16, depth=2, heads=2, length=6, tied=False, rotary=rotary)
    tokens = torch.tensor([[1, 2, 3, 4, 5], [1, 2, 3, 4, 9], [2, 1, 3, 4, 5]])
    one, other, swapped = model(tokens)
    torch.testing.assert_close(one[:4], other[:4])
    assert not torch.allclose(one[4], other[4]) and not torch.allclose(one[4], swapped[4])
    assert model.head.weight is not model.embedding.weight


@pytest.mark.parametrize("first", [True, False])
def test_norms_in_front_or_behind(first: bool) -> None:
    """Behind the sums there is one in front of the head already, in front of the branches one is added."""
    model = models.TextEncoder(vocabulary=11, width=8, depth=2, heads=2, norm_first=first)
    norms = sum(isinstance(layer, nn.LayerNorm) for layer in model.modules())
    assert norms == (5 if first else 4)


@pytest.mark.parametrize(("depth", "layers"), [(1, 1), (5, 5)])
def test_depth_of_a_dense_chain(depth: int, layers: int) -> None:
    model = models.mlp(features=6, width=8, depth=depth, classes=3, dropout=0.1)
    assert sum(isinstance(layer, nn.Linear) for layer in model) == layers
    assert sum(isinstance(layer, nn.Dropout) for layer in model) == layers - 1
    assert model(torch.zeros(2, 6)).shape == (2, 3)


@pytest.mark.parametrize("build", [models.densenet, models.preactivation_resnet])
def test_depths_that_there_are_not(build: Callable[[int], nn.Module]) -> None:
    with pytest.raises(OptionError, match=r"no such depth.*\n*.*depth=57"):
        build(57)


def test_both_ways_to_take_a_packed_weight_apart_are_one_function() -> None:
    from autoinit.labs.models.attention import SelfAttention

    torch.manual_seed(0)
    one, two = SelfAttention(8, 8, 2), SelfAttention(8, 8, 2, stacked=True)
    two.load_state_dict(one.state_dict())
    x = torch.randn(3, 5, 8)
    torch.testing.assert_close(one(x), two(x))
