"""Signals: variances of two tensors, both after layers with weights, of each network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from experiments import signals
from experiments.trials import Trial
from tests.experiments.cases.made_up import Case, payloads

Variances = Callable[[Mapping[str, Any]], tuple[float, float]]


def given(default: Variances, ours: Variances) -> Callable[[], dict[str, Any]]:
    """The summary of the preset "paper" if its networks have these variances."""
    return lambda: signals.summary(trials(default, ours), signals.PRESETS["paper"])


def trials(default: Variances, ours: Variances) -> list[Trial]:
    found = []
    for payload in payloads("signals", "paper"):
        at = payload["at"]
        measured = list((ours if at["scheme"] == "autoinit" else default)(at))
        found.append(Trial(at, "done", {"weight": [0, 1], "predicted": measured, "measured": measured}))
    return found


def one(at: Mapping[str, Any]) -> tuple[float, float]:
    return 1.0, 1.1


def vanishing(at: Mapping[str, Any]) -> tuple[float, float]:
    return 0.5, 1e-4


def linear(at: Mapping[str, Any]) -> tuple[float, float]:
    return 1.0, at["value"] / 10 if isinstance(at["value"], int) else 1.0


def exponential(at: Mapping[str, Any]) -> tuple[float, float]:
    return 1.0, 1.5 ** min(at["value"], 200) if isinstance(at["value"], int) else 1.0


def overflowing(at: Mapping[str, Any]) -> tuple[float, float]:
    return 1.0, inf


def only_at(value: Any, there: Variances, elsewhere: Variances) -> Variances:
    return lambda at: (there if at["value"] == value else elsewhere)(at)


def spiked(at: Mapping[str, Any]) -> tuple[float, float]:
    """Below 0.5 after one layer in three networks of ten."""
    return 1.0, 0.3 if at["value"] in (0.0, 0.25, "elu") else 1.0


def power(exponent: float) -> Variances:
    return lambda at: (1.0, at["value"] ** exponent if isinstance(at["value"], int) else 1.0)


VANISH, RETURN, GROWTH, STABLE, PRECISION = "often vanish", "approximately 1.0", "exponentially", "never stable", "812"
CASES = [
    Case(VANISH, "yes", given(vanishing, one)),
    Case(VANISH, "partly", given(only_at("gelu", vanishing, one), one)),
    Case(VANISH, "no", given(one, vanishing)),
    Case(VANISH, "no", given(overflowing, one)),
    Case(RETURN, "yes", given(vanishing, one)),
    Case(RETURN, "partly", given(vanishing, spiked)),
    Case(RETURN, "no", given(one, vanishing)),
    Case(RETURN, "no", given(one, lambda at: (1.0, inf))),
    Case(GROWTH, "yes", given(exponential, linear)),
    Case(GROWTH, "yes", given(overflowing, one)),
    Case(GROWTH, "partly", given(linear, linear)),
    Case(GROWTH, "partly", given(exponential, power(1.8))),
    Case(GROWTH, "no", given(linear, exponential)),
    Case(GROWTH, "no", given(exponential, exponential)),
    Case(GROWTH, "no", given(linear, power(1.8))),
    Case(STABLE, "yes", given(exponential, one)),
    Case(STABLE, "partly", given(only_at(812, overflowing, one), one)),
    Case(STABLE, "partly", given(exponential, only_at(812, exponential, one))),
    Case(STABLE, "no", given(exponential, exponential)),
    Case(STABLE, "no", given(exponential, lambda at: (1.0, 1e-9))),
    Case(STABLE, "no", given(exponential, lambda at: (1.0, 0.0))),
    Case(STABLE, "no", given(one, one)),
    Case(PRECISION, "yes", given(overflowing, one)),
    Case(PRECISION, "no", given(overflowing, overflowing)),
    Case(PRECISION, "no", given(one, one)),
]
