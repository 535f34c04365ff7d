"""How an assembled network begins: by its own genes, by AutoInit in their place, or by any other scheme by name.

`evolved`: each layer draws its kernel by its gene (Glorot or He, normal or uniform), biases are zero; recurrent kernels
are orthogonal and the LSTM's forget bias is 1, embeddings are uniform up to 0.05, as the layers of Keras begin.
All other names are those of `autoinit.baselines.initialize`; what evolution chose is then ignored.
"""

from __future__ import annotations

import time
from typing import Any

from ...baselines import NAMES as BASELINES
from ...baselines import initialize as by_name
from ...core.inputs import Input as Described
from ...errors import OptionError
from .network import Input, NetworkGenome

EVOLVED = "evolved"
NAMES = (EVOLVED, *BASELINES)
BATCH = 32
"""The batch size that the analysis is told; the plan does not depend on it."""
SMALL = 0.05


def known_initialization(name: Any) -> str:
    if name not in NAMES:
        raise OptionError(f"unknown initialization '{name}'", where="initialization", received=repr(name),
                          fix=f"one of {', '.join(NAMES)}")  # fmt: skip
    return str(name)


def described(given: Input, channels_last: bool) -> Described:
    """What the analysis is told of the inputs: numbers with mean 0 and variance 1, or integers of a vocabulary."""
    if given.vocabulary is not None:
        return Described((BATCH, *given.shape), dtype="int32", vocabulary=given.vocabulary)
    shape = given.shape if channels_last else (given.shape[-1], *given.shape[:-1])
    return Described((BATCH, *shape))


def initialize(model: Any, genome: NetworkGenome, name: str, *, seed: int = 0, batch: Any = None) -> float:
    """Set the initial weights of a PyTorch or Keras network in place; returns the seconds that it took.

    batch: real inputs, for a scheme that wants some ("lsuv"); the others do not look at data.
    """
    known_initialization(name)
    begin = time.perf_counter()
    channels_last = not hasattr(model, "genome")
    if name == EVOLVED:
        if channels_last:
            by_name(model, None, "default", seed)  # every layer's own initializer, which is its gene
        else:
            _evolved(model, genome, seed)
    else:
        needs_batch = name == "lsuv"
        if needs_batch and batch is None:
            raise OptionError("'lsuv' needs real inputs", where="initialization", received="batch=None",
                              fix="batch=...")  # fmt: skip
        by_name(model, batch if needs_batch else described(genome.input, channels_last), name, seed)
    return time.perf_counter() - begin


def _evolved(model: Any, genome: NetworkGenome, seed: int) -> None:
    from torch import no_grad

    from ...baselines.schemes import DRAWN
    from ...baselines.schemes_torch import fill
    from .networks.torch import Recurrent, kernel_of

    with no_grad():
        for layer in genome.layers:
            if layer.shares is not None:
                continue
            module, where = model.layers[layer.name], f"layers.{layer.name}"
            if layer.kind == "embedding":
                _uniform(module.weight, seed, f"{where}.weight")
            elif layer.get("initialization") is not None:
                fill(kernel_of(module), module, DRAWN[layer["initialization"]], seed, f"{where}.kernel")
                if isinstance(module, Recurrent):
                    _recurrent(module.cell, layer["units"], layer.kind, seed, f"{where}.recurrent")
                elif module.bias is not None:
                    module.bias.zero_()


def _recurrent(cell: Any, units: int, kind: str, seed: int, where: str) -> None:
    from ...baselines.schemes import DRAWN
    from ...baselines.schemes_torch import fill

    fill(cell.weight_hh_l0, cell, DRAWN["orthogonal"], seed, where)
    cell.bias_ih_l0.zero_()
    cell.bias_hh_l0.zero_()
    if kind == "lstm":
        cell.bias_ih_l0[units : 2 * units] = 1.0  # input, forget, cell, output


def _uniform(table: Any, seed: int, where: str) -> None:
    import torch

    from ...core.drawing.words import name_seed

    generator = torch.Generator(device=table.device).manual_seed(name_seed(seed, where, 0))
    table.uniform_(-SMALL, SMALL, generator=generator)
