"""What planning a large model costs: one process per model, which prints one line of JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import autoinit

from .models import build, tokens


def seconds(action: Callable[[], Any]) -> float:
    """CPU time of this process."""
    begin = time.process_time()
    action()
    return time.process_time() - begin


def peak() -> float:
    """The most memory that this process ever had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def bare_forward(name: str, length: int, repeats: int) -> float:
    """The best of some forwards on fake tensors: shapes only, nothing recorded."""
    mode = FakeTensorMode()
    with mode:
        model, ids = build(name), torch.zeros(1, length, dtype=torch.long)

    def forward() -> None:
        with mode:
            model(input_ids=ids)

    forward()
    return min(seconds(forward) for _ in range(repeats))


def main(name: str, length: int, repeats: int) -> None:
    torch.set_num_threads(1)
    with autoinit.meta():
        small, model = build(name, num_hidden_layers=1), build(name)
    autoinit.plan(small, tokens(8), warn=False)  # what is imported and compiled on first use
    before = peak()
    plans: list[autoinit.Plan] = []
    planned = [seconds(lambda: plans.append(autoinit.plan(model, tokens(length), warn=False))) for _ in range(repeats)]
    memory = peak() - before
    drawn = sum(entry.action == "set" for entry in plans[0].parameters)
    weights = sum(p.numel() for p in model.parameters())
    bare = bare_forward(name, length, repeats)
    print(json.dumps({"name": name, "tokens": length, "first": planned[0], "plan": min(planned), "bare": bare,
                      "memory": memory, "weights": weights, "drawn": drawn}))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
