"""Which front end understands a model. A front end is imported only if its framework has been imported by the user."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from ..errors import ModelError

FRONT_ENDS = {"keras": "autoinit.frontends.keras.front", "torch": "autoinit.frontends.torch.front"}
"""Framework -> front end. Keras comes first: on its PyTorch backend, Keras models are torch modules too."""


def front_end_of(model: Any) -> Any:
    """The front end that understands `model`."""
    for framework, path in FRONT_ENDS.items():
        if framework in sys.modules:
            front_end = import_module(path)
            if front_end.understands(model):
                return front_end
    raise ModelError("this is not a model that AutoInit understands", where="model", received=type(model).__name__,
                     fix="give a torch.nn.Module or a Keras 3 model")  # fmt: skip
