"""The functions of a run, and the jobs that try each of them under each initialization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..evolution import Job
from .function import Function
from .presets import Preset
from .trials import INITIALIZATIONS

WORK = "autoinit.labs.pangaea.evaluation:evaluate"
RELU = "relu(x)"


def sample(count: int, *, mutations: int = 3, parameters: int = 3, seed: int = 0) -> list[Function]:
    """`count` different random functions. The first n of a longer sample are the sample of n."""
    found: dict[str, Function] = {}
    draw = 0
    while len(found) < count:
        function = Function.random(np.random.default_rng([seed, draw]), mutations=mutations, parameters=parameters)
        found.setdefault(function.key, function)
        draw += 1
    return list(found.values())


def job(function: Function, initialization: str, preset: Preset, seed: int, kind: str = "function") -> Job:
    """One training: the key names the function, the initialization and the seed."""
    payload: dict[str, Any] = {
        "kind": kind,
        "function": function.to_dict(),
        "initialization": initialization,
        "setting": preset.setting.to_dict(),
        "seed": seed,
    }
    return Job(f"{kind}/{function.key}/{initialization}/{seed}", payload)


def jobs(preset: Preset, initializations: Sequence[str] = INITIALIZATIONS) -> list[Job]:
    """ReLU with several seeds first, then all functions, each under every initialization with one seed."""
    relu = Function.parse(RELU)
    baseline = [
        job(relu, initialization, preset, seed, "baseline")
        for seed in range(preset.baselines)
        for initialization in initializations
    ]
    functions = sample(preset.functions, mutations=preset.mutations, parameters=preset.parameters, seed=preset.seed)
    return baseline + [
        job(f, initialization, preset, preset.seed) for f in functions for initialization in initializations
    ]
