"""Building models without memory."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module


def meta() -> AbstractContextManager[None]:
    """Build PyTorch models without memory, remembering what their constructors write::

        with autoinit.meta():
            model = Net()
        plan = autoinit.plan(model, inputs)      # the plan of the real model
        model.to_empty(device="cuda")            # or shard it first
        plan.apply(model)                        # fills everything: weights, norms, buffers, tables

    Tensors are made on the meta device. Questions about their values (``.item()``, ``.tolist()``) are answered.
    """
    made: AbstractContextManager[None] = import_module("autoinit.frontends.torch.remembering.built").meta()
    return made
