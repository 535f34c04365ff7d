"""The architectures that predictions are measured on, by name.

spec = MODELS["vit12"]
model = spec.build()
output = model(*spec.example(seed=0))
"""

from __future__ import annotations

from . import (
    allcnn,
    coatnet,
    convnext,
    densenet,
    gpt,
    mixer,
    mlp,
    mobilenet,
    plain_cnn,
    poolformer,
    preact_resnet,
    recurrent,
    resnet,
    se_resnet,
    transformer,
    unet,
    vit,
)
from .spec import Spec, Tokens

__all__ = ["MODELS", "Spec", "Tokens"]

_FAMILIES = (
    allcnn,
    preact_resnet,
    plain_cnn,
    mlp,
    densenet,
    se_resnet,
    mobilenet,
    convnext,
    mixer,
    poolformer,
    vit,
    gpt,
    unet,
    recurrent,
    transformer,
    coatnet,
    resnet,
)

MODELS: dict[str, Spec] = {spec.name: spec for family in _FAMILIES for spec in family.SPECS}
