"""Transformers initializes again what does not bear its mark."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from torch import nn

from .names import unwrapped

MARK = "_is_hf_initialized"


def mark_for_transformers(model: nn.Module, parameters: Iterable[nn.Parameter]) -> None:
    """A later ``model.init_weights()`` (or ``from_pretrained``'s) leaves these alone; other models are left alone."""
    made = getattr(sys.modules.get("transformers.modeling_utils"), "PreTrainedModel", None)  # imported already, or not
    if made is not None and isinstance(unwrapped(model), made):
        for parameter in parameters:
            setattr(parameter, MARK, True)
