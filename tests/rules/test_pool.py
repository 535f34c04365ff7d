"""Pooling against torch. Average pooling is exact; maxima state their model error."""

from __future__ import annotations

import numpy as np
import pytest
import torch.nn.functional as F

import autoinit.rules.pool  # noqa: F401
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.signal import Signal, iid
from tests.core.dependence.program import Program

from .harness import check, components, measure, predict

MAPS = [
    components((3, 4, 8, 8), 0.0, {(0, 1, 2, 3): 1.0}),
    components((3, 4, 8, 8), 1.0, {(0, 1, 2, 3): 0.6, (0, 1): 0.4, (1,): 0.3}),
    components((3, 4, 8, 8), -0.5, {(0, 1, 2, 3): 0.5, (0, 1, 2): 0.5, (0, 1, 3): 0.2, (0, 2, 3): 0.4}),
]


def relu(x):
    return Signal.function(x, apply("relu", X))


def attrs(window, stride, padding=0):
    pads = ((padding, padding),) * 2
    return {
        "axes": (2, 3),
        "window": (window,) * 2,
        "stride": (stride,) * 2,
        "padding": pads,
    }


@pytest.mark.parametrize("x", MAPS)
@pytest.mark.parametrize(("window", "stride", "padding"), [(2, 2, 0), (3, 2, 1), (3, 1, 1)])
@pytest.mark.parametrize("rectified", [False, True])
def test_max_pool(x, window, stride, padding, rectified):
    """Anisotropic correlation is replaced by its mean over the window, overlap by a chance: 4 % of E[y^2]."""
    x = relu(x) if rectified else x
    run = lambda t: F.max_pool2d(t, window, stride, padding)  # noqa: E731
    check("max_pool", [x], run, model_error=0.04, mean_error=0.02, repeats=300, **attrs(window, stride, padding))


def test_max_pool_dilated():
    x = MAPS[1]
    run = lambda t: F.max_pool2d(t, 2, 2, 0, dilation=3)  # noqa: E731
    check("max_pool", [x], run, model_error=0.02, repeats=300, **{**attrs(2, 2), "dilation": (3, 3)})


def test_relu_then_max_pool():
    """ReLU -> MaxPool 3x3 of N(0, 1): variance 0.352 and mean 1.42, not those of a Gaussian input."""
    y = predict("max_pool", [relu(iid((8, 4, 9, 9)))], [(8, 4, 3, 3)], **attrs(3, 3))
    assert y.mean == pytest.approx(1.42, abs=0.07) and y.variance == pytest.approx(0.352, abs=0.01)


@pytest.mark.parametrize("x", MAPS)
@pytest.mark.parametrize(("window", "stride", "padding"), [(2, 2, 0), (3, 2, 1), (3, 1, 1), (8, 8, 0)])
@pytest.mark.parametrize("include", [False, True])
def test_average_pool(x, window, stride, padding, include):
    run = lambda t: F.avg_pool2d(t, window, stride, padding, count_include_pad=include)  # noqa: E731
    check("average_pool", [x], run, include_pad=include, **attrs(window, stride, padding))


def test_average_pool_in_ceil_mode():
    x = components((3, 4, 7, 7), 1.0, {(0, 1, 2, 3): 0.6, (0, 1): 0.4})
    run = lambda t: F.avg_pool2d(t, 3, 2, 1, ceil_mode=True)  # noqa: E731
    check("average_pool", [x], run, include_pad=True, **attrs(3, 2, 1))
    x = components((3, 4, 8, 8), 1.0, {(0, 1, 2, 3): 0.6, (0, 1): 0.4})
    run = lambda t: F.avg_pool2d(t, 3, 2, 0, ceil_mode=True)  # noqa: E731
    check("average_pool", [x], run, include_pad=True, **attrs(3, 2, 0))


def test_border_profile_of_average_pool():
    x = MAPS[0]
    y = predict("average_pool", [x], [x.shape], include_pad=True, **attrs(3, 1, 1))
    rows = measure([x], lambda t: F.avg_pool2d(t, 3, 1, 1).pow(2).mean(dim=(0, 1, 3)), 400)[0]
    values = np.array(
        [
            measure([x], lambda t, r=r: F.avg_pool2d(t, 3, 1, 1)[:, :, r].pow(2).mean().reshape(1), 200)[0][0]
            for r in (0, 4)
        ]
    )
    assert values[0] / rows[0] == pytest.approx(y.profiles[2][0], rel=0.08)
    assert values[1] / rows[0] == pytest.approx(y.profiles[2][4], rel=0.08)


@pytest.mark.parametrize("x", MAPS)
def test_average_pool_minus_its_input(x):
    """PoolFormer's mixer, avgpool(x) - x, knows what it is made of (interior windows; borders: 8 %)."""
    program = Program()
    value = program.input(x)
    pooled = program.op("average_pool", value, include_pad=False, **attrs(3, 1, 1))
    K = program.signals[pooled.id].K + x.K - 2 * program.cross(value, pooled)
    _, _, measured, se = measure([x], lambda t: F.avg_pool2d(t, 3, 1, 1, count_include_pad=False) - t, 300)[0]
    assert K.flat[0] == pytest.approx(measured.flat[0], abs=5 * se.flat[0] + 0.08 * measured.flat[0])


def test_global_average_after_relu_is_positive():
    y = predict("average_pool", [relu(MAPS[1])], [(3, 4, 1, 1)], include_pad=True, **attrs(8, 8))
    root = Signal.function(y.source, apply("sqrt", y.expr))
    run = lambda t: F.avg_pool2d(t.relu(), 8).sqrt()  # noqa: E731
    measured = measure([MAPS[1]], run, 1500)[0]
    assert root.mean == pytest.approx(measured[0], rel=0.03)
    assert root.second == pytest.approx(y.mean, rel=0.01)


@pytest.mark.parametrize("x", MAPS[:2])
@pytest.mark.parametrize("power", [1.0, 2.0, 4.0])
def test_lp_pool(x, power):
    """The root of a log-normal sum: 4 % (16 entries under each root)."""
    run = lambda t: F.lp_pool2d(t, power, 4)  # noqa: E731
    a = attrs(4, 4)
    check("lp_pool", [x], run, power=power, model_error=0.04, mean_error=0.02, repeats=400, **a)
