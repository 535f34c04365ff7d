"""Predictions against real Keras layers.

`moments` feeds noise of a given law to the real layer and compares its output with the prediction: the mean and the
second moment have to lie within five standard errors over independent repeats, plus a stated share of E[y^2] for rules
that are approximations. `at_target` does the same for weight layers over draws of the weights: their second moment has
to be the planned one, 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import pytest
from keras import ops

import autoinit
from autoinit import Input

SIGMAS = 5.0
LAWS = [
    pytest.param(0.0, 1.0, marks=pytest.mark.one_backend),
    (1.2, 0.5),
    pytest.param(-0.4, 4.0, marks=pytest.mark.one_backend),
]
"""(mean, variance) of the entries that go in. Rules know of no backends, lowerings do: for these one law is enough."""


class Beside(keras.layers.Layer):
    """A layer or function, next to a weight that it does not use: models without any are refused."""

    def __init__(self, function: Callable[..., Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.function = function
        self.spare = self.add_weight(shape=(1,), name="spare")

    def build(self, *shapes: Any) -> None:
        pass  # what is inside builds itself

    def call(self, inputs: Any, training: Any = None) -> Any:
        if isinstance(self.function, keras.layers.Layer) and self.function._call_has_training_arg:
            return self.function(inputs, training=training)
        return self.function(inputs)


def array(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(ops.convert_to_numpy(x), np.float64)


def output_of(model: Any, inputs: Any, **options: Any) -> Any:
    """The row of the model's (first) output, weights as they are; nothing may have been passed through."""
    plan = autoinit.check(model, inputs, **options)
    assert not [n for n in plan.notes if n.kind in ("passed", "warning")], plan.notes
    return plan.tensors[plan.outputs[0]], plan


def near(values: Sequence[float], expected: float, slack: float, what: str) -> None:
    """The mean of the repeats lies within five of its standard errors (plus `slack`) of `expected`."""
    found = np.asarray(values)
    error = found.std(ddof=1) / np.sqrt(len(found))
    message = f"{what}: predicted {expected:.5g}, measured {found.mean():.5g} +- {error:.2g}, slack {slack:.2g}"
    assert abs(found.mean() - expected) <= SIGMAS * error + slack, message


def moments(
    function: Callable[..., Any], *inputs: Input, model_error: float = 0.0, repeats: int = 12, simulated: bool = False,
    training: bool = True,
) -> Any:  # fmt: skip
    """Predicted mean and second moment of the output against those of the real layer; returns the row."""
    model = Beside(function)
    row, plan = output_of(model, list(inputs) if len(inputs) > 1 else inputs[0], training=training)
    assert bool([n for n in plan.notes if n.kind == "simulated"]) == simulated, plan.notes
    rng = np.random.default_rng(1)
    keras.utils.set_random_seed(1)
    means, seconds = [], []
    for _ in range(repeats):
        given = [ops.convert_to_tensor(i.sample(rng).astype(i.dtype or "float32")) for i in inputs]
        y = array(keras.tree.flatten(model(given if len(given) > 1 else given[0], training=training))[0])
        assert y.shape == tuple(row.shape)
        means.append(y.mean())
        seconds.append(np.square(y).mean())
    level = max(row.second, 1e-12)
    near(means, row.mean, model_error * np.sqrt(level) + 1e-5 * np.sqrt(level), "mean")
    near(seconds, row.second, model_error * level + 1e-5 * level, "second moment")
    return row


def at_target(
    build: Callable[[], Any], *inputs: Any, model_error: float = 0.0, seeds: int = 8, target: float = 1.0,
    **options: Any,
) -> Any:  # fmt: skip
    """E[y^2] of the model's output over draws of its weights is the target; returns the plan."""
    keras.utils.set_random_seed(0)
    model = build()
    given = list(inputs) if len(inputs) > 1 else inputs[0]
    plan = autoinit.plan(model, given, **options)
    assert not plan.unreached()
    assert not [n for n in plan.notes if n.kind in ("passed", "warning", "simulated")], plan.notes
    found = []
    rng = np.random.default_rng(2)
    for seed in range(seeds):
        plan.apply(model, seed=seed)
        x = [ops.convert_to_tensor(i.sample(rng).astype(i.dtype or "float32")) for i in inputs]
        y = keras.tree.flatten(model(x if len(x) > 1 else x[0], training=True))[0]
        found.append(np.square(array(y)).mean())
    row = plan.tensors[plan.outputs[0]]
    assert abs(row.second - target) < 1e-6 * target
    near(found, target, model_error * target + 1e-4, "second moment")
    assert np.std(found) < 0.15 * target * np.sqrt(seeds), "would accept anything"
    return plan


def functional(layer: Callable[..., Any], *shapes: tuple[int | None, ...], dtype: str = "float32") -> keras.Model:
    """Inputs of these shapes (without batch) through a layer or function."""
    given = [keras.Input(shape, dtype=dtype) for shape in shapes]
    return keras.Model(given if len(given) > 1 else given[0], layer(*given))
