"""Several threads at once (row 8): models in parallel, and threads that have nothing to do with it."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import pytest
from keras import layers, ops

import autoinit
from autoinit.errors import OptionError, TraceError


def small(k):
    inputs = keras.Input((6 + k,))
    x = layers.Dense(8 + k, "relu", name="a")(inputs)
    x = layers.LayerNormalization(name="n")(layers.Dense(8 + k, "gelu", name="b")(x)) + x
    return keras.Model(inputs, layers.Dense(3, name="c")(ops.sum(x[:, None], axis=1)))


def numbers(plan):
    return [(p.name, p.action, [part.std for part in p.parts]) for p in plan.parameters]


def test_models_in_parallel_are_planned_as_one_after_the_other():
    models = [small(k) for k in range(8)]
    wanted = [numbers(autoinit.plan(m)) for m in models]
    started = threading.Barrier(8)

    def one(k):
        started.wait()
        return numbers(autoinit.initialize(models[k], seed=k))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(8))) == wanted
    again = [small(k) for k in range(8)]
    for k, (parallel, serial) in enumerate(zip(models, again, strict=True)):
        autoinit.initialize(serial, seed=k)
        for a, b in zip(parallel.get_weights(), serial.get_weights(), strict=True):
            assert np.array_equal(a, b)


class Innocent(threading.Thread):
    """Draws from the shared generators and builds and runs models until it is told to stop."""

    def __init__(self):
        super().__init__(daemon=True)
        self.drawn, self.error, self.begun, self.done = [], None, threading.Event(), threading.Event()

    def run(self):
        rng = np.random.default_rng(0)
        try:
            net = keras.Sequential([keras.Input((4,)), layers.Dense(5, "relu", kernel_initializer="ones"),
                                    layers.Dense(2, kernel_initializer="ones")])  # fmt: skip
            net.set_weights([rng.normal(size=w.shape) for w in net.get_weights()])
            x = rng.normal(size=(3, 4)).astype("float32")
            before = np.asarray(ops.convert_to_numpy(net(x)))
            while not self.done.is_set():
                self.drawn.append((np.random.rand(), random.random()))
                self.begun.set()
                assert np.allclose(ops.convert_to_numpy(net(x)), before)
                made = layers.Dense(2, kernel_initializer="ones")(keras.Input((3,)))
                assert len(made._keras_history.operation._inbound_nodes) == 1
                layer = layers.ActivityRegularization(l2=0.1)
                layer(x)
                assert len(layer.losses) == 1
        except BaseException as error:
            self.error = error


@pytest.mark.parametrize("draws", [False, True], ids=["plain", "draws in call"])
def test_a_thread_that_works_meanwhile_notices_nothing(draws):
    class Draws(layers.Layer):
        def call(self, x):
            return x * (1.0 + (np.random.rand() + random.random() if draws else 0.0))

    inputs = keras.Input((6,))
    model = keras.Model(inputs, layers.Dense(3)(Draws()(layers.Dense(4)(inputs))))
    np.random.seed(7)
    random.seed(7)
    other = Innocent()
    other.start()
    assert other.begun.wait(60)
    plans = [numbers(autoinit.plan(model)) for _ in range(4)]
    autoinit.measure(model)
    other.done.set()
    other.join()
    assert other.error is None and other.drawn
    np.random.seed(7)
    random.seed(7)
    assert other.drawn == [(np.random.rand(), random.random()) for _ in other.drawn]
    assert draws or all(plan == plans[0] for plan in plans)


def test_the_lock_is_free_afterwards():
    from autoinit.frontends.lock import WALKING

    with pytest.raises(TraceError):
        autoinit.plan(small(0), (4, 99))
    free = []
    thread = threading.Thread(target=lambda: free.append(WALKING.acquire(timeout=5)) or WALKING.release())
    thread.start()
    thread.join()
    assert free == [True]


# --- it ends ----------------------------------------------------------------------------------------------------------


class Endless(layers.Layer):
    """A loop that waits for a value."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def call(self, x):
        if self.kind == "python":
            while True:
                x = x * 0.5
        if self.kind == "constants":
            t = ops.zeros(())
            while float(ops.convert_to_numpy(t)) < 1:
                t = ops.multiply(t, 1.5)
        if self.kind == "swallows":
            while True:
                try:
                    x = x * 0.5
                except ValueError:
                    continue
        return self(x)  # recursion


@pytest.mark.parametrize("kind", ["python", "constants", "swallows", "recursion"])
def test_loops_that_do_not_end_meet_the_budget(kind):
    layer, dense = Endless(kind), layers.Dense(3)
    model = keras.Sequential([dense, layer])
    dense.build((None, 4))
    layer.built = model.built = True
    with pytest.raises(TraceError) as error:
        autoinit.plan(model, (2, 4), max_ops=500)
    assert "max_ops" in error.value.fix or (kind == "recursion" and "ecursion" in str(error.value))


def test_seconds_run_out():
    layer, dense = Endless("python"), layers.Dense(3)
    model = keras.Sequential([dense, layer])
    dense.build((None, 4))
    layer.built = model.built = True
    with pytest.raises(TraceError, match="seconds") as error:
        autoinit.plan(model, (2, 4), max_seconds=0.5)
    assert "max_seconds" in error.value.fix


def test_bad_budgets():
    with pytest.raises(OptionError, match="max_ops"):
        autoinit.plan(small(0), max_ops=0)
