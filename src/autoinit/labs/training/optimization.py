"""Optimizers of a recipe, and which parameters are decayed."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.modules.conv import _ConvNd

from ...errors import ModelError
from .recipe import Recipe


def decayed_parameters(model: nn.Module, which: str) -> set[int]:
    """Identities of the parameters that weight decay acts on; see `Recipe.decayed`."""
    if which == "all":
        return {id(p) for p in model.parameters()}
    layers = (m for m in model.modules() if isinstance(m, (nn.Linear, nn.Bilinear, nn.Embedding, _ConvNd)))
    return {id(p) for layer in layers for p in layer.parameters() if p.dim() >= 2}


def optimizer(model: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """The recipe's optimizer over all trainable parameters."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise ModelError("the model has no trainable parameters", where="train", received=type(model).__name__,
                         fix="requires_grad_(True) on what is to be trained")  # fmt: skip
    decayed = decayed_parameters(model, recipe.decayed)
    groups = [
        {"params": [p for p in parameters if id(p) in decayed], "weight_decay": recipe.weight_decay},
        {"params": [p for p in parameters if id(p) not in decayed], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    if recipe.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=recipe.learning_rate, momentum=recipe.momentum)
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, betas=recipe.betas)
