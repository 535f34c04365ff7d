"""What a benchmark needs to know about a model: how to build it and what to feed it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Tokens:
    """An integer input: indices below ``vocabulary``, in a tensor of ``shape`` (batch included)."""

    shape: tuple[int, ...]
    vocabulary: int


@dataclass(frozen=True)
class Spec:
    """A named architecture; ``inputs`` are the arguments of forward, as shapes (batch included) or Tokens.

    ``size`` is the number of parameters.
    ``heavy`` marks models whose build and forward pass take noticeably longer than the others.
    """

    name: str
    build: Callable[[], nn.Module]
    inputs: tuple[tuple[int, ...] | Tokens, ...]
    note: str
    size: int
    heavy: bool = False

    def example(self, seed: int = 0) -> tuple[Tensor, ...]:
        """Standard normal noise, or uniform token indices, for every input."""
        rng = torch.Generator().manual_seed(seed)
        return tuple(
            torch.randint(x.vocabulary, x.shape, generator=rng)
            if isinstance(x, Tokens)
            else torch.randn(x, generator=rng)
            for x in self.inputs
        )
