"""A plan does not depend on how the program is written (Keras)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import pytest
from keras import layers, ops

import autoinit

WIDTH, TOKENS = 16, 6
Rewrite = Callable[[Any], Any]


def _permuted(x: Any) -> Any:
    return ops.transpose(ops.transpose(x, (0, 2, 1)), (0, 2, 1))


REWRITES: dict[str, Rewrite] = {
    "expand and squeeze": lambda x: ops.squeeze(ops.expand_dims(x, 1), 1),
    "permute": _permuted,
    "reshape": lambda x: ops.reshape(ops.reshape(x, (-1, x.shape[1] * x.shape[2])), (-1, *x.shape[1:])),
    "split an axis": lambda x: ops.reshape(ops.reshape(x, (-1, x.shape[1], 2, x.shape[2] // 2)), (-1, *x.shape[1:])),
    "copy": ops.copy,
    "plus zero": lambda x: x + 0.0,
    "times one": lambda x: x * 1.0,
    "glued": lambda x: ops.concatenate([x[:, :2], x[:, 2:]], axis=1),
    "split": lambda x: ops.concatenate(ops.split(x, 2, axis=-1), axis=-1),
    "stack": lambda x: ops.stack([x], axis=1)[:, 0],
    "stack of two": lambda x: ops.stack([x, 2.0 * x], axis=1)[:, 0],
    "concat and slice": lambda x: ops.concatenate([x, x + 1.0], axis=1)[:, : x.shape[1]],
    "flip twice": lambda x: ops.flip(ops.flip(x, 1), 1),
    "roll there and back": lambda x: ops.roll(ops.roll(x, 2, 1), -2, 1),
}


def _attention(x: Any, then: Rewrite) -> Any:
    q, k, v = (then(layers.Dense(WIDTH)(x)) for _ in range(3))
    weights = then(ops.softmax(then(ops.matmul(q, ops.transpose(k, (0, 2, 1)))) / WIDTH**0.5))
    return then(x + layers.Dense(WIDTH)(then(ops.matmul(weights, v))))


def _shared(x: Any, then: Rewrite) -> Any:
    head = layers.Dense(WIDTH)
    return then(head(x)) + then(head(then(ops.relu(head(x)))))


PROGRAMS: dict[str, Callable[[Any, Rewrite], Any]] = {
    "relu minus its mean": lambda x, then: then(ops.relu(x)) - then(ops.mean(then(ops.relu(x)), axis=1, keepdims=True)),
    "relu minus its largest": lambda x, then: then(ops.relu(x)) - ops.max(then(ops.relu(x)), axis=1, keepdims=True),
    "x - x + x": lambda x, then: then(x - then(x)) + x,
    "SiLU by hand": lambda x, then: x * ops.sigmoid(then(x)),
    "gate": lambda x, then: then(layers.Dense(WIDTH)(x)) * ops.silu(then(layers.Dense(WIDTH)(x))),
    "norm": lambda x, then: layers.LayerNormalization()(then(x)) + then(x),
    "attention": _attention,
    "a head again": _shared,
}


def planned(program: str, then: Rewrite) -> tuple[list[float], int]:
    keras.utils.set_random_seed(0)
    given = keras.Input((TOKENS, WIDTH))
    made = PROGRAMS[program](layers.Dense(WIDTH)(given), then)
    model = keras.Model(given, layers.Dense(WIDTH)(made))
    plan = autoinit.plan(model, (4, TOKENS, WIDTH), warn=False)
    return [part.std for entry in plan.changed() for part in entry.parts], len(plan.notes)


@pytest.mark.parametrize("program", PROGRAMS)
def test_rewrites(program: str) -> None:
    """Every other rewrite with each program, in turns."""
    expected, notes = planned(program, lambda x: x)
    for name, rewrite in list(REWRITES.items())[list(PROGRAMS).index(program) % 2 :: 2]:
        found, said = planned(program, rewrite)
        assert found == pytest.approx(expected, rel=1e-6), name
        assert said == notes, name
