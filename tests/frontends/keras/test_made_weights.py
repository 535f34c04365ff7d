"""Kernels that meet something on their way to the contraction: masks, products, quantisation. Drawn, and on target."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import pytest

keras = pytest.importorskip("keras")

import numpy as np  # noqa: E402
from keras import ops  # noqa: E402

import autoinit  # noqa: E402
from autoinit.frontends.keras.variables import parameters_of  # noqa: E402
from autoinit.testing import violations  # noqa: E402

N, I, O, DRAWS = 64, 64, 48, 12  # noqa: E741
MASK = (np.random.default_rng(0).random((I, O)) < 0.4).astype("float32")
TAPS = np.array([[1, 1, 1], [1, 0, 0], [0, 0, 0]], "float32")[:, :, None, None]


class Made(keras.layers.Layer):
    """A layer in one line: `body` takes the inputs and the layer's weights."""

    def __init__(self, body: Callable[..., Any], shapes: dict[str, tuple[int, ...]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.body = body
        self.held = [
            self.add_weight(shape=shape, name=name, initializer="ones" if name == "gain" else "random_normal")
            for name, shape in shapes.items()
        ]

    def call(self, x: Any) -> Any:
        return self.body(x, *self.held)


CASES: dict[str, tuple[Callable[..., Any], dict[str, tuple[int, ...]], tuple[int, ...]]] = {
    "kernel * mask": (lambda x, w: x @ (w * MASK), {"w": (I, O)}, (I,)),
    "mask * kernel": (lambda x, w: ops.matmul(x, ops.multiply(MASK, w)), {"w": (I, O)}, (I,)),
    "where": (lambda x, w: ops.matmul(x, ops.where(MASK > 0, 1.0 * w, 0.0)), {"w": (I, O)}, (I,)),
    "triangle": (lambda x, w: ops.matmul(x, ops.tril(w)), {"w": (I, I)}, (I,)),
    "masked taps": (lambda x, w: ops.conv(x, w * TAPS, padding="valid"), {"w": (3, 3, 16, 24)}, (10, 10, 16)),
    "product": (lambda x, a, b: ops.matmul(x, ops.matmul(a, b)), {"a": (I, 8), "b": (8, O)}, (I,)),
    "sum": (lambda x, a, b: ops.matmul(x, a + b), {"a": (I, O), "b": (I, O)}, (I,)),
    "symmetric": (lambda x, w: ops.matmul(x, w + ops.transpose(w)), {"w": (I, I)}, (I,)),
    "entries": (lambda x, a, b: ops.matmul(x, a * b), {"a": (I, O), "b": (I, O)}, (I,)),
    "outer": (lambda x, a, b: ops.matmul(x, ops.outer(1.0 * a, 1.0 * b)), {"a": (I,), "b": (O,)}, (I,)),
    "einsum": (lambda x, a, b: ops.einsum("bi,ir,ro->bo", x, a, b), {"a": (I, 8), "b": (8, O)}, (I,)),
    "sum of products": (lambda x, w: ops.sum(ops.expand_dims(x, -1) * w, axis=1), {"w": (I, O)}, (I,)),
    "tanh": (lambda x, w: ops.matmul(x, ops.tanh(w)), {"w": (I, O)}, (I,)),
    "rounded": (lambda x, w: ops.matmul(x, ops.round(w / 0.05) * 0.05), {"w": (I, O)}, (I,)),
    "signs": (lambda x, w: ops.matmul(x, ops.sign(w) * ops.mean(ops.abs(w))), {"w": (I, O)}, (I,)),
    "signs, scaled": (lambda x, w: ops.matmul(x, ops.sign(w) / 8), {"w": (I, O)}, (I,)),
    "gain of columns": (lambda x, w, g: ops.matmul(x, w * (3 * g)), {"w": (I, O), "gain": (O,)}, (I,)),
}  # fmt: skip


def studied(
    body: Callable[..., Any], shapes: dict[str, tuple[int, ...]], size: tuple[int, ...]
) -> tuple[Any, Any, Any]:
    inputs = keras.Input(size)
    model = keras.Model(inputs, Made(body, shapes)(inputs))
    plan = autoinit.plan(model, (N, *size))
    found = []
    for seed in range(DRAWS):
        plan.apply(model, seed=seed)
        x = np.random.default_rng(seed).standard_normal((N, *size)).astype("float32")
        found.append(float(np.mean(np.square(ops.convert_to_numpy(model(x))))))
    return model, plan, np.array(found)


@pytest.mark.parametrize("name", CASES)
def test_made_kernels_are_drawn_and_on_target(name: str) -> None:
    body, shapes, size = CASES[name]
    model, plan, found = studied(body, shapes, size)
    drawn = [p for p in plan.parameters if p.action == "set"]
    assert len(drawn) == len([key for key in shapes if key != "gain"])
    assert not violations(plan, {n: ops.convert_to_numpy(v) for n, v in parameters_of(model).items()})
    error = found.std(ddof=1) / sqrt(DRAWS)
    assert abs(found.mean() - 1.0) <= 4 * error + 0.05, (found.mean(), error)
    assert not plan.warnings


def test_row_2_a_mask_counts_the_live_connections() -> None:
    _, plan, _ = studied(*CASES["kernel * mask"])
    (kernel,) = plan.parameters
    assert kernel.std == pytest.approx(1 / sqrt(I * MASK.mean()), rel=1e-6) and kernel.parts[0].kind == "random"


def test_a_constraint_changes_nothing() -> None:
    """Constraints act after a training step, not in forward."""
    inputs = keras.Input((I,))
    model = keras.Model(inputs, keras.layers.Dense(O, kernel_constraint=keras.constraints.MaxNorm(2.0))(inputs))
    plan = autoinit.initialize(model, (N, I))
    assert next(p for p in plan.parameters if p.action == "set").std == pytest.approx(1 / sqrt(I))
