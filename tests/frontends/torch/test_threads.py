"""Several threads at once: models initialized in parallel, and threads that have nothing to do with it (row 8)."""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402

from .test_harmless import LOOKS, SHAPE, Layer, made, random_states  # noqa: E402


def net(k: int) -> nn.Module:
    torch.manual_seed(k)
    layers = [nn.Linear(8, 16 + k), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16 + k, 8), nn.LayerNorm(8), nn.Linear(8, 4)]
    return nn.Sequential(*layers)


def test_models_are_initialized_in_parallel() -> None:
    models, twins = [net(k) for k in range(8)], [net(k) for k in range(8)]
    expected = [str(autoinit.initialize(twin, SHAPE)) for twin in twins]
    found: dict[int, str] = {}
    errors: list[BaseException] = []

    def work(k: int) -> None:
        try:
            for _ in range(2):
                found[k] = str(autoinit.initialize(models[k], SHAPE))
                autoinit.check(models[k], SHAPE)
                autoinit.measure(models[k], SHAPE)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and [found[k] for k in range(8)] == expected
    for model, twin in zip(models, twins, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))


def test_an_innocent_thread_sees_no_random_number_twice() -> None:
    """While models whose forward draws random numbers of every kind are looked at."""
    model = made("draws random numbers")
    done, seen = threading.Event(), []
    states: list[Any] = []

    def innocent() -> None:
        while not done.is_set():
            seen.append((torch.rand(1, dtype=torch.float64).item(), np.random.rand(), random.random()))
        states.append(random_states())

    torch.manual_seed(1), np.random.seed(1), random.seed(1)
    thread = threading.Thread(target=innocent)
    thread.start()
    for _ in range(3):
        for look in LOOKS:
            look(model, SHAPE)
    done.set()
    thread.join()
    torch.manual_seed(1), np.random.seed(1), random.seed(1)
    alone = [(torch.rand(1, dtype=torch.float64).item(), np.random.rand(), random.random()) for _ in seen]
    assert len(seen) > 100 and seen == alone
    assert states == [random_states()]


def test_a_thread_that_trains_is_not_traced() -> None:
    """Functions with a rule are replaced while walking: for the walking thread alone."""
    calls: list[int] = []
    rules = {bent: lambda function, x: x.scaled(0.5)}
    model = Layer(lambda s, x, y: bent(y))
    done, wrong = threading.Event(), []

    def train() -> None:
        x = torch.randn(4, 8)
        while not done.is_set():
            out = bent(x)
            if type(out) is not torch.Tensor or not torch.equal(out, x * 0.25):
                wrong.append(out)
            calls.append(1)

    thread = threading.Thread(target=train)
    thread.start()
    plans = [autoinit.plan(model, SHAPE, rules=rules) for _ in range(5)]
    done.set()
    thread.join()
    assert calls and not wrong
    assert all(plan.tensors[-1].second == pytest.approx(0.25) for plan in plans)


def bent(x: torch.Tensor) -> torch.Tensor:
    return x * 0.25
