"""What a lowering emits is checked against the table of ops."""

from __future__ import annotations

import re
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.errors import GraphError  # noqa: E402
from autoinit.frontends.torch.lowering import table  # noqa: E402


class Head(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Softmax(-1)

    def forward(self, x: torch.Tensor) -> Any:
        return self.last(self.first(x))


def test_a_lowering_that_is_wrong_is_told_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(table.TABLE, "softmax", lambda call: call.emit("softmax", [call.args[0]], dim=1))
    with pytest.raises(GraphError, match=re.escape("received: dim")) as told:
        autoinit.plan(Head(), (4, 8))
    assert str(told.value).startswith("last: aten.softmax: a node of the op 'softmax'")
    assert "expected axis: integer" in str(told.value)


def test_an_op_that_nobody_knows_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(table.TABLE, "softmax", lambda call: call.emit("frobnicate", [call.args[0]], how="well"))
    plan = autoinit.plan(Head(), (4, 8), warn=False)
    assert plan["first.weight"].action == "set" and any(note.kind in ("passed", "simulated") for note in plan.notes)
