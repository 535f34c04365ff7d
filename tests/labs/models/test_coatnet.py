from __future__ import annotations

import pytest
import torch
from torch import nn

import autoinit
from autoinit.errors import OptionError
from autoinit.labs.models import coatnet, coatnet_default
from autoinit.labs.models.relative_attention import RelativeAttention, offsets

SMALL = {"image_size": 32, "width": 0.25, "depth": 0.5}


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def by_hand(norm: bool) -> int:
    def dense(a, b, bias=True):
        return a * b + b * bias

    n = 2 * norm  # scale and shift per normalized channel
    bias = not norm  # of convolutions that a norm follows
    total = 3 * 64 * 9 + 64 * bias + 64 * n + 64 * 64 * 9 + 64
    inputs = 64
    for width, blocks in ((64, 3), (128, 4)):
        for block in range(blocks):
            wide, squeezed = 4 * width, width // 4
            total += inputs * n + dense(inputs, wide, bias) + wide * n + wide * 9 + wide * bias + wide * n
            total += dense(wide, squeezed) + dense(squeezed, wide) + dense(wide, width)
            total += dense(inputs, width) if block == 0 else 0
            inputs = width
    for width, blocks, side in ((256, 6, 10), (512, 3, 5)):
        for block in range(blocks):
            total += inputs * n + 3 * dense(inputs, width) + dense(width, width)
            total += (width // 32) * (2 * side - 1) ** 2
            total += width * n + dense(width, 4 * width) + dense(4 * width, width)
            total += dense(inputs, width) if block == 0 else 0
            inputs = width
    return total + dense(512, 10)


@pytest.mark.parametrize(("norm", "expected"), [(True, 14_732_698), (False, 14_714_202)])
def test_parameters_by_hand(norm, expected):
    with torch.device("meta"):
        model = coatnet(norm=norm)
    assert count(model) == by_hand(norm) == expected


@pytest.mark.parametrize("activation", ["gelu", "relu", "selu", "swish"])
def test_forward_and_gradients(activation):
    torch.manual_seed(0)
    model = coatnet(activation, classes=7, **SMALL)
    out = model(torch.randn(4, 3, 32, 32))
    assert out.shape == (4, 7)
    out.square().sum().backward()
    assert [n for n, p in model.named_parameters() if p.grad is None] == []


def test_maps_are_halved_five_times():
    sizes = []
    model = coatnet(**{**SMALL, "image_size": 64})
    for layer in model:
        layer.register_forward_hook(lambda layer, _, out: sizes.append(out.shape[-1]) if out.dim() == 4 else None)
    model(torch.zeros(1, 3, 64, 64))
    assert sorted(set(sizes), reverse=True) == [32, 16, 8, 4, 2, 1]


def test_without_norm_there_is_none():
    norms = (nn.BatchNorm2d, nn.LayerNorm)
    assert any(isinstance(m, norms) for m in coatnet(**SMALL).modules())
    assert not any(isinstance(m, norms) for m in coatnet(norm=False, **SMALL).modules())


def test_activations_with_parameters_per_channel():
    model = coatnet(nn.PReLU, **SMALL)
    assert model(torch.randn(2, 3, 32, 32)).shape == (2, 10)


@pytest.mark.parametrize("wrong", [{"image_size": 100}, {"image_size": 0}, {"width": 0}, {"depth": -1.0}])
def test_bad_sizes(wrong):
    with pytest.raises(OptionError, match="coatnet"):
        coatnet(**{**SMALL, **wrong})


def test_offsets_number_the_differences_of_places():
    height, width = 2, 3
    found = {}
    for a in range(6):
        for b in range(6):
            difference = (a // width - b // width, a % width - b % width)
            number = int(offsets(height, width)[a, b])
            assert found.setdefault(difference, number) == number
    assert sorted(found.values()) == list(range((2 * height - 1) * (2 * width - 1)))


def test_relative_attention_against_its_formula():
    torch.manual_seed(0)
    layer = RelativeAttention(8, 6, 2, 2, 2)
    nn.init.normal_(layer.table)
    x = torch.randn(3, 4, 8)
    q, k, v = layer.query(x), layer.key(x), layer.value(x)
    heads = []
    for h in range(2):
        part = slice(3 * h, 3 * h + 3)
        logits = q[..., part] @ k[..., part].transpose(1, 2) / 3**0.5
        for a in range(4):
            for b in range(4):
                logits[:, a, b] += layer.table[h, (a // 2 - b // 2 + 1) * 3 + a % 2 - b % 2 + 1]
        heads.append(logits.softmax(-1) @ v[..., part])
    assert torch.allclose(layer(x), layer.output(torch.cat(heads, -1)), atol=1e-6)


def test_the_default_initialization_of_the_paper():
    model = coatnet_default(coatnet(image_size=32, depth=0.3), seed=0)
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Conv2d):
            variance = 2 / (layer.weight[0, 0].numel() * layer.out_channels / layer.groups)
        elif isinstance(layer, nn.Linear):
            variance = 2 / (layer.in_features + layer.out_features)
        else:
            continue
        n = layer.weight.numel()
        # The relative error of a variance over n normal draws is sqrt(2/n); uniform ones scatter less.
        assert layer.weight.detach().var() == pytest.approx(variance, rel=5 * (2 / n) ** 0.5), name
        assert not layer.bias.any() if layer.bias is not None else True
    other = coatnet_default(coatnet(image_size=32, depth=0.3), seed=0)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


def test_autoinit_plans_every_weight():
    model = coatnet(norm=False, **SMALL)
    plan = autoinit.plan(model, autoinit.Input((8, 3, 32, 32)))
    weights = {n for n, p in model.named_parameters() if n.endswith("weight")}
    assert weights <= {p.name for p in plan.parameters if p.action == "set"}
