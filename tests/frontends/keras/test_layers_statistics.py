"""Dropout, noise, pooling and normalisation layers: predicted moments against the real layers."""

from __future__ import annotations

import pytest

keras = pytest.importorskip("keras")

import numpy as np  # noqa: E402
from keras import layers  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402

from .measuring import LAWS, array, at_target, moments, output_of  # noqa: E402

IMAGE, SERIES, VOLUME, ROWS = (16, 8, 8, 16), (32, 12, 16), (8, 5, 5, 4, 8), (256, 64)
CHANCE = {
    "Dropout": (lambda: layers.Dropout(0.3), ROWS),
    "Dropout noise shape": (lambda: layers.Dropout(0.4, noise_shape=(None, 1, None)), SERIES),
    "SpatialDropout1D": (lambda: layers.SpatialDropout1D(0.4), SERIES),
    "SpatialDropout2D": (lambda: layers.SpatialDropout2D(0.4), IMAGE),
    "SpatialDropout3D": (lambda: layers.SpatialDropout3D(0.4), VOLUME),
    "AlphaDropout": (lambda: layers.AlphaDropout(0.3), ROWS),
    "GaussianDropout": (lambda: layers.GaussianDropout(0.4), ROWS),
    "GaussianNoise": (lambda: layers.GaussianNoise(0.7), ROWS),
    "ActivityRegularization": (lambda: layers.ActivityRegularization(0.1), ROWS),
}


@pytest.mark.parametrize("mean, variance", LAWS)
@pytest.mark.parametrize("name", CHANCE)
def test_chance(name: str, mean: float, variance: float) -> None:
    build, shape = CHANCE[name]
    layer = build()
    then = (lambda x: layer(x) * 1.0) if name == "ActivityRegularization" else layer
    moments(then, Input(shape, mean=mean, variance=variance), repeats=24)


@pytest.mark.one_backend
@pytest.mark.parametrize("name", CHANCE)
def test_no_chance_outside_training(name: str) -> None:
    build, shape = CHANCE[name]
    layer = build()
    row, _ = output_of(keras.Sequential([keras.Input(shape[1:]), layer, layers.Dense(4)]), Input(shape), training=False)
    assert row.second > 0
    plan = autoinit.plan(keras.Sequential([keras.Input(shape[1:]), build(), layers.Dense(4)]), Input(shape),
                         training=False)  # fmt: skip
    assert plan.parameters[0].parts[0].std == pytest.approx(shape[-1] ** -0.5, rel=1e-6)


def test_spatial_dropout_drops_whole_maps() -> None:
    """Averaged over places, noise per entry would vanish; noise per map stays: 0.3/0.7 of the squared mean."""
    row = moments(lambda x: layers.GlobalAveragePooling2D()(layers.SpatialDropout2D(0.3)(x, training=True)),
                  Input(IMAGE, mean=2.0, variance=0.1), repeats=24)  # fmt: skip
    assert row.variance == pytest.approx(4.0 * 0.3 / 0.7, rel=0.02)


POOLS = {}
for _n, _shape in ((1, SERIES), (2, IMAGE), (3, VOLUME)):
    POOLS |= {
        f"AveragePooling{_n}D": (lambda n=_n: getattr(layers, f"AveragePooling{n}D")(2), _shape),
        f"AveragePooling{_n}D same": (
            lambda n=_n: getattr(layers, f"AveragePooling{n}D")(3, strides=2, padding="same"), _shape),
        f"MaxPooling{_n}D": (lambda n=_n: getattr(layers, f"MaxPooling{n}D")(2), _shape),
        f"MaxPooling{_n}D same": (
            lambda n=_n: getattr(layers, f"MaxPooling{n}D")(3, strides=2, padding="same"), _shape),
        f"GlobalAveragePooling{_n}D": (lambda n=_n: getattr(layers, f"GlobalAveragePooling{n}D")(), _shape),
        f"GlobalAveragePooling{_n}D kept": (
            lambda n=_n: getattr(layers, f"GlobalAveragePooling{n}D")(keepdims=True), _shape),
        f"GlobalMaxPooling{_n}D": (lambda n=_n: getattr(layers, f"GlobalMaxPooling{n}D")(), _shape),
    }  # fmt: skip
    if hasattr(layers, f"AdaptiveAveragePooling{_n}D"):
        POOLS |= {
            f"AdaptiveAveragePooling{_n}D": (
                lambda n=_n: getattr(layers, f"AdaptiveAveragePooling{n}D")(2), (*_shape[:1], *(4,) * _n, 8)),
            f"AdaptiveMaxPooling{_n}D": (
                lambda n=_n: getattr(layers, f"AdaptiveMaxPooling{n}D")(2), (*_shape[:1], *(4,) * _n, 8)),
        }  # fmt: skip


