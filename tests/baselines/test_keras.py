"""The baselines on Keras models: the same functions, through the same tracing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

keras = pytest.importorskip("keras")

from keras import layers  # noqa: E402

import autoinit  # noqa: E402
from autoinit import baselines  # noqa: E402
from autoinit.errors import OptionError  # noqa: E402
from autoinit.frontends.keras.variables import as_array, parameters_of  # noqa: E402


def residual() -> Any:
    x = inputs = keras.Input((10, 10, 3))
    x = layers.Conv2D(12, 3, padding="same", name="stem")(x)
    for k in range(2):
        y = layers.Conv2D(12, 3, padding="same", name=f"conv{k}")(layers.ReLU()(x))
        x = layers.Add()([x, layers.Dropout(0.2)(y)])
    x = layers.GlobalAveragePooling2D()(layers.ReLU()(x))
    return keras.Model(inputs, layers.Dense(5, name="head")(x))


def batch(*shape: int) -> Any:
    return (np.random.default_rng(0).normal(size=shape or (16, 10, 10, 3)) * 3 + 1).astype("float32")


def values(model: Any) -> dict[str, Any]:
    return {name: as_array(v.value) for name, v in parameters_of(model).items()}


def variances(model: Any, x: Any, **options: Any) -> list[float]:
    return [row.variance for row in autoinit.measure(model, x, **options).weight_layers]


@pytest.mark.parametrize("pre", ["orthogonal", "he_normal", "default", None])
def test_lsuv_reaches_the_target(pre: str | None) -> None:
    model, x = residual(), batch()
    found = baselines.lsuv(model, x, pre=pre, target=0.5, tolerance=0.02, training=False)
    assert set(found) == {"stem/kernel", "conv0/kernel", "conv1/kernel", "head/kernel"}
    assert list(found.values()) == pytest.approx([0.5] * 4, rel=0.02)
    assert variances(model, x, training=False) == pytest.approx([0.5] * 4, rel=0.03)


def test_lsuv_of_shared_layers_embeddings_and_attention() -> None:
    tokens, data = keras.Input((12,), dtype="int32", name="tokens"), keras.Input((12, 16), name="data")
    shared = layers.Dense(16, name="shared")
    x = layers.Add()([layers.Embedding(30, 16, name="table")(tokens), shared(data)])
    x = layers.MultiHeadAttention(2, 8, name="attention")(x, x)
    model = keras.Model({"tokens": tokens, "data": data}, layers.Dense(3, name="head")(shared(layers.ReLU()(x))))
    inputs = {"tokens": np.random.default_rng(1).integers(0, 30, (8, 12)), "data": batch(8, 12, 16)}
    found = baselines.lsuv(model, inputs, tolerance=0.01, training=False)
    assert len(found) == 7
    rows = autoinit.measure(model, inputs, training=False).weight_layers
    by_weight: dict[str, list[float]] = {}
    for row in rows:
        by_weight.setdefault(row.predicted.weight, []).append(row.variance)
    assert [v[0] for v in by_weight.values()] == pytest.approx([1.0] * 7, rel=0.02)
    assert len(by_weight["shared/kernel"]) == 2


def test_lsuv_takes_the_first_samples_and_leaves_frozen_layers_alone() -> None:
    x = batch()
    one, two = residual(), residual()
    for model in (one, two):
        model.get_layer("conv0").trainable = False
        model.get_layer("conv0").kernel.assign(np.full((3, 3, 12, 12), 0.01))
    baselines.lsuv(one, x, samples=4)
    baselines.lsuv(two, x[:4])
    for a, b in zip(values(one).values(), values(two).values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert np.all(as_array(one.get_layer("conv0").kernel.value) == np.float32(0.01))


def test_lsuv_without_a_batch_uses_noise_and_has_no_samples_to_take() -> None:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(8, "relu"), layers.Dense(3)])
    assert list(baselines.lsuv(model, tolerance=0.05).values()) == pytest.approx([1.0, 1.0], rel=0.05)
    with pytest.raises(OptionError, match="samples"):
        baselines.lsuv(model, samples=3)


def test_lsuv_warns_of_a_constant_signal() -> None:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(8, "relu"), layers.Dense(3)])
    with pytest.warns(UserWarning, match="could not scale"):
        baselines.lsuv(model, np.zeros((5, 4), "float32"))


FANS = {  # fan in, fan out
    "depth/kernel": (9, 18), "grouped/kernel": (27, 72), "turned/kernel": (144, 36),
    "attention/query/kernel": (4, 16), "attention/attention_output/kernel": (16, 4), "head/kernel": (256, 50),
}  # fmt: skip


def varied() -> Any:
    x = inputs = keras.Input((8, 8, 3))
    x = layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same", name="depth")(x)
    x = layers.Conv2D(16, 3, groups=2, padding="same", name="grouped")(x)
    x = layers.Conv2DTranspose(4, 3, padding="same", name="turned")(x)
    x = layers.MultiHeadAttention(2, 8, name="attention")(*[layers.Reshape((64, 4))(x)] * 2)
    return keras.Model(inputs, layers.Dense(50, name="head")(layers.Flatten()(x)))


@pytest.mark.parametrize("scheme", ["glorot_normal", "he_uniform", "lecun_normal"])
def test_deviations_follow_from_fans(scheme: str) -> None:
    model = baselines.classical(varied(), scheme, seed=1)
    for name, (fan_in, fan_out) in FANS.items():
        weight = values(model)[name]
        variance = {"g": 2 / (fan_in + fan_out), "h": 2 / fan_in, "l": 1 / fan_in}[scheme[0]]
        tolerance = 5 * (2 / weight.size) ** 0.5
        assert np.mean(weight**2) == pytest.approx(variance, rel=tolerance), name
    assert not any(v.any() for name, v in values(model).items() if name.endswith("bias"))


@pytest.mark.parametrize("scheme", ["default", "orthogonal", "lsuv", "autoinit", "autoinit-paper"])
def test_names_initialize_and_repeat(scheme: str) -> None:
    one, two, other = residual(), residual(), residual()
    for model, seed in ((one, 5), (two, 5), (other, 6)):
        assert baselines.initialize(model, batch(), scheme, seed) is model
    for a, b in zip(values(one).values(), values(two).values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    assert not np.allclose(values(one)["head/kernel"], values(other)["head/kernel"])


def test_default_draws_from_the_layers_own_initializers() -> None:
    dense, recurrent = layers.Dense(60, kernel_initializer="he_normal", name="dense"), layers.GRU(7, name="recurrent")
    model = keras.Sequential([keras.Input((9, 50)), dense, recurrent])
    for variable in parameters_of(model).values():
        variable.assign(np.ones(variable.shape))
    baselines.classical(model, "default", seed=2)
    found = values(model)
    assert np.var(found["dense/kernel"]) == pytest.approx(2 / 50, rel=5 * (2 / 3000) ** 0.5)
    kernel = next(v for name, v in found.items() if name.endswith("recurrent_kernel"))
    np.testing.assert_allclose(kernel @ kernel.T, np.eye(7), atol=1e-5)
    assert not any(v.any() for name, v in found.items() if name.endswith("bias"))


def test_orthogonal_weights_have_unit_rows_or_columns() -> None:
    kernel = values(baselines.classical(residual(), "orthogonal"))["stem/kernel"].reshape(27, 12)
    np.testing.assert_allclose(kernel.T @ kernel, np.eye(12), atol=1e-5)
