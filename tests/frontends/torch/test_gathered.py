"""The recipe for DeepSpeed's ZeRO-3 in docs/large-models.md, with a stand-in for its gathering context."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

import autoinit

PAGE = Path(__file__).parents[3] / "docs" / "large-models.md"


class Partitioned:
    """As ZeRO-3 does: outside of its context a parameter is empty, inside it is whole; what rank 0 wrote is kept."""

    def __init__(self, model: nn.Module) -> None:
        self.kept = {id(p): p.data.clone() for p in model.parameters()}
        for p in model.parameters():
            p.data = torch.empty(0)

    @contextmanager
    def gathered(self, parameters: list[nn.Parameter], modifier_rank: int | None = None) -> Iterator[None]:
        for p in parameters:
            p.data = self.kept[id(p)].clone()
        yield
        for p in parameters:
            if modifier_rank is not None:
                self.kept[id(p)] = p.data.clone()
            p.data = torch.empty(0)


def test_one_parameter_at_a_time() -> None:
    code = next(
        b for b in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL) if "GatheredParameters" in b
    )
    names: dict[str, Any] = {"nn": nn, "dist": dist}
    exec(code, names)
    build = lambda: nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Sequential(nn.Linear(16, 4)))  # noqa: E731
    whole, model = build(), build()
    plan = autoinit.plan(whole, (4, 8))
    plan.apply(whole)
    zero = Partitioned(model)
    names["apply_gathered"](plan, model, zero.gathered)
    assert all(p.numel() == 0 for p in model.parameters())
    for (name, p), q in zip(model.named_parameters(), whole.parameters(), strict=True):
        assert torch.equal(zero.kept[id(p)], q), name
