"""Transformers initializes again what does not bear its mark."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from torch import nn

from .names import unwrapped

MARK = "_is_hf_initialized"


def mark_for_transformers(model: nn.Module, parameters: Iterable[nn.Parameter]) -> None:
    """A later ``model.init_weights()`` (or ``from_pretrained``'s) leaves these alone; other models are left alone."""
    transformers = sys.modules.get("transformers")
    if transformers is not None and isinstance(unwrapped(model), transformers.PreTrainedModel):
        for parameter in parameters:
            setattr(parameter, MARK, True)