@pytest.mark.parametrize("mean, variance", LAWS[:2])
@pytest.mark.parametrize("name", POOLS)
def test_pooling(name: str, mean: float, variance: float) -> None:
    """Averages are exact; maxima over windows that stick out are taken over their mean number of entries."""
    build, shape = POOLS[name]
    moments(build(), Input(shape, mean=mean, variance=variance), model_error=0.01 if "Max" in name else 0.0)


@pytest.mark.parametrize("name", ["GlobalAveragePooling2D", "AveragePooling2D", "MaxPooling2D"])
def test_pooling_of_pixels_that_resemble(name: str) -> None:
    """Pixels of correlation 0.5: an average keeps half of the variance, and a maximum has less to choose from."""
    build, shape = POOLS[name]
    moments(build(), Input(shape, variance=2.0, correlation={1: 0.7, 2: 0.7}), model_error=0.02, repeats=40)


NORMS = {
    "BatchNormalization": (lambda: layers.BatchNormalization(), IMAGE),
    "BatchNormalization of rows": (lambda: layers.BatchNormalization(), ROWS),
    "BatchNormalization axis": (lambda: layers.BatchNormalization(axis=1), SERIES),
    "BatchNormalization plain": (lambda: layers.BatchNormalization(scale=False, center=False), ROWS),
    "LayerNormalization": (lambda: layers.LayerNormalization(), SERIES),
    "LayerNormalization axes": (lambda: layers.LayerNormalization(axis=[1, 2]), SERIES),
    "LayerNormalization first axis": (lambda: layers.LayerNormalization(axis=1), SERIES),
    "LayerNormalization plain": (lambda: layers.LayerNormalization(scale=False, center=False), SERIES),
    "GroupNormalization": (lambda: layers.GroupNormalization(4), IMAGE),
    "GroupNormalization of instances": (lambda: layers.GroupNormalization(-1), IMAGE),
    "GroupNormalization of one": (lambda: layers.GroupNormalization(1), IMAGE),
    "GroupNormalization axis": (lambda: layers.GroupNormalization(4, axis=1), (16, 8, 6, 6)),
    "GroupNormalization of rows": (lambda: layers.GroupNormalization(4), ROWS),
    "RMSNormalization": (lambda: layers.RMSNormalization(), SERIES),
    "UnitNormalization": (lambda: layers.UnitNormalization(), SERIES),
    "UnitNormalization axes": (lambda: layers.UnitNormalization(axis=[1, 2]), SERIES),
}


@pytest.mark.parametrize("mean, variance", LAWS)
@pytest.mark.parametrize("name", NORMS)
def test_normalisation(name: str, mean: float, variance: float) -> None:
    if name == "LayerNormalization first axis" and keras.backend.backend() == "torch":
        pytest.skip("the PyTorch backend cannot run a layer norm over a middle axis")
    build, shape = NORMS[name]
    layer = build()
    layer.build(shape)
    moments(layer, Input(shape, mean=mean, variance=variance), model_error=0.003)


@pytest.mark.parametrize("name", ["BatchNormalization", "LayerNormalization", "GroupNormalization", "RMSNormalization"])
def test_scale_and_shift_count(name: str) -> None:
    build, shape = NORMS[name]
    layer = build()
    layer.build(shape)
    rng = np.random.default_rng(3)
    for k, v in enumerate(layer.trainable_variables):
        v.assign(rng.normal(1.5 if k == 0 else -0.5, 0.3, v.shape))
    moments(layer, Input(shape, mean=0.6, variance=2.0), model_error=0.01)


