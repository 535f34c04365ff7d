"""A gate for continuous integration: tests that fail when a change of the architecture kills the signal.

    pytest examples/ci_gate.py                                      # in your project: your models in place of `build`
    autoinit check examples/ci_gate.py:build --input 64 --fail-on bad   # exit code 1: as PyTorch makes it, it vanishes

No data, no accelerator: a plan of a small model takes less than a second.
"""

from __future__ import annotations

from torch import nn

import autoinit

INPUT = (32, 64)


def build() -> nn.Module:
    """The model whose signals are watched over."""
    return nn.Sequential(*(m for _ in range(12) for m in (nn.Linear(64, 64), nn.GELU())), nn.Linear(64, 10))


def test_every_layer_gets_its_variance() -> None:
    model = build()
    plan = autoinit.initialize(model, INPUT)
    assert plan.ok, plan
    assert not plan.unreached(), f"parameters that no input reaches: {plan.unreached()}"


def test_nothing_was_simulated_or_passed_on() -> None:
    """Warnings of the plan are errors here."""
    plan = autoinit.plan(build(), INPUT)
    assert not [note for note in plan.notes if note.kind == "warning"], plan


def test_what_is_predicted_is_what_comes_out() -> None:
    model = build()
    autoinit.initialize(model, INPUT)
    for row in autoinit.measure(model, INPUT, repeats=3).weight_layers:
        assert 0.2 < row.variance < 5, row
