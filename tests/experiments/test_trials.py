"""Spreads of trials: what diverged is at chance, what failed is left out."""

from __future__ import annotations

import pytest

from autoinit.labs.evolution.jobs import STATUSES
from experiments.tables import accuracy
from experiments.trials import Trial, better_than_chance, spread

VALUE = {"classes": 10, "tested": 2000, "diverged": False}


def test_spread_counts_divergence_as_chance() -> None:
    trials = [Trial({}, "done", {**VALUE, "accuracy": a}) for a in (0.4, 0.12)]
    trials += [Trial({}, "done", {**VALUE, "accuracy": 0.9, "diverged": True})]
    assert spread(trials) == {"runs": 3, "failed": 0, "diverged": 1, "learned": 1, "median": pytest.approx(0.12),
                              "mean": pytest.approx(0.62 / 3), "low": 0.1, "high": 0.4}  # fmt: skip
    assert spread([]) is None


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "done"])
def test_spread_leaves_out_what_failed(status: str) -> None:
    failed, fine = Trial({}, status, {}), Trial({}, "done", {**VALUE, "accuracy": 0.4})
    assert failed.failed and not failed.diverged and not failed.learned
    assert spread([failed]) is None
    found = spread([fine, failed, failed])
    assert found is not None and (found["runs"], found["failed"], found["diverged"]) == (1, 2, 0)
    assert (found["low"], found["high"]) == (0.4, 0.4)
    assert accuracy(found) == "40.0, 2 failed"


def test_better_than_chance() -> None:
    """Four deviations √(0.1 · 0.9 / n) above a tenth, at least three tenths more than chance."""
    assert better_than_chance(10, 500) == pytest.approx(0.1 + 4 * 0.01341641, abs=1e-6)
    assert better_than_chance(10, 2000) == better_than_chance(10, 10_000) == pytest.approx(0.13)
    assert better_than_chance(1000, 50_000) == pytest.approx(0.001 + 4 * 0.00014135, abs=1e-6)


def test_an_untrained_network_has_not_learned() -> None:
    """An accuracy that an untrained ResNet has reached; of 10,000 independent guesses it would be 5.8 deviations."""
    assert not Trial({}, "done", {**VALUE, "tested": 10_000, "accuracy": 0.1175}).learned
    assert Trial({}, "done", {**VALUE, "tested": 10_000, "accuracy": 0.14}).learned
