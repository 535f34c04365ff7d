"""The watch in Keras: in `fit`, and in loops of one's own."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers
from sklearn.datasets import load_digits

import autoinit
from autoinit.frontends.keras.variables import as_array
from autoinit.watching.keras import WatchSignals


def digits(samples=256):
    data = load_digits()
    x = data.data[:samples].astype("float32")
    return (x - x.mean()) / x.std(), data.target[:samples].astype("int32")


def network(dropout=0.2):
    x = inputs = keras.Input((64,))
    x = layers.Dense(96, "relu", name="first")(x)
    x = layers.BatchNormalization()(x)
    x = layers.Dropout(dropout, seed=1)(x)
    x = layers.Dense(48, "gelu", name="second")(x)
    model = keras.Model(inputs, layers.Dense(10, name="last")(x))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.05), loss)
    return model


def fitted(callback=None, dropout=0.2, **options):
    keras.utils.set_random_seed(0)
    model = network(dropout)
    autoinit.initialize(model)
    x, y = digits()
    callbacks = [] if callback is None else [callback]
    history = model.fit(x, y, batch_size=64, shuffle=False, verbose=0, callbacks=callbacks, **options)
    return model, history


def test_fit():
    x, _ = digits()
    callback = WatchSignals(batch=x[:64], steps=(0, 1, 5))
    fitted(callback, epochs=2)  # four steps each
    watch = callback.watch
    assert watch.steps == [0, 1, 5] and watch.plan.checked
    assert [r.layer for r in watch.record[:3]] == ["first", "second", "last"]
    assert all(0.4 < r.ratio < 2.5 for r in watch.record if r.step == 0)
    start, later = ([r.variance for r in watch.record if r.step == k] for k in (0, 5))
    assert start != later  # the weights of the step, not those of the beginning
    assert "step 5" in str(watch)


def test_the_weights_are_those_of_the_step():
    """The last look of one fit sees what the model computes after it."""
    x, _ = digits()
    callback = WatchSignals(batch=x[:64], steps=(4,))
    model, _ = fitted(callback, dropout=0.0, epochs=2, steps_per_epoch=4)
    watch = autoinit.watch(model, callback.watch.plan)
    [row] = [r for r in watch.look(x[:64], step=8) if r.layer == "last"]
    outputs = as_array(model(x[:64], training=True))
    assert row.variance == pytest.approx(outputs.var(), rel=1e-3) and row.mean == pytest.approx(
        outputs.mean(), abs=1e-4
    )
    half, _ = fitted(dropout=0.0, epochs=1, steps_per_epoch=4)
    expected = as_array(half(x[:64], training=True))
    [seen] = [r for r in callback.watch.record if r.layer == "last"]
    assert seen.variance == pytest.approx(expected.var(), rel=1e-3)


def test_training_goes_as_it_would_without():
    (plain, history), (watched, other) = fitted(epochs=2), fitted(WatchSignals(every=2), epochs=2)
    assert history.history["loss"] == pytest.approx(other.history["loss"], rel=1e-6)
    for a, b in zip(plain.variables, watched.variables, strict=True):
        assert np.array_equal(as_array(a.value), as_array(b.value))


def test_a_plan_is_used():
    model = network()
    plan = autoinit.initialize(model)
    callback = WatchSignals(plan, first=1)
    x, y = digits()
    model.fit(x, y, batch_size=64, verbose=0, callbacks=[callback])
    assert callback.watch.plan is plan and callback.watch.steps == [0]


@pytest.mark.skipif(keras.backend.backend() == "torch", reason="Keras has this on TensorFlow and JAX only")
def test_several_steps_per_execution():
    keras.utils.set_random_seed(0)
    model = network()
    model.compile(keras.optimizers.SGD(0.05), "mse", steps_per_execution=2)
    x, _ = digits()
    callback = WatchSignals(steps=(0, 1, 4))
    model.fit(x, np.zeros((len(x), 10), "float32"), batch_size=64, epochs=2, verbose=0, callbacks=[callback])
    assert callback.watch.steps[0] == 0 and len(callback.watch.steps) == 3


def test_a_loop_of_ones_own_asks():
    model = network()
    plan = autoinit.initialize(model)
    x, y = digits()
    with autoinit.watch(model, plan, steps=(0, 2)) as watch:
        for step in range(3):
            batch = x[step * 64 : step * 64 + 64]
            if watch.due(step):
                watch.look(batch, step)
            model.train_on_batch(batch, y[step * 64 : step * 64 + 64])
    assert watch.steps == [0, 2]


def test_batches_of_several_shapes():
    model = network(dropout=0.0)
    plan = autoinit.initialize(model)
    watch = autoinit.watch(model, plan)
    x, _ = digits()
    for batch in (x[:64], x[64:128], x[:40]):
        row = watch.look(batch)[-1]
        assert row.variance == pytest.approx(as_array(model(batch, training=True)).var(), rel=1e-3)
    assert watch.steps == [0, 1, 2]


def test_a_failure_does_not_stop_training():
    callback = WatchSignals(batch=np.zeros((64, 7), "float32"))
    with pytest.warns(UserWarning, match="stopped at step 0"):
        fitted(callback, epochs=1)


def test_entries_that_are_not_finite_are_counted():
    model = network()
    plan = autoinit.initialize(model)
    kernel = model.get_layer("first").kernel
    values = np.array(as_array(kernel.value))
    values[0, 0] = np.inf
    kernel.assign(values)
    rows = autoinit.watch(model, plan).look(digits()[0][:64])
    assert rows[0].nonfinite > 0 and np.isnan(rows[0].variance)
