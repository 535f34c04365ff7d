"""Drawing against PyTorch's own fills, on all cores: milliseconds per million weights."""

from __future__ import annotations

from torch import nn

import autoinit

from ..timing import Result, best

ROWS, COLUMNS = 4096, 8192
TO_NORMAL, TO_TRUNCATED = 1.5, 0.2


def drawing(repeats: int) -> list[Result]:
    model = nn.Linear(COLUMNS, ROWS, bias=False)
    plan = autoinit.plan(model, (1, COLUMNS), warn=False)
    weight = model.weight.detach()
    ours, normal, truncated = best(
        repeats, lambda: plan.apply(model, warn=False), weight.normal_, lambda: nn.init.trunc_normal_(weight)
    )
    millions = weight.numel() / 1e6
    per = [1e3 * t / millions for t in (ours, normal, truncated)]
    return [
        Result("drawing a million (truncated normal) / normal_", per[0], per[1], TO_NORMAL),
        Result("drawing a million (truncated normal) / trunc_normal_", per[0], per[2], TO_TRUNCATED),
    ]
