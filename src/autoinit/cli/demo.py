"""A deep network without normalization, as its framework initializes it and with AutoInit."""

from __future__ import annotations

import importlib.util
from typing import Any

import typer

from .. import api
from ..core.inputs import Input
from ..errors import ModelError

DEPTH, WIDTH = 30, 512


def run() -> None:
    model = _network()
    inputs = Input((128, WIDTH))
    before = api.measure(model, inputs, warn=False)
    made = api.initialize(model, inputs, warn=False)
    after = api.measure(model, inputs, warn=False)
    typer.echo(f"a network of {DEPTH} dense layers with ReLU, {WIDTH} wide; measured variance of noise:\n")
    typer.echo(f"{'layer':>6} {'default':>12} {'AutoInit':>10}")
    rows = list(zip(before.weight_layers, after.weight_layers, strict=True))
    for depth in (0, 4, 9, 14, 19, 24, 29):
        typer.echo(f"{depth + 1:>6} {rows[depth][0].variance:>12.3g} {rows[depth][1].variance:>10.3g}")
    typer.echo(f"\n{made.summary()}\none line: autoinit.initialize(model, inputs)")


def _network() -> Any:
    if importlib.util.find_spec("torch") is not None:
        from torch import nn

        blocks = [part for _ in range(DEPTH) for part in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
        return nn.Sequential(*blocks)
    if importlib.util.find_spec("keras") is not None:
        import keras

        return keras.Sequential([keras.Input((WIDTH,)), *(keras.layers.Dense(WIDTH, "relu") for _ in range(DEPTH))])
    raise ModelError("the demonstration needs PyTorch or Keras", where="autoinit demo", received="neither is installed",
                     fix="pip install torch, or keras with a backend")  # fmt: skip
