"""Every rule on inputs that break formulas: constants, zeros, tiny, huge, fully common, axes of size 1.

Answers must be finite, with |K(S)| <= K(0) and m^2 <= K(0), and no floating-point warning on the way.
"""

from __future__ import annotations

import numpy as np
import pytest

import autoinit.rules  # noqa: F401
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.signal import Signal, constant, iid

from .harness import predict

SHAPES = [(4, 6, 8, 8), (1, 6, 1, 8), (2, 1, 8, 8), (1, 1, 1, 1)]
KINDS = ("mean", "sum", "max", "min", "prod", "var", "std", "norm", "logsumexp", "any", "all")


def inputs(shape):
    return {
        "constant": constant(shape, 2.0),
        "zero": constant(shape, 0.0),
        "plain": iid(shape),
        "tiny": iid(shape, 0.0, 1e-20),
        "huge": iid(shape, 1e6, 1e12),
        "offset": iid(shape, 1e3, 1e-4),
        "common": Signal(shape, 0.0, np.ones((2,) * len(shape))),
        "rectified": Signal.function(iid(shape), apply("relu", X)),
    }


def calls(shape):
    half = (*shape[:2], (shape[2] + 1) // 2, (shape[3] + 1) // 2)
    pool = {"axes": (2, 3), "window": (3, 3), "stride": (2, 2), "padding": ((1, 1), (1, 1))}
    norm = {"eps": 1e-5, "channel_axes": (1,)}
    yield "normalize", 1, shape, {"axes": (0, 2, 3), "centre": True, **norm}
    yield "normalize", 1, shape, {"axes": (2, 3), "centre": True, "groups": max(shape[1] // 2, 1), **norm}
    yield "normalize", 1, shape, {"axes": (3,), "centre": False, **norm}
    yield "normalize", 1, shape, {"axes": (3,), "centre": False, "l2": True, "eps": 1e-12}
    for kind in KINDS:
        yield "reduce", 1, shape[:3], {"kind": kind, "axes": (3,), "keepdim": False}
        yield "reduce", 1, shape[:2], {"kind": kind, "axes": (2, 3), "keepdim": False}
    for kind in ("sum", "prod", "max", "min"):
        yield "cumulative", 1, shape, {"kind": kind, "axis": 3}
    for log in (False, True):
        yield "softmax", 1, shape, {"axis": 3, "log": log}
    for kind in ("inverted", "alpha", "raw"):
        yield "dropout", 1, shape, {"rate": 0.3, "shared": (2, 3), "kind": kind}
    yield "max_pool", 1, half, {"dilation": (1, 1), **pool}
    yield "average_pool", 1, half, {"include_pad": True, **pool}
    yield "average_pool", 1, half, {"include_pad": False, **pool}
    yield "lp_pool", 1, half, {"power": 2.0, **pool}
    yield "attention", 3, shape, {"causal": True, "scale": None, "dropout": 0.1, "grouped": False}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", list(inputs((1, 1, 1, 1))))
def test_answers_are_moments(shape, name):
    x = inputs(shape)[name]
    for op, operands, out, attrs in calls(shape):
        y = predict(op, [x] * operands, [out], **attrs)
        where = f"{op} {attrs}"
        assert y.shape == tuple(out), where
        assert np.isfinite(y.mean) and np.all(np.isfinite(y.K)), where
        assert np.all(np.abs(y.K) <= y.second * (1 + 1e-6) + 1e-300), where
        assert y.mean**2 <= y.second * (1 + 1e-6) + 1e-300, where
