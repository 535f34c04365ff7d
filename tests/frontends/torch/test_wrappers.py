"""The plan of a wrapped model fits the bare one and the reverse, with the same draws; stages take their part of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper

import autoinit


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc, self.act = nn.Linear(16, 16), nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.act(self.fc(x))
        return out


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.module = Block()  # a name that wrappers use as well
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.head = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.module(x)
        for block in self.blocks:
            x = block(x)
        out: torch.Tensor = self.head(x)
        return out


@pytest.fixture
def group(tmp_path: Path) -> Iterator[None]:
    dist.init_process_group("gloo", store=dist.FileStore(str(tmp_path / "store"), 1), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def checkpointed() -> nn.Module:
    model = Net()
    for k in (0, 2):
        model.blocks[k] = checkpoint_wrapper(model.blocks[k])
    return model


WRAPPED = {
    "compile": lambda: torch.compile(Net()),
    "compiled block": lambda: _with_block(torch.compile),
    "DataParallel": lambda: nn.DataParallel(Net()),
    "DDP": lambda: nn.parallel.DistributedDataParallel(Net()),
    "checkpoint": checkpointed,
    "DDP of compile of checkpoint": lambda: nn.parallel.DistributedDataParallel(torch.compile(checkpointed())),
    "compile of DDP": lambda: torch.compile(nn.parallel.DistributedDataParallel(Net())),
}


def _with_block(wrap) -> nn.Module:
    model = Net()
    model.blocks[1] = wrap(model.blocks[1])
    return model


def values(model: nn.Module) -> list[torch.Tensor]:
    return [p.detach().clone() for p in model.parameters()]


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("center", ["none", "activation"])
def test_both_directions(name: str, center: str, group: None) -> None:
    options = {} if center == "none" else {"center": center}
    x = autoinit.Input((8, 16), mean=0.3)
    bare, wrapped = Net(), WRAPPED[name]()
    of_bare = autoinit.plan(bare, x, **options)
    of_wrapped = autoinit.plan(wrapped, x, **options)
    assert [p.name for p in of_wrapped.parameters] == [p.name for p in of_bare.parameters]
    assert [(t.module, t.op) for t in of_wrapped.tensors] == [(t.module, t.op) for t in of_bare.tensors]
    expected = values(of_bare.apply(bare))
    for plan, model in ((of_bare, WRAPPED[name]()), (of_wrapped, Net()), (of_wrapped, wrapped)):
        plan.apply(model)
        assert all(torch.equal(a, b) for a, b in zip(values(model), expected, strict=True))
        batch = torch.randn(2, 16)
        with torch.no_grad():
            if "compile" not in name:
                assert torch.allclose(model(batch), bare(batch))


def test_patterns_speak_of_the_model_itself(group: None) -> None:
    model = nn.parallel.DistributedDataParallel(checkpointed())
    plan = autoinit.plan(model, (8, 16), only=["blocks.0.*", "module.fc.weight"])
    assert {p.name for p in plan.changed()} == {"blocks.0.fc.weight", "blocks.0.fc.bias", "module.fc.weight"}


def test_measured_and_checked(group: None) -> None:
    model = nn.parallel.DistributedDataParallel(Net())
    autoinit.initialize(model, (64, 16))
    assert [r.predicted.module for r in autoinit.measure(model, (64, 16)).weight_layers] == [
        "module.fc", "blocks.0.fc", "blocks.1.fc", "blocks.2.fc", "head",
    ]  # fmt: skip
    assert autoinit.check(model, (64, 16)).tensors


def test_stages_of_a_pipeline() -> None:
    whole = Net()
    plan = autoinit.plan(whole, autoinit.Input((8, 16), mean=0.3), center="activation")
    first, last = copy.deepcopy(whole), copy.deepcopy(whole)
    del first.blocks[1:], first.head
    last.blocks = nn.ModuleDict({"1": last.blocks[1], "2": last.blocks[2]})
    del last.module
    with pytest.raises(autoinit.AutoInitError, match="has no parameter of that name"):
        plan.apply(first)
    plan.apply(whole)
    expected = dict(whole.named_parameters())
    for stage in (first, last):
        plan.apply(stage, partial=True)
        named = dict(stage.named_parameters())
        assert len(named) >= 4 and all(torch.equal(p, expected[n]) for n, p in named.items())
    assert type(first.module.act) is not nn.ReLU and type(last.blocks["2"].act) is not nn.ReLU


def test_a_part_of_another_model() -> None:
    plan = autoinit.plan(Net(), (8, 16))
    with pytest.raises(autoinit.AutoInitError, match="none of the planned parameters"):
        plan.apply(nn.Sequential(nn.Linear(16, 16)), partial=True)
    with pytest.raises(autoinit.AutoInitError, match="partial"):
        plan.apply(Net(), partial="yes")


def test_a_weight_that_is_no_longer_tied() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.head = nn.Embedding(20, 8), nn.Linear(8, 20, bias=False)
            self.head.weight = self.table.weight

        def forward(self, i: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = self.head(self.table(i))
            return out

    model = Tied()
    plan = autoinit.plan(model, autoinit.Input((4, 5), vocabulary=20))
    assert plan["table.weight"].aliases == ["head.weight"]
    empty = Tied().to("meta").to_empty(device="cpu")
    assert empty.table.weight is not empty.head.weight
    plan.apply(model)
    with pytest.warns(autoinit.AutoInitWarning, match=r"table.weight and head.weight were one parameter"):
        plan.apply(empty)
    assert torch.equal(empty.table.weight, model.table.weight) and torch.equal(empty.head.weight, model.head.weight)
