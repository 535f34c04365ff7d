"""Networks by name, and their initialization by name. PyTorch is loaded when they are built."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from autoinit.errors import OptionError

MODELS = ("all_cnn_c", "preactivation_resnet", "coatnet", "resnet50")
COATNET_DEFAULT = "coatnet_default"
"""Convolutions N(0, 2/fan_out), dense layers Glorot uniform: the paper's default on CoAtNet and ImageNet."""


def build(name: str, options: Mapping[str, Any], seed: int) -> Any:
    """A new network. What its layers draw when they are made follows from the seed."""
    import torch

    from autoinit.labs import models

    if name not in MODELS:
        raise OptionError("unknown model", where="model", received=repr(name), fix=f"one of {', '.join(MODELS)}")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return getattr(models, name)(**options)


def initialize(model: Any, scheme: str, options: Mapping[str, Any], inputs: Any, seed: int) -> dict[str, float]:
    """Initialize in place; how long it took, by the clock and by the processor.

    scheme: "coatnet_default", or a name of `autoinit.baselines.initialize`.
    """
    from autoinit import baselines

    clock, processor = time.perf_counter(), time.process_time()
    if scheme == COATNET_DEFAULT:
        from autoinit.labs.models import coatnet_default

        coatnet_default(model, seed=seed)
    else:
        baselines.initialize(model, inputs, scheme, seed=seed, **options)
    return {
        "initialization_seconds": time.perf_counter() - clock,
        "initialization_processor_seconds": time.process_time() - processor,
    }
