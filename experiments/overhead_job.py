"""A job without training: how long a network takes to initialize."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from . import networks

WORK = "experiments.overhead_job:evaluate"


def evaluate(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds of each repeat, after one that is not counted: of the whole, and of finding the model's weights alone.

    payload: {at, model, model_options, scheme, scheme_options, shape, seed, repeats}.

    Both AutoInit and LSUV trace the model to find its weights. An LSUV made for one architecture by hand knows them, so
    LSUV's "scaling" is what it takes when a plan is at hand.
    """
    import torch

    import autoinit
    from autoinit import baselines

    seed, shape, scheme = payload["seed"], tuple(payload["shape"]), payload["scheme"]
    model = networks.build(payload["model"], payload["model_options"], seed)
    inputs: Any = shape
    if scheme == "lsuv":
        inputs = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    options = dict(payload["scheme_options"])
    found = {"seconds": _timed(lambda: networks.initialize(model, scheme, options, inputs, seed), payload["repeats"])}
    if scheme == "lsuv":
        plan = autoinit.plan(model, shape, warn=False)
        found["scaling"] = _timed(lambda: baselines.lsuv(model, inputs, seed=seed, plan=plan, **options),
                                  payload["repeats"])  # fmt: skip
    return found


def _timed(act: Callable[[], Any], repeats: int) -> list[float]:
    act()
    seconds = []
    for _ in range(repeats):
        begun = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - begun)
    return seconds
