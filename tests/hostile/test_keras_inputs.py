"""The same for Keras: inputs as people have them, and inputs that are none."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

keras = pytest.importorskip("keras")

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402
from autoinit.errors import InputError, OptionError  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.standard_normal((32, 16)).astype("float32")
Pair = collections.namedtuple("Pair", "x y")


def dense() -> Any:
    return keras.Sequential([keras.Input((16,)), keras.layers.Dense(8)])


def two() -> Any:
    a, b = keras.Input((16,)), keras.Input((16,))
    return keras.Model([a, b], keras.layers.Dense(8)(keras.layers.Add()([a, b])))


def named() -> Any:
    a, b = keras.Input((16,), name="x"), keras.Input((16,), name="y")
    return keras.Model({"x": a, "y": b}, keras.layers.Dense(8)(keras.layers.Add()([a, b])))


PLANNED = {
    "an array": (dense, X),
    "double precision": (dense, X.astype("float64")),
    "a shape": (dense, (32, 16)),
    "nothing: the model knows": (dense, None),
    "columns": (dense, Input((32, 16), mean=np.arange(16.0))),
    "a tuple": (two, (X, X)),
    "a named tuple": (two, Pair(X, X)),
    "a dict": (named, {"x": X, "y": X}),
    "an ordered dict": (named, collections.OrderedDict(x=X, y=X)),
    "a named tuple with the model's names": (named, Pair(X, X)),
}


@pytest.mark.parametrize("name", PLANNED)
def test_planned(name: str) -> None:
    make, inputs = PLANNED[name]
    model = make()
    plan = autoinit.initialize(model, inputs)
    assert not plan.unreached() and plan.weight_layers[0].second == pytest.approx(1.0)
    autoinit.measure(model, inputs)


REFUSED = {
    "784": (784, "(batch, 784)"),
    "a float": (1.5, "a shape such as"),
    "a truth value": (True, "a shape such as"),
    "a complex number": (2j, "a shape such as"),
    "a text": ("8,16", "a shape such as"),
    "bytes": (b"8", "a shape such as"),
    "a function": (lambda: X, "a shape such as"),
    "a class": (np.ndarray, "cannot be an input"),
    "an object": (object(), "a shape such as"),
    "a generator": ((x for x in [X]), "one batch"),
    "an iterator": (iter([X]), "one batch"),
    "numbers in lists": ([[1.0] * 16], "np.array"),
    "an empty batch": (np.zeros((0, 16)), "at least one sample"),
    "NaN": (np.full((4, 16), np.nan), "NaN"),
    "an array of objects": (np.array([object()]), "array of numbers"),
    "a size of zero": ((0, 16), "not zero"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    inputs, text = REFUSED[name]
    for function in (autoinit.plan, autoinit.initialize, autoinit.check):
        with pytest.raises(InputError) as caught:
            function(dense(), inputs)
        assert text in str(caught.value) and caught.value.fix and caught.value.received is not None


@pytest.mark.parametrize(
    "options", [{"variance": "2"}, {"seed": "x"}, {"training": 1}, {"rules": {keras.layers.Dense: None}}]
)
def test_options(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        autoinit.plan(dense(), **options)


@keras.saving.register_keras_serializable(package="hostile")
class Halves(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.out = (keras.layers.Dense(64) for _ in range(3))

    def call(self, x: Any) -> Any:
        return self.out(keras.ops.concatenate([self.first(x[:, :8]), self.second(x[:, 8:])], -1))


@keras.saving.register_keras_serializable(package="hostile")
class Tabular(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.layer, self.out = (
            keras.layers.Embedding(10, 64),
            keras.layers.Dense(64),
            keras.layers.Dense(64),
        )

    def call(self, x: Any) -> Any:
        indices = keras.ops.cast(x[:, 0], "int32")
        return self.out(keras.ops.concatenate([self.table(indices), self.layer(x[:, 1:])], -1))


SPREAD = np.array([1.0] * 8 + [1e4] * 8)
WIDE = (RNG.standard_normal((512, 16)) * np.sqrt(SPREAD)).astype("float32")
MIXED = WIDE.copy()
MIXED[:, 0] = RNG.integers(0, 10, 512)


@pytest.mark.parametrize(
    ("make", "inputs"),
    [
        (Halves, WIDE),
        (Halves, Input((512, 16), variance=SPREAD)),
        (Tabular, MIXED),
        (Tabular, Input((512, 16), variance=SPREAD, vocabulary={0: 10})),
    ],
    ids=["batch", "described", "indices in a batch", "indices described"],
)
def test_columns(make: Any, inputs: Any) -> None:
    """Mean of 8 draws, each of 64 features of at least 7 columns: scatter of about sqrt(2/7/64/8)."""
    model = make()
    plan = autoinit.plan(model, inputs)
    found = []
    for seed in range(8):
        plan.apply(model, seed=seed)
        found.append([r.mean**2 + r.variance for r in autoinit.measure(model, inputs, seed=seed).weight_layers])
    assert np.mean(found, 0) == pytest.approx(1.0, abs=0.2)
