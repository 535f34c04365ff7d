"""ResNet-50 on ImageNet: accuracies with the default and with AutoInit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments import imagenet
from tests.experiments.cases.made_up import Case, made_up, trial


def given(default: float | None, ours: float | None) -> Callable[[], dict[str, Any]]:
    return lambda: made_up("imagenet", lambda payload: ours if payload["scheme"] == "autoinit" else default)


def mixed() -> dict[str, Any]:
    """Top-1 is higher with AutoInit, top-5 lower."""
    found = []
    for job in imagenet.jobs(imagenet.PRESETS["paper"]):
        ours = job.payload["scheme"] == "autoinit"
        one = trial(job.payload, 0.75 if ours else 0.74)
        found.append(type(one)(one.at, one.status, {**one.value, "top5": 0.90 if ours else 0.92}))
    return imagenet.summary(found, imagenet.PRESETS["paper"])


CASES = [
    Case("top-1 and top-5", "yes", given(0.74, 0.75)),
    Case("top-1 and top-5", "partly", mixed),
    Case("top-1 and top-5", "no", given(0.75, 0.74)),
    Case("top-1 and top-5", "no", given(0.1, 0.11)),
    Case("top-1 and top-5", "no", given(None, None)),
]
