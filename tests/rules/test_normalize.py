"""Normalisation against torch: E[y^2] exact by construction, correlations up to the stated model error."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import autoinit.rules.normalize  # noqa: F401
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.measured import from_array
from autoinit.core.signal.signal import Signal, constant, iid
from tests.core.dependence.program import Program

from .harness import check, components, measure, predict

MAPS = [
    components((6, 8, 4, 4), 0.0, {(0, 1, 2, 3): 1.0}),
    components((6, 8, 4, 4), 1.5, {(0, 1, 2, 3): 0.5, (0, 1): 0.8, (1,): 0.3}),
    components((6, 8, 4, 4), -0.7, {(0, 1, 2, 3): 0.2, (0,): 1.0, (1, 2): 0.6, (): 0.5}),
]


@pytest.mark.parametrize("x", MAPS)
def test_batch_norm(x):
    run = lambda t: F.batch_norm(t, None, None, training=True, eps=1e-3)  # noqa: E731
    y = check("normalize", [x], run, axes=(0, 2, 3), centre=True, channel_axes=(1,), eps=1e-3, model_error=0.03)
    assert abs(y.mean) < 1e-12


@pytest.mark.parametrize("x", MAPS)
def test_instance_norm(x):
    run = lambda t: F.instance_norm(t, eps=1e-5)  # noqa: E731
    check("normalize", [x], run, axes=(2, 3), centre=True, channel_axes=(1,), eps=1e-5, model_error=0.03)


@pytest.mark.parametrize("x", MAPS)
@pytest.mark.parametrize("groups", [1, 2, 8])
def test_group_norm(x, groups):
    run = lambda t: F.group_norm(t, groups, eps=1e-5)  # noqa: E731
    check("normalize", [x], run, axes=(2, 3), centre=True, channel_axes=(1,), eps=1e-5, groups=groups,
          model_error=0.03, repeats=200)  # fmt: skip


def test_group_norm_of_channels_that_come_last():
    """The groups are made of the axis that scale and shift run along."""
    last = components((6, 4, 4, 8), 0.7, {(0, 1, 2, 3): 1.0, (0, 3): 0.6, (3,): 0.4})
    run = lambda t: F.group_norm(t.movedim(3, 1), 2, eps=1e-5).movedim(1, 3)  # noqa: E731
    check("normalize", [last], run, axes=(1, 2), centre=True, channel_axes=(3,), eps=1e-5, groups=2, model_error=0.03)


TOKENS = [
    components((5, 7, 16), 0.0, {(0, 1, 2): 1.0}),
    components((5, 7, 16), 2.0, {(0, 1, 2): 0.5, (0, 2): 0.5, (0, 1): 0.4}),
    components((5, 7, 16), 0.3, {(0, 1, 2): 0.1, (2,): 1.0, (0,): 0.4}),
]


@pytest.mark.parametrize("x", TOKENS)
def test_layer_norm(x):
    run = lambda t: F.layer_norm(t, (16,))  # noqa: E731
    y = check("normalize", [x], run, axes=(2,), centre=True, channel_axes=(2,), eps=1e-5, model_error=0.02)
    assert y.second == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("x", TOKENS)
def test_rms_norm(x):
    run = lambda t: F.rms_norm(t, (16,), eps=1e-6)  # noqa: E731
    check(
        "normalize",
        [x],
        run,
        axes=(2,),
        centre=False,
        channel_axes=(2,),
        eps=1e-6,
        model_error=0.03,
        mean_error=0.03,
    )


@pytest.mark.parametrize("x", TOKENS)
def test_l2_normalisation(x):
    run = lambda t: F.normalize(t, dim=2)  # noqa: E731
    check("normalize", [x], run, axes=(2,), centre=False, eps=1e-12, l2=True, model_error=0.03, mean_error=0.03)


def test_layer_norm_of_relu():
    x = Signal.function(TOKENS[1], apply("relu", X))
    run = lambda t: F.layer_norm(t, (16,))  # noqa: E731
    check("normalize", [x], run, axes=(2,), centre=True, channel_axes=(2,), eps=1e-5, model_error=0.04)


def test_batch_norm_with_epsilon_and_without_variance():
    """The cases of gamma 0, input variance 1e-4 with epsilon 1e-3 (0.09), and a constant input."""
    shape = (32, 16)
    attrs = {"axes": (0,), "centre": True, "channel_axes": (1,), "eps": 1e-3}
    small = predict("normalize", [iid(shape, 3.0, 1e-4)], [shape], **attrs)
    assert small.variance == pytest.approx(0.09, rel=0.05)
    zero = predict("normalize", [iid(shape), constant((16,), 0.0), constant((16,), 0.5)], [shape], **attrs)
    assert (zero.mean, zero.variance) == (0.5, 0.0)
    flat = predict("normalize", [constant(shape, 7.0), constant((16,), 2.0), constant((16,), 1.0)], [shape], **attrs)
    assert (flat.mean, flat.variance) == (1.0, 0.0)


def test_batch_norm_in_evaluation_mode():
    """Inference mode on variance 100 with fresh running statistics: 99.9."""
    shape = (32, 16)
    x = iid(shape, 1.0, 100.0)
    fresh = [None, None, constant((16,), 0.0), constant((16,), 1.0)]
    y = predict("normalize", [x, *fresh], [shape], axes=(0,), channel_axes=(1,), eps=1e-3, use_running=True)
    assert y.variance == pytest.approx(99.9, abs=0.01)
    assert y.source is x, "a certain affine map keeps the provenance"


def test_running_statistics_that_vary():
    rng = np.random.default_rng(1)
    mean, var = rng.normal(size=8), rng.uniform(0.2, 3.0, size=8)
    x = MAPS[1]
    tm, tv = torch.from_numpy(mean), torch.from_numpy(var)
    run = lambda t: F.batch_norm(t, tm, tv, training=False, eps=1e-5)  # noqa: E731
    # The statistics are one fixed draw, so they are not averaged over: only E[1/(v + eps)] is tested closely.
    extra = [None, None, from_array(mean), from_array(var)]
    check("normalize", [x], run, extra=extra, arrays={4: var}, axes=(0, 2, 3), channel_axes=(1,), eps=1e-5,
          use_running=True, model_error=0.25, mean_error=0.25)  # fmt: skip


def test_scale_and_shift_that_vary_over_channels():
    x = TOKENS[1]
    scale, shift = components((16,), 1.0, {(0,): 0.3}), components((16,), 0.2, {(0,): 0.5, (): 0.1})
    run = lambda t, s, b: F.layer_norm(t, (16,)) * s + b  # noqa: E731
    check(
        "normalize",
        [x, scale, shift],
        run,
        axes=(2,),
        channel_axes=(2,),
        eps=1e-5,
        model_error=0.02,
        repeats=1500,
    )


def test_layer_norm_then_mean_over_tokens():
    """LayerNorm -> GlobalAveragePooling1D: what is common to the tokens survives the mean."""
    from autoinit.rules.reduce import mean_over

    x = components((8, 64, 32), 0.0, {(0, 1, 2): 0.85, (0, 2): 0.15})
    y = predict("normalize", [x], [x.shape], axes=(2,), channel_axes=(2,), eps=1e-5)
    pooled = mean_over(y, (1,))
    measured = measure([x], lambda t: F.layer_norm(t, (32,)).mean(1), 200)[0]
    assert pooled.variance == pytest.approx(float(measured[2][0, 0]), rel=0.03)
    assert pooled.variance > 5 * y.variance / 64


def test_normalised_signal_varies_with_its_input():
    x, program = TOKENS[1], Program()
    value = program.input(x)
    y = program.op("normalize", value, axes=(2,), channel_axes=(2,), eps=1e-5)
    cross = measure([x], lambda t: (F.layer_norm(t, (16,)) * t).mean(dim=(0, 1, 2), keepdim=True), 400)[0][0]
    assert float(program.cross(value, y).flat[0]) == pytest.approx(cross, rel=0.03)


def test_profiles():
    x = Signal((4, 6, 8), 0.0, iid((4, 6, 8)).K, profiles=(None, np.linspace(0.5, 1.5, 6), None))
    layer = predict("normalize", [x], [x.shape], axes=(2,), channel_axes=(2,), eps=1e-5)
    assert layer.profiles[1] is None
    batch = predict("normalize", [x], [x.shape], axes=(0, 1), channel_axes=(2,), eps=1e-5)
    assert batch.profiles[1] is not None


@pytest.mark.parametrize("axis", [0, 1, None])
def test_weight_norm(axis):
    v = iid((12, 20), 0.0, 3.0)
    n = 1 if axis is None else v.shape[axis]
    g = components((n,), 1.5, {(0,): 0.2})
    dims = tuple(i for i in range(2) if i != axis)
    shape = [1, 1]
    if axis is not None:
        shape[axis] = n
    run = lambda t, s: t / t.pow(2).sum(dims, keepdim=True).sqrt() * s.reshape(shape)  # noqa: E731
    w = check("weight_norm", [v, g], run, axis=axis, model_error=0.01, repeats=1500)
    assert w.second == pytest.approx((1.5**2 + 0.2) / (240 / n))
