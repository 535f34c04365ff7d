"""The default initialization that the paper compares with on CoAtNet."""

from __future__ import annotations

import torch
from torch import nn

from ...baselines.schemes import classical
from ...core.drawing.words import name_seed


def coatnet_default(model: nn.Module, seed: int = 0) -> nn.Module:
    """Convolutions from N(0, 2/fan_out), dense layers Glorot uniform, biases zero; in place, returns the model.

    fan_out is how many outputs an input channel reaches: kernel area · output channels / groups.
    """
    classical(model, "glorot_uniform", seed)
    with torch.no_grad():
        for name, layer in model.named_modules():
            if isinstance(layer, nn.Conv2d) and layer.weight.requires_grad:
                fan_out = layer.weight[0, 0].numel() * layer.out_channels // layer.groups
                generator = torch.Generator(layer.weight.device).manual_seed(name_seed(seed, f"{name}.weight", 0))
                layer.weight.normal_(0, (2 / fan_out) ** 0.5, generator=generator)
    return model
