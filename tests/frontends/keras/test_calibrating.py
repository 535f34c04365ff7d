"""Calibration on the three backends: the same draw, the same noise, the same factors."""

from __future__ import annotations

from typing import Any

import pytest

keras = pytest.importorskip("keras")

import numpy as np  # noqa: E402
from keras import layers  # noqa: E402

import autoinit  # noqa: E402
from autoinit.core.plan.calibration import goals  # noqa: E402
from autoinit.errors import PlanError  # noqa: E402
from autoinit.measurement import key_of  # noqa: E402


def plain(activation: str = "relu", depth: int = 8) -> Any:
    return keras.Sequential([
        keras.Input((12, 12, 3), 16),
        *(layers.Conv2D(24, 3, padding="same", activation=activation, name=f"conv{k}") for k in range(depth)),
        layers.GlobalAveragePooling2D(),
        layers.Dense(12, name="head"),
    ])  # fmt: skip


def off(model: Any, plan: autoinit.Plan, inputs: Any = None) -> list[float]:
    """By what factor every layer with a goal misses it, on fresh noise."""
    rows = autoinit.measure(model, inputs, seed=77, warn=False).rows
    found = {key_of(row.predicted): row.variance for row in rows}
    return [float(np.exp(abs(np.log(found[key] / goal.variance)))) for key, goal in goals(plan).items()]


def test_a_draw_is_put_on_target_and_looking_changes_nothing() -> None:
    model = plain()
    before = [np.array(w) for w in model.get_weights()]
    plan = autoinit.plan(model, calibrate=True)
    assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True))
    plan.apply(model)
    assert max(off(model, plan)) < 1.15
    autoinit.initialize(model)
    assert max(off(model, plan)) > 1.25


def test_the_factors_do_not_depend_on_the_backend() -> None:
    plan = autoinit.plan(plain(depth=3), calibrate=True)
    found = [plan[name].parts[0].factor for name in ("conv0/kernel", "conv1/kernel", "conv2/kernel", "head/kernel")]
    assert found == pytest.approx(FACTORS, rel=1e-3)


FACTORS = [1.00560, 1.02028, 1.04783, 1.09592]
"""As the first backend had them."""


@pytest.mark.parametrize("center", ["bias", "activation"])
def test_centring_follows(center: Any) -> None:
    model = keras.Sequential([keras.Input((32,), 256), layers.Dense(96, "softplus"), layers.Dense(96, "softplus"),
                              layers.Dense(32)])  # fmt: skip
    plan = autoinit.initialize(model, calibrate=True, center=center)
    assert max(off(model, plan)) < 1.15


def test_a_saved_plan_gives_the_same_weights_and_no_other_seed(tmp_path: Any) -> None:
    model, other = plain(depth=2), plain(depth=2)
    plan = autoinit.initialize(model, calibrate=True, seed=5)
    plan.save(tmp_path / "plan.json")
    autoinit.Plan.load(tmp_path / "plan.json").apply(other)
    assert all(np.array_equal(a, b) for a, b in zip(model.get_weights(), other.get_weights(), strict=True))
    with pytest.raises(PlanError, match="another seed"):
        plan.apply(other, seed=6)


def test_a_model_without_weights_gets_none_by_it() -> None:
    model = keras.Sequential([layers.Dense(64, "relu"), layers.Dense(64, "relu"), layers.Dense(32)])
    plan = autoinit.plan(model, (256, 24), calibrate=True)
    assert not model.built
    plan.apply(model)
    assert max(off(model, plan, (256, 24))) < 1.15


class Twice(keras.Model):
    """A layer that is used twice, and one that is frozen."""

    def __init__(self) -> None:
        super().__init__()
        self.shared, self.kept, self.head = layers.Dense(48, "tanh"), layers.Dense(48, "relu"), layers.Dense(24)

    def call(self, x: Any) -> Any:
        return self.head(self.kept(self.shared(self.shared(x))))


def test_shared_and_frozen_weights() -> None:
    model = Twice()
    model(np.zeros((2, 48), "float32"))
    model.kept.trainable = False
    kept = np.array(model.kept.get_weights()[0])
    plan = autoinit.initialize(model, (256, 48), calibrate=True)
    assert np.array_equal(kept, model.kept.get_weights()[0])
    assert len(goals(plan)) == 2 and max(off(model, plan, (256, 48))) < 1.15


def test_biases_that_are_kept_are_settled_in_another_run() -> None:
    model = keras.Sequential([keras.Input((32,), 256), layers.Dense(64, "relu", bias_initializer="ones"),
                              layers.Dense(24, name="head")])  # fmt: skip
    plan = autoinit.initialize(model, calibrate=True, skip="*bias")
    assert max(off(model, plan)) < 1.15


@pytest.mark.one_backend
def test_attention_recurrence_and_tables() -> None:
    ids = keras.Input((10,), 32, dtype="int32")
    x = layers.Embedding(50, 32)(ids)
    x = x + layers.MultiHeadAttention(4, 8)(x, x)
    model = keras.Model(ids, layers.Dense(16)(layers.LSTM(24)(x)))
    plan = autoinit.initialize(model, calibrate=True, distribution="orthogonal")
    assert max(off(model, plan)) < 1.25


def test_kept_biases_that_spread_are_settled_in_another_run() -> None:
    """A kept bias adds its own variance, which does not follow the weight."""
    spread = keras.initializers.RandomNormal(stddev=0.6, seed=0)
    model = keras.Sequential([keras.Input((32,), 512), layers.Dense(64, "relu", bias_initializer=spread),
                              layers.Dense(24, name="head")])  # fmt: skip
    plan = autoinit.initialize(model, calibrate=True, skip="*bias")
    assert max(off(model, plan)) < 1.1