def test_moving_statistics_outside_training() -> None:
    """Also of a frozen layer in training."""
    layer = layers.BatchNormalization()
    layer.build(ROWS)
    layer.moving_mean.assign(np.full(64, 0.5))
    layer.moving_variance.assign(np.full(64, 4.0))
    row = moments(layer, Input(ROWS, mean=1.5, variance=1.0), training=False)
    assert row.mean == pytest.approx(0.5, rel=1e-3) and row.variance == pytest.approx(0.25, rel=1e-3)
    layer.trainable = False
    row = moments(layer, Input(ROWS, mean=1.5, variance=1.0))
    assert row.mean == pytest.approx(0.5, rel=1e-3)


@pytest.mark.one_backend
def test_group_norm_keeps_groups_apart() -> None:
    """Channels first and last are the same thing."""
    rows = [
        moments(lambda x, a=axis: layers.GroupNormalization(2, axis=a)(x), Input(shape, mean=0.4, correlation={c: 0.5}),
                model_error=0.02)
        for axis, shape, c in ((-1, (16, 6, 6, 8), 3), (1, (16, 8, 6, 6), 1))
    ]  # fmt: skip
    assert rows[0].second == pytest.approx(rows[1].second, rel=1e-9)


@pytest.mark.parametrize("norm", [
    "BatchNormalization", *(pytest.param(name, marks=pytest.mark.one_backend) for name in (
        "GroupNormalization", "LayerNormalization"))
])  # fmt: skip
def test_weights_behind_norms(norm: str) -> None:
    """Blocks of convolution, norm and activation in training."""
    at_target(lambda: keras.Sequential([
        keras.Input((8, 8, 8)), layers.Conv2D(32, 3, padding="same"), NORMS[norm][0](), layers.Activation("gelu"),
        layers.Dropout(0.1), layers.Conv2D(32, 3, padding="same"),
    ]), Input((16, 8, 8, 8)), model_error=0.03)  # fmt: skip


SPECTRAL = {
    "Dense": (lambda: layers.Dense(48), (64, 32)),
    "Conv2D": (lambda: layers.Conv2D(16, 3), IMAGE),
    "Conv2D, many iterations": (lambda: layers.Conv2D(16, 3), IMAGE),
}


@pytest.mark.parametrize("name", [
    "Dense", "Conv2D", pytest.param("Conv2D, many iterations", marks=pytest.mark.one_backend)
])  # fmt: skip
def test_spectral_normalization(name: str) -> None:
    """The scale of the kernel is divided out in training: what comes out is predicted, and does not depend on it."""
    build, shape = SPECTRAL[name]
    given = Input(shape, mean=0.3, variance=1.5)
    rows = []
    for scale in (0.1, 3.0):
        keras.utils.set_random_seed(0)
        layer = layers.SpectralNormalization(build(), power_iterations=30 if "many" in name else 1)
        model = keras.Sequential([keras.Input(shape[1:]), layer, layers.Dense(8)])
        layer.kernel.assign(array(layer.kernel) * scale)
        plan = autoinit.plan(model, given)
        kernel = next(p for p in plan.parameters if p.name.endswith("kernel"))
        assert kernel.action == "kept" and not plan.unreached()
        rows.append(next(t for t in plan.tensors if t.weight is not None))
        x = given.sample(np.random.default_rng(0)).astype("float32")
        before = array(layer.kernel), array(layer.vector_u)
        y = array(layer(x, training=True))
        layer.kernel.assign(before[0])
        layer.vector_u.assign(before[1])
        assert rows[-1].second == pytest.approx(np.square(y).mean(), rel=0.1)
    assert rows[0].second == pytest.approx(rows[1].second, rel=1e-5)


def test_spectral_normalization_outside_training() -> None:
    model = keras.Sequential([keras.Input((32,)), layers.SpectralNormalization(layers.Dense(48))])
    plan = autoinit.plan(model, Input((64, 32)), training=False)
    assert plan.parameters[0].action == "set" and plan.tensors[-1].second == pytest.approx(1.0)
