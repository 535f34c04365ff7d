"""Drawing against PyTorch's own fills, on all cores: milliseconds per million weights."""

from __future__ import annotations

from torch import nn

import autoinit
from autoinit.core.drawing import Draw
from autoinit.frontends.torch.filling import fill

from ..timing import Result, best

ROWS, COLUMNS = 4096, 8192
TO_NORMAL, TO_TRUNCATED, APPLIED = 1.5, 0.2, 2.0


def drawing(repeats: int) -> list[Result]:
    model = nn.Linear(COLUMNS, ROWS, bias=False)
    plan = autoinit.plan(model, (1, COLUMNS), warn=False)
    weight = model.weight.detach()
    (entry,) = plan.changed()
    draw = Draw(entry, plan.distribution, seed=0)
    drawn, whole, normal, truncated = best(
        repeats, lambda: fill(weight, draw), lambda: plan.apply(model, warn=False), weight.normal_,
        lambda: nn.init.trunc_normal_(weight),
    )  # fmt: skip
    ours, copied, normal, truncated = (1e9 * t / weight.numel() for t in (drawn, whole, normal, truncated))
    return [
        Result("drawing a million (truncated normal) / normal_", ours, normal, TO_NORMAL),
        Result("drawing a million (truncated normal) / trunc_normal_", ours, truncated, TO_TRUNCATED),
        Result("apply per million, which also keeps the old values until the end / normal_", copied, normal, APPLIED),
    ]
