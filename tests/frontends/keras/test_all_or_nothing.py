"""Applying a plan to a Keras model is all or nothing: after an interrupt or any error the model is what it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
from keras import layers
from keras.src import backend

import autoinit
from autoinit.frontends.keras.variables import as_array
from tests.interrupting import everywhere

ROOT = Path(__file__).parents[3]
CHECKS = ("plan/fields.py", "plan/check.py", "enum.py", "typing.py", "dataclasses.py")
INSIDE = (os.sep + "autoinit" + os.sep, os.sep + os.path.join("keras", "src", "backend") + os.sep)


def net() -> keras.Model:
    keras.utils.set_random_seed(0)
    inner = [layers.Dense(5, "relu", name="one"), layers.BatchNormalization(name="norm"), layers.ReLU(name="relu")]
    return keras.Sequential([keras.Input((4,), name="x"), *inner, layers.Dense(3, name="two")], name="net")


def state(model: keras.Model) -> list:
    found: list = [(layer.name, type(layer), layer.get_config()) for layer in model._flatten_layers()]
    found += [repr(getattr(layer, "activation", None)) for layer in model.layers]
    found += [(v.path, np.array(as_array(v._value)).tobytes()) for v in model.variables]
    if keras.backend.backend() == "torch":
        import torch

        found.append(torch.is_grad_enabled())
    return [*found, model.train_function, model.predict_function]


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    {"center": "activation"},
    pytest.param({"center": "bias", "distribution": "orthogonal"}, marks=pytest.mark.one_backend),
])  # fmt: skip
def test_row_7_an_exception_at_any_line(options: dict) -> None:
    plan = autoinit.plan(net(), autoinit.Input((8, 4), mean=0.5), **options)
    before, complete = state(net()), state(plan.apply(net()))
    handler, seen = signal.getsignal(signal.SIGINT), {"before": 0, "complete": 0}
    model = net()
    values = model.get_weights()
    classes = [(layer, type(layer)) for layer in model._flatten_layers()]
    activation = model.layers[0].activation

    def prepare():
        for layer, cls in classes:  # as it was: building it each time takes long
            layer.__class__ = cls
            vars(layer).pop("center_shift", None)
        model.layers[0].activation = activation
        model.set_weights(values)
        assert state(model) == before
        variables = [id(v) for v in model.variables]

        def check() -> None:
            now = state(model)
            assert now in (before, complete)
            seen["before" if now == before else "complete"] += 1
            assert [id(v) for v in model.variables] == variables
            signal.signal(signal.SIGINT, handler)

        return lambda: plan.apply(model), check

    lines = everywhere(prepare, lambda f: not f.endswith(CHECKS) and any(part in f for part in INSIDE), step=6)
    assert lines > 300 and seen["before"] > 30 and seen["complete"] >= 1


@pytest.mark.parametrize("bad", [1, 2, 3, 4])
def test_row_7_a_variable_that_cannot_be_assigned(bad: int, monkeypatch) -> None:
    model = net()
    plan, before = autoinit.plan(model, center="activation"), state(model)
    calls, real = 0, backend.Variable.assign

    def fails(variable, value):
        nonlocal calls
        calls += 1
        if calls == bad:
            raise MemoryError
        return real(variable, value)

    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(backend.Variable, "assign", fails)
        plan.apply(model)
    assert calls >= bad and state(model) == before


def test_row_7_variables_without_values_have_none_afterwards(monkeypatch) -> None:
    from keras.src.backend.common import global_state

    with backend.StatelessScope(initialize_variables=False):
        model = net()
    plan = autoinit.plan(model, autoinit.Input((8, 4), mean=0.5), center="bias")
    pending = {id(v) for v in global_state.get_global_attribute("uninitialized_variables")}
    assert {id(v) for v in model.variables} <= pending

    def fails(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("autoinit.frontends.keras.apply._centred", fails)
        plan.apply(model)
    assert all(v._value is None and v._initializer is not None for v in model.variables)
    assert {id(v) for v in global_state.get_global_attribute("uninitialized_variables")} == pending
    plan.apply(model)
    assert as_array(model(np.ones((2, 4), "float32"))).shape == (2, 3)


CHILD = """
import os, signal, threading, time
import keras, numpy as np, autoinit
from keras import layers
from autoinit.frontends.keras.variables import as_array
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us without

def net():
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input((192,)), *(layers.Dense(192) for _ in range(40))])

def values(model):
    return [np.array(as_array(v._value)) for v in model.variables]

def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b))

model = net()
before = values(model)
plan = autoinit.plan(model)
begin = time.perf_counter(); plan.apply(model); took = time.perf_counter() - begin
complete, outcomes = values(model), []
for k in range(16):
    model.set_weights(before)
    timer = threading.Timer(took * k / 16, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        plan.apply(model)
        timer.join(); time.sleep(0.05)
        outcomes.append("late")
    except KeyboardInterrupt:
        now = values(model)
        outcomes.append("before" if same(now, before) else "complete" if same(now, complete) else "torn")
    timer.join()
print(" ".join(outcomes))
"""


@pytest.mark.slow
@pytest.mark.one_backend
def test_row_7_sigint() -> None:
    """Whatever a backend's assignment is, it is held until that is over; that any line of it may fail is seen above."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", CHILD], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    outcomes = done.stdout.split()
    assert len(outcomes) == 16 and "torn" not in outcomes and outcomes.count("before") >= 2
