"""It ends: loops that wait for a value meet a budget, and the error says so."""

from __future__ import annotations

import time

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.errors import TraceError  # noqa: E402

from .models import Free  # noqa: E402


def adaptive(self, x):
    """A solver that halves its step until two estimates agree: on samples they never do."""
    step, y = 1.0, x
    while True:
        one, two = self.layer(y) * step, self.layer(y + self.layer(y) * step / 2) * step
        if float((one - two).abs().max()) < 1e-12:
            return y
        y, step = y + one, step * 0.999


@pytest.mark.parametrize("limit", [{"max_ops": 500}, {"max_seconds": 1.0}], ids=str)
@pytest.mark.parametrize("look", [autoinit.plan, autoinit.check, autoinit.initialize])
def test_an_endless_loop_ends(look, limit) -> None:
    model = Free(adaptive, layer=nn.Linear(4, 4))
    before = model.layer.weight.clone()
    start = time.monotonic()
    with pytest.raises(TraceError, match=r"(?s)not at its end after.*max_(ops|seconds)"):
        look(model, (2, 4), **limit)
    assert time.monotonic() - start < 60
    assert torch.equal(model.layer.weight, before)


def test_a_long_model_is_within_the_default() -> None:
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(500)))
    assert len(autoinit.plan(model, (2, 4)).weight_layers) == 500
