"""Seconds to initialize: AutoInit, and LSUV's scaling with the largest S, in three networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments import overhead
from experiments.trials import Trial
from tests.experiments.cases.made_up import Case


def given(ours: float, *lsuv: float) -> Callable[[], dict[str, Any]]:
    preset = overhead.PRESETS["paper"]
    scaling = dict(zip((network.name for network in preset.networks), lsuv, strict=True))

    def summary() -> dict[str, Any]:
        found = []
        for job in overhead.jobs(preset):
            at = job.payload["at"]
            part = scaling[at["network"]] if at["samples"] == preset.samples[-1] else 0.001
            seconds = ours if at["scheme"] == "autoinit" else 5.0
            found.append(Trial(at, "done", {"seconds": [seconds], "scaling": [part]}))
        return overhead.summary(found, preset)

    return summary


CASES = [
    Case("overhead", "yes", given(0.1, 0.2, 0.5, 1.0)),
    Case("overhead", "partly", given(0.3, 0.2, 0.5, 1.0)),
    Case("overhead", "no", given(2.0, 0.2, 0.5, 1.0)),
]
