"""Maps along axes that follow each other, against torch: what the last one gives of samples of the first one's input.

Linear maps are exact; maxima state the model error of one pooling (`test_pool`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import autoinit.rules.pool
import autoinit.rules.resample  # noqa: F401
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.signal import Signal, iid
from autoinit.core.signal.window_maximum import Window

from .harness import compare, components, measure, predict

Step = tuple[str, Callable[[torch.Tensor], torch.Tensor], dict[str, Any]]
MAPS = [iid((3, 4, 8)), components((3, 4, 8), 1.0, {(0, 1, 2): 0.6, (0, 1): 0.4, (1,): 0.3})]


def window(size: int, stride: int, padding: int = 0) -> dict[str, Any]:
    return {"axes": (2,), "window": (size,), "stride": (stride,), "padding": ((padding, padding),)}


def largest(size: int, stride: int, padding: int = 0) -> Step:
    return "max_pool", lambda t: F.max_pool1d(t, size, stride, padding), window(size, stride, padding)


def mean(size: int, stride: int, padding: int = 0) -> Step:
    return "average_pool", lambda t: F.avg_pool1d(t, size, stride, padding), window(size, stride, padding)


def resized(size: int, mode: str) -> Step:
    kind = {"axes": (2,), "mode": mode, "align_corners": False}
    return "interpolate", lambda t: F.interpolate(t, size, mode=mode), kind


CHAINS: dict[str, tuple[list[Step], float]] = {
    "means": ([mean(3, 1, 1), mean(3, 1, 1)], 0.0),
    "means of steps": ([mean(2, 2), mean(2, 1), mean(2, 1)], 0.0),
    "copies, means": ([resized(16, "nearest"), mean(3, 2, 1)], 0.0),
    "between places, means": ([resized(13, "linear"), mean(2, 2)], 0.0),
    "maxima": ([largest(3, 1, 1), largest(3, 1, 1)], 0.04),
    "maxima of steps": ([largest(2, 2), largest(3, 2, 1)], 0.04),
    "copies, maxima": ([resized(16, "nearest"), largest(3, 2, 1)], 0.04),
}


@pytest.mark.parametrize("x", MAPS)
@pytest.mark.parametrize("name", CHAINS)
def test_chain(name: str, x: Signal) -> None:
    steps, error = CHAINS[name]

    def run(t: torch.Tensor) -> torch.Tensor:
        for _, f, _ in steps:
            t = f(t)
        return t

    made, sampled = x, torch.zeros(x.shape)
    for op, f, attrs in steps:
        sampled = f(sampled)
        made = predict(op, [made], [tuple(sampled.shape)], **attrs)
    compare(made, measure([x], run, 600)[0], model_error=error, mean_error=error / 2)


def test_functions_of_copies() -> None:
    """relu of copies, averaged: copies of relu."""
    x = MAPS[1]
    wide = predict("interpolate", [x], [(3, 4, 16)], **resized(16, "nearest")[2])
    made = predict("average_pool", [Signal.function(wide, apply("relu", X))], [(3, 4, 8)], **window(2, 2))
    np.testing.assert_allclose(made.K, Signal.function(x, apply("relu", X)).K, rtol=1e-9)


@pytest.mark.parametrize(("size", "stride"), [(3, 1), (3, 2), (4, 3)])
def test_windows_of_any_places(size: int, stride: int) -> None:
    """Sliding windows without borders, counted out: the same numbers, and shares in all."""
    taps = np.arange(8)[:, None] * stride + np.arange(size)
    live = np.ones(taps.shape, bool)
    one, two = Window.sliding(0, size, stride, 1, live), Window.of(0, taps, live)
    np.testing.assert_array_equal(one.live, two.live)
    assert float(one.shares @ one.weights) == pytest.approx(float(two.shares @ two.weights), abs=1e-6)
    twice = Window.of(0, np.concatenate([taps, taps], axis=1), np.concatenate([live, live], axis=1))
    np.testing.assert_array_equal(twice.live, two.live)
