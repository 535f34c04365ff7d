"""Running forward below autograd, where ops arrive whole, or above it where forward itself differentiates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

from ...errors import TraceError

T = TypeVar("T")


@contextmanager
def below_autograd() -> Iterator[None]:
    with torch._C._AutoDispatchBelowAutograd():
        yield


def below_if_possible(run: Callable[[bool], T]) -> T:
    """``run(True)``, or ``run(False)`` if the model's forward needs autograd."""
    try:
        return run(True)
    except TraceError as error:
        if "does not require grad" in str(error.__cause__):
            return run(False)
        raise
