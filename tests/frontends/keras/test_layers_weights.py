"""Layers with weights: their output has second moment 1 after `initialize`, through the real layer."""

from __future__ import annotations

import pytest

keras = pytest.importorskip("keras")

import numpy as np  # noqa: E402
from keras import layers, ops  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402

from .measuring import LAWS, at_target, functional, output_of  # noqa: E402

D, H, W, T = (6, 6, 5), (9, 9), (9, 8), (12,)
CASES = {
    "Dense": (lambda: layers.Dense(64), (32,)),
    "Dense on a sequence": (lambda: layers.Dense(64), (6, 32)),
    "Dense without bias": (lambda: layers.Dense(64, use_bias=False), (32,)),
    "EinsumDense": (lambda: layers.EinsumDense("abc,cd->abd", (None, 64), bias_axes="d"), (6, 32)),
    "EinsumDense heads": (lambda: layers.EinsumDense("abc,cde->abde", (None, 4, 16), bias_axes="de"), (6, 32)),
    "EinsumDense merging": (lambda: layers.EinsumDense("abcd,cde->abe", (None, 48), bias_axes="e"), (6, 4, 8)),
    "EinsumDense turned": (lambda: layers.EinsumDense("abc,cde->adbe", (4, None, 16)), (6, 32)),
    "EinsumDense per position": (lambda: layers.EinsumDense("abc,bcd->abd", (6, 48)), (6, 32)),
    "EinsumDense dots": (lambda: layers.EinsumDense("...x,xy->...y", 64, bias_axes="y"), (6, 32)),
    "Conv1D": (lambda: layers.Conv1D(32, 3), (*T, 16)),
    "Conv1D same": (lambda: layers.Conv1D(32, 4, padding="same"), (*T, 16)),
    "Conv1D causal": (lambda: layers.Conv1D(32, 3, padding="causal", dilation_rate=2), (*T, 16)),
    "Conv1D strided": (lambda: layers.Conv1D(32, 5, strides=3, padding="same"), (*T, 16)),
    "Conv2D": (lambda: layers.Conv2D(32, 3), (*H, 8)),
    "Conv2D same": (lambda: layers.Conv2D(32, 3, padding="same"), (*H, 8)),
    "Conv2D even kernel": (lambda: layers.Conv2D(32, (2, 4), strides=2, padding="same"), (*W, 8)),
    "Conv2D stride": (lambda: layers.Conv2D(32, 3, strides=2, padding="same"), (*W, 8)),
    "Conv2D dilated": (lambda: layers.Conv2D(32, 3, dilation_rate=3, padding="same"), (*W, 8)),
    "Conv2D groups": (lambda: layers.Conv2D(32, 3, groups=4, padding="same"), (*H, 8)),
    "Conv2D pointwise": (lambda: layers.Conv2D(64, 1), (*H, 8)),
    "Conv3D": (lambda: layers.Conv3D(32, 3, padding="same"), (*D, 4)),
    "Conv3D strided": (lambda: layers.Conv3D(32, 2, strides=2), (*D, 4)),
    "DepthwiseConv1D": (lambda: layers.DepthwiseConv1D(5, padding="same"), (*T, 64)),
    "DepthwiseConv2D": (lambda: layers.DepthwiseConv2D(3, padding="same"), (*H, 64)),
    "DepthwiseConv2D times 2": (lambda: layers.DepthwiseConv2D(3, depth_multiplier=2, strides=2), (*H, 32)),
    "SeparableConv1D": (lambda: layers.SeparableConv1D(64, 3, padding="same"), (*T, 32)),
    "SeparableConv2D": (lambda: layers.SeparableConv2D(64, 3, strides=2, depth_multiplier=2), (*H, 32)),
    "Conv1DTranspose": (lambda: layers.Conv1DTranspose(32, 4, strides=3), (*T, 16)),
    "Conv1DTranspose same": (lambda: layers.Conv1DTranspose(32, 3, strides=2, padding="same"), (*T, 16)),
    "Conv2DTranspose": (lambda: layers.Conv2DTranspose(32, 3), (*H, 8)),
    "Conv2DTranspose same": (lambda: layers.Conv2DTranspose(32, 5, strides=2, padding="same"), (*H, 8)),
    "Conv2DTranspose wide stride": (lambda: layers.Conv2DTranspose(32, 2, strides=3, padding="same"), (*H, 8)),
    "Conv2DTranspose output padding": (
        lambda: layers.Conv2DTranspose(32, 3, strides=2, padding="same", output_padding=1), (*H, 8)),
    "Conv3DTranspose": (lambda: layers.Conv3DTranspose(16, 3, strides=2, padding="same"), (4, 4, 4, 4)),
}  # fmt: skip


