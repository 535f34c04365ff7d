"""Dropout and noise: exact rules, so the tolerance is sampling error alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import autoinit.rules.normalize
import autoinit.rules.random  # noqa: F401
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.signal import Signal, iid
from tests.core.dependence.program import Program

from .harness import check, compare, components, measure, predict

SIGNALS = [
    components((6, 5, 4, 4), 0.0, {(0, 1, 2, 3): 1.0}),
    components((6, 5, 4, 4), 2.0, {(0, 1, 2, 3): 0.5, (0, 1): 0.8, (1,): 0.3, (): 0.2}),
]


@pytest.mark.parametrize("x", SIGNALS)
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
def test_inverted(x, rate):
    check("dropout", [x], lambda t: F.dropout(t, rate, True), rate=rate, shared=(), kind="inverted")


@pytest.mark.parametrize("x", SIGNALS)
def test_whole_channels(x):
    check(
        "dropout",
        [x],
        lambda t: F.dropout2d(t, 0.4, True),
        rate=0.4,
        shared=(2, 3),
        kind="inverted",
        repeats=1500,
    )


@pytest.mark.parametrize("x", SIGNALS)
def test_alpha(x):
    check("dropout", [x], lambda t: F.alpha_dropout(t, 0.3, True), rate=0.3, shared=(), kind="alpha")


def test_alpha_of_whole_channels():
    run = lambda t: F.feature_alpha_dropout(t, 0.3, True)  # noqa: E731
    check("dropout", [SIGNALS[1]], run, rate=0.3, shared=(2, 3), kind="alpha", repeats=1500)


def test_raw():
    run = lambda t: t * (torch.rand_like(t) > 0.25)  # noqa: E731
    check("dropout", [SIGNALS[1]], run, rate=0.25, shared=(), kind="raw")


def test_cases():
    """Dropout 0.5 on N(2, 1): variance 6.

    ReLU then dropout 0.5: 0.84; rate 1: nothing; rate 0: the signal itself.
    """
    shape = (64, 64)
    x = iid(shape, 2.0, 1.0)
    attrs = {"shared": (), "kind": "inverted"}
    assert predict("dropout", [x], [shape], rate=0.5, **attrs).variance == pytest.approx(6.0)
    relu = Signal.function(iid(shape), apply("relu", X))
    assert predict("dropout", [relu], [shape], rate=0.5, **attrs).variance == pytest.approx(0.84, abs=0.005)
    assert predict("dropout", [x], [shape], rate=0.0, **attrs) is x
    gone = predict("dropout", [x], [shape], rate=1.0, **attrs)
    assert (gone.mean, gone.second) == (0.0, 0.0)


def test_dropout_stays_correlated_with_its_input():
    x, program = SIGNALS[1], Program()
    value = program.input(x)
    dropped = program.op("dropout", value, rate=0.5, shared=(), kind="inverted")
    y, cross = program.signals[dropped.id], program.cross(value, dropped)
    assert np.allclose(cross, x.K)
    both = measure([x], lambda t: t + F.dropout(t, 0.5, True), 300)[0]
    total = x.K + y.K + 2 * cross
    assert np.all(np.abs(total - both[2]) <= 5 * both[3] + 1e-6)


def test_the_sampler_has_the_moments_it_is_asked_for():
    """Including a centred axis (negative correlation) and a function of the source."""
    centred = predict("normalize", [SIGNALS[1]], [SIGNALS[1].shape], axes=(1,), centre=True, eps=0.0)
    for x in (*SIGNALS, centred, Signal.function(SIGNALS[1], apply("tanh", X))):
        compare(x, measure([x], lambda t: t, 400)[0])


def test_noise():
    made = predict("noise", [], [(4, 8)], mean=0.5, variance=1 / 12)
    assert made.mean == 0.5 and made.variance == pytest.approx(1 / 12) and made.correlation(0) == 0.0
