"""A job without training: initialize a network, predict its signals, send noise through it and measure them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from . import networks

WORK = "experiments.signal_job:evaluate"
DIGITS = 4
"""A variance of one batch is not known any better."""


def evaluate(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Variance of every tensor in the order of execution: predicted from the weights as they are, and measured.

    payload: {at, model, model_options, scheme, shape, seed}.
    """
    import autoinit
    from autoinit.report.data import series

    seed, shape = payload["seed"], tuple(payload["shape"])
    model = networks.build(payload["model"], payload["model_options"], seed)
    times = networks.initialize(model, payload["scheme"], {}, shape, seed)
    found = series(autoinit.measure(model, shape, seed=seed, warn=False))
    return {
        "weight": [k for k, is_weight in enumerate(found.weight) if is_weight],
        "predicted": rounded(found.variance),
        "measured": rounded(found.measured_variance or []),
        **times,
    }


def rounded(values: Sequence[float]) -> list[float]:
    return [float(f"{v:.{DIGITS}g}") if isfinite(v) else v for v in values]