def batch(shape: tuple[int, ...]) -> int:
    return max(8, min(64, 8192 // int(np.prod(shape))))


@pytest.mark.parametrize("mean, variance", LAWS[:2])
@pytest.mark.parametrize("name", CASES)
def test_weight_layer(name: str, mean: float, variance: float) -> None:
    """Five standard errors over eight draws; nothing is approximated but the overlap of borders."""
    build, shape = CASES[name]
    given = Input((batch(shape), *shape), mean=mean, variance=variance)
    plan = at_target(lambda: keras.Sequential([keras.Input(shape), build()]), given, model_error=0.01)
    for p in plan.parameters:
        assert p.action == ("zero" if p.name.endswith("bias") else "set"), p


def test_one_output() -> None:
    """A bias of one number is a bias."""
    plan = at_target(lambda: keras.Sequential([keras.Input((64,)), layers.Dense(1)]), Input((256, 64)), seeds=24)
    assert [p.action for p in plan.parameters] == ["set", "zero"]


@pytest.mark.parametrize("layer", ["Conv2D", "SeparableConv2D", "DepthwiseConv2D", "Conv2DTranspose"])
def test_channels_first(layer: str) -> None:
    """The same numbers as channels last, with the axes elsewhere (not every backend can run this layout on a CPU)."""
    kernel = {"DepthwiseConv2D": (3,)}.get(layer, (32, 3))
    stds = []
    for form, shape in (("channels_last", (9, 8, 16)), ("channels_first", (16, 9, 8))):
        build = getattr(layers, layer)(*kernel, padding="same", strides=2, data_format=form)
        model = keras.Sequential([keras.Input(shape), build])
        plan = autoinit.plan(model, Input((8, *shape), mean=0.5))
        stds.append([part.std for p in plan.parameters for part in p.parts])
        assert {p.action for p in plan.parameters} == {"set", "zero"}
    assert stds[0] == pytest.approx(stds[1], rel=1e-9)


def test_borders_are_counted() -> None:
    """A 3 x 3 kernel with "same" padding on 2 x 2 pixels has 4 live taps at every place: 2.25 times the nominal."""
    model = keras.Sequential([keras.Input((2, 2, 64)), layers.Conv2D(64, 3, padding="same")])
    plan = autoinit.plan(model, Input((16, 2, 2, 64)))
    assert plan.parameters[0].parts[0].std == pytest.approx((64 * 4) ** -0.5, rel=1e-6)


def test_fan_of_a_strided_transposed_convolution() -> None:
    """Kernel 4, stride 2: each output sees 2 taps, except one each at the first and last two places."""
    model = keras.Sequential([keras.Input((10, 16)), layers.Conv1DTranspose(32, 4, strides=2)])
    plan = autoinit.plan(model, Input((16, 10, 16)))
    mean_taps = 10 * 4 / 22
    assert plan.parameters[0].parts[0].std == pytest.approx((16 * mean_taps) ** -0.5, rel=1e-6)


def test_kept_weights_are_measured() -> None:
    """`check` of a layer with weights and biases of any kind: the real layer has the predicted moments."""
    rng = np.random.default_rng(0)
    for build, shape in (CASES["Dense"], CASES["Conv2D same"], CASES["EinsumDense heads"], CASES["SeparableConv2D"],
                         CASES["Conv2DTranspose same"], CASES["DepthwiseConv2D times 2"]):  # fmt: skip
        model = keras.Sequential([keras.Input(shape), build()])
        for v in model.trainable_variables:
            v.assign(0.3 + 0.5 * rng.standard_normal(v.shape))
        given = Input((batch(shape), *shape), mean=0.7, variance=0.8)
        row, _ = output_of(model, given)
        found = [np.square(np.asarray(ops.convert_to_numpy(model(given.sample(rng).astype("float32"))))).mean()
                 for _ in range(6)]  # fmt: skip
        assert np.mean(found) == pytest.approx(row.second, rel=0.08)


def test_embedding() -> None:
    """Indices may be the model's input: the vocabulary is the layer's."""
    model = keras.Sequential([keras.Input((20,), dtype="int32"), layers.Embedding(500, 64)])
    at_target(lambda: model, Input((64, 20), dtype="int32", vocabulary=500))
    masked = keras.Sequential([keras.Input((20,), dtype="int32"), layers.Embedding(500, 64, mask_zero=True),
                               layers.Dense(32)])  # fmt: skip
    at_target(lambda: masked, Input((64, 20), dtype="int32", vocabulary=500))


def test_centred_biases() -> None:
    """center="bias" works for Keras layers too: the incoming mean is gone, and the variance is 1."""
    for name in ("Dense", "Conv2D", "EinsumDense heads"):
        build, shape = CASES[name]
        given = Input((batch(shape), *shape), mean=2.0)
        plan = at_target(lambda b=build, s=shape: keras.Sequential([keras.Input(s), b()]), given, center="bias",
                         model_error=0.01)  # fmt: skip
        assert [p.action for p in plan.parameters] == ["set", "centre"]


def attention(heads: int = 4, **options):
    return functional(lambda x: layers.MultiHeadAttention(heads, 16, **options)(x, x), (12, 64))


ATTENTION = {
    "MultiHeadAttention": (lambda: attention(), [(12, 64)]),
    "MultiHeadAttention with scores": (
        lambda: functional(lambda x: layers.MultiHeadAttention(4, 16)(x, x, return_attention_scores=True)[0],
                           (12, 64)), [(12, 64)]),
    "MultiHeadAttention with dropout": (lambda: attention(dropout=0.2), [(12, 64)]),
    "MultiHeadAttention causal": (
        lambda: functional(lambda x: layers.MultiHeadAttention(4, 16)(x, x, use_causal_mask=True), (12, 64)),
        [(12, 64)]),
    "MultiHeadAttention across": (
        lambda: functional(lambda q, v: layers.MultiHeadAttention(4, 16)(q, v), (10, 64), (12, 48)),
        [(10, 64), (12, 48)]),
    "MultiHeadAttention over images": (
        lambda: functional(lambda x: layers.MultiHeadAttention(4, 16, attention_axes=(1, 2))(x, x), (4, 3, 64)),
        [(4, 3, 64)]),
    "GroupQueryAttention": (
        lambda: functional(lambda x: layers.GroupQueryAttention(16, 8, 2)(x, x), (12, 64)), [(12, 64)]),
    "Attention": (
        lambda: functional(lambda q, v: layers.Dense(64)(layers.Attention()([q, v])), (10, 64), (12, 64)),
        [(10, 64), (12, 64)]),
    "Attention scaled": (
        lambda: functional(lambda q, v: layers.Dense(64)(layers.Attention(use_scale=True, score_mode="concat")([q, v])),
                           (10, 64), (12, 64)), [(10, 64), (12, 64)]),
    "AdditiveAttention": (
        lambda: functional(lambda q, v: layers.Dense(64)(layers.AdditiveAttention()([q, v])), (10, 64), (12, 64)),
        [(10, 64), (12, 64)]),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTENTION)
def test_attention(name: str) -> None:
    """The projection behind the attention comes out at 1, so what the attention does to its input is known.

    15 %: of narrow heads, one draw of the weights decides how sharp the softmax is, which scatters.
    """
    build, shapes = ATTENTION[name]
    at_target(build, *(Input((32, *shape)) for shape in shapes), model_error=0.15, seeds=10)


@pytest.mark.skipif(keras.backend.backend() == "jax", reason="the JAX backend cannot run values of another width")
def test_values_of_another_width() -> None:
    model = lambda: functional(lambda x: layers.MultiHeadAttention(4, 16, value_dim=8)(x, x), (12, 64))  # noqa: E731
    at_target(model, Input((32, 12, 64)), model_error=0.15)
