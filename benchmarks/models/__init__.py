"""The architectures that predictions are measured on, by name.

spec = MODELS["vit12"]
model = spec.build()
output = model(*spec.example(seed=0))
"""

from __future__ import annotations

from .catalogue import SPECS
from .spec import Spec, Tokens

__all__ = ["MODELS", "Spec", "Tokens"]

MODELS: dict[str, Spec] = {spec.name: spec for spec in SPECS}
