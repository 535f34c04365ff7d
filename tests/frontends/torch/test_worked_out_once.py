"""What is alike in every layer of a model is read, measured and run once: constants, routings."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import autoinit
from autoinit.frontends.torch import known
from autoinit.frontends.torch.constants import SMALL, ConstantTensors


@pytest.mark.parametrize("size", [8, SMALL + 1])
def test_views_of_the_same_memory_are_one_constant(size) -> None:
    constants, table = ConstantTensors(), torch.randn(size, 2)
    assert constants.of(table[None]) is constants.of(table[None])
    assert constants.of(table[None]) is not constants.of(table)
    assert constants.of(table[:, 0]) is not constants.of(table[:, 1])
    assert constants.of(table.T).array().shape == (2, size)


def test_what_was_written_meanwhile_is_another_constant() -> None:
    constants, table = ConstantTensors(), torch.zeros(8)
    before = constants.of(table)
    table.add_(1)
    assert constants.of(table) is not before
    assert before.array().tolist() == [0.0] * 8 and constants.of(table).array().tolist() == [1.0] * 8


def test_memory_that_was_given_to_another_tensor() -> None:
    constants = ConstantTensors()
    for k in range(100):
        made = torch.full((16,), float(k))
        assert constants.of(made).array().tolist() == [float(k)] * 16
        del made


class Routed(nn.Module):
    """The weights of the two best of eight experts, as many layers as asked for."""

    def __init__(self, layers: int, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = scale
        self.gates = nn.ModuleList(nn.Linear(16, 8, bias=False) for _ in range(layers))
        self.outs = nn.ModuleList(nn.Linear(2, 16, bias=False) for _ in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total = x
        for k, (gate, out) in enumerate(zip(self.gates, self.outs, strict=True)):
            best = torch.topk(F.softmax(gate(x) * (self.scale if k == 1 else 1.0), -1), 2).values
            total = total + out(best / best.sum(-1, keepdim=True))
        return total


def runs_of(model: nn.Module, monkeypatch) -> int:
    counted = []
    real = known.evaluated
    with monkeypatch.context() as patch:
        patch.setattr(known, "evaluated", lambda *a: counted.append(1) or real(*a))
        autoinit.plan(model, (32, 16), warn=False)
    return len(counted)


def test_equal_routings_are_run_once(monkeypatch) -> None:
    one = runs_of(Routed(1), monkeypatch)
    assert one > 0
    assert runs_of(Routed(6), monkeypatch) == one
    assert runs_of(Routed(6, scale=2.0), monkeypatch) > one  # another program on the same law


def test_sharing_changes_no_plan(monkeypatch) -> None:
    shared = autoinit.plan(Routed(4), (32, 16), warn=False)
    monkeypatch.setattr(known, "program_of", lambda *_: None)
    alone = autoinit.plan(Routed(4), (32, 16), warn=False)
    for a, b in zip(shared.parameters, alone.parameters, strict=True):
        assert [p.std for p in a.parts] == pytest.approx([p.std for p in b.parts], rel=0.02)
