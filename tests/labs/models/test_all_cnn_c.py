from __future__ import annotations

import pytest
import torch
from torch import nn

from autoinit.errors import OptionError
from autoinit.labs.models import ACTIVATIONS, all_cnn_c


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def test_parameters_by_hand():
    def kernels(inputs, outputs, size):
        return inputs * outputs * size**2 + outputs

    first = kernels(3, 96, 3) + 2 * kernels(96, 96, 3)
    second = kernels(96, 192, 3) + 2 * kernels(192, 192, 3)
    third = kernels(192, 192, 3) + kernels(192, 192, 1) + kernels(192, 10, 1)
    assert count(all_cnn_c()) == first + second + third == 1_369_738


def test_maps_shrink_as_in_springenberg():
    shapes = []
    model = all_cnn_c(width=4)
    for layer in model:
        layer.register_forward_hook(lambda layer, _, out: shapes.append((type(layer), tuple(out.shape[1:]))))
    model(torch.zeros(2, 3, 32, 32))
    maps = [shape for kind, shape in shapes if kind is nn.Conv2d]
    assert maps == [(4, 32, 32)] * 2 + [(4, 16, 16)] + [(8, 16, 16)] * 2 + [(8, 8, 8)] + [(8, 6, 6)] * 2 + [(10, 6, 6)]
    assert shapes[-1][1] == (10,)


@pytest.mark.parametrize("size", [9, 16, 28])
def test_small_images(size):
    assert all_cnn_c(width=4, channels=1, classes=7)(torch.zeros(2, 1, size, size)).shape == (2, 7)


def test_each_convolution_is_followed_by_the_activation_made_for_its_channels():
    asked = []

    def make(channels):
        asked.append(channels)
        return nn.PReLU(channels)

    layers = list(all_cnn_c(make, width=4))
    after = [type(layers[i + 1]) for i, layer in enumerate(layers) if isinstance(layer, nn.Conv2d)]
    assert after == [nn.PReLU] * 9
    assert asked == [4, 4, 4, 8, 8, 8, 8, 8, 10]


def test_dropout_on_the_image_and_behind_both_strides():
    layers = list(all_cnn_c(width=4, dropout=0.4, input_dropout=0.1))
    rates = {i: layer.p for i, layer in enumerate(layers) if isinstance(layer, nn.Dropout)}
    assert list(rates.values()) == [0.1, 0.4, 0.4]
    before = [layers[i - 2].stride for i in rates if i > 0]
    assert before == [(2, 2), (2, 2)]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_by_name(name):
    assert torch.isfinite(all_cnn_c(name, width=4)(torch.randn(2, 3, 16, 16))).all()


@pytest.mark.parametrize("wrong", ["rleu", nn.ReLU(), 3])
def test_no_activation(wrong):
    with pytest.raises(OptionError, match="relu, elu"):
        all_cnn_c(wrong)
