"""Random programs over a few tensors: weights, functions, sums, products, means, parts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from tests.rewriting.programs import ROWS, TOKENS, WIDTH

FUNCTIONS: tuple[Callable[[Tensor], Tensor], ...] = (
    torch.relu, torch.tanh, torch.sigmoid, nn.functional.gelu, lambda x: x * torch.sigmoid(x), lambda x: x**2,
)  # fmt: skip
PAIRS: tuple[Callable[[Tensor, Tensor], Tensor], ...] = (
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: 0.5 * x + 2.0 * y, lambda x, y: x * torch.sigmoid(y),
)  # fmt: skip
CHANGES: tuple[Callable[[Tensor], Tensor], ...] = (
    lambda x: x - x.mean(-1, keepdim=True), lambda x: x - x.mean(1, keepdim=True),
    lambda x: nn.functional.layer_norm(x, (WIDTH,)), lambda x: x.softmax(-1) * WIDTH,
    lambda x: torch.cat([x[:, :1], x[:, 1:] * 0.5], 1),
)  # fmt: skip


class RandomProgram(nn.Module):
    """steps: what is done, by number; every step reads earlier tensors."""

    def __init__(self, seed: int, steps: int = 6) -> None:
        super().__init__()
        rng = np.random.default_rng(seed)
        self.steps = [(int(rng.integers(4)), int(rng.integers(100)), int(rng.integers(100)), int(rng.integers(100)))
                      for _ in range(steps)]  # fmt: skip
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(steps + 2))

    def forward(self, x: Tensor) -> Tensor:
        known = [self.layers[-2](x)]
        for (kind, which, one, two), layer in zip(self.steps, self.layers, strict=False):
            a, b = known[-1 - one % min(len(known), 3)], known[-1 - two % min(len(known), 3)]
            if kind == 0:
                known.append(layer(a))
            elif kind == 1:
                known.append(FUNCTIONS[which % len(FUNCTIONS)](a))
            elif kind == 2:
                known.append(PAIRS[which % len(PAIRS)](a, b))
            else:
                known.append(CHANGES[which % len(CHANGES)](a))
        return self.layers[-1](known[-1])


SHAPE = (ROWS, TOKENS, WIDTH)
