"""An assembled network as a PyTorch module.

Tensors have channels first: (batch, channels, height, width), (batch, channels, steps), (batch, features).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ..layers import windows
from ..network import INPUT, Layer, NetworkGenome

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "elu": nn.ELU, "selu": nn.SELU}
CELLS: dict[str, type[nn.GRU] | type[nn.LSTM]] = {"gru": nn.GRU, "lstm": nn.LSTM}
CONVOLUTIONS: dict[str, type[nn.Module]] = {"conv1d": nn.Conv1d, "conv2d": nn.Conv2d}
POOLINGS: dict[str, type[nn.Module]] = {"max_pooling1d": nn.MaxPool1d, "max_pooling2d": nn.MaxPool2d}
PROJECTIONS: dict[int, type[nn.Module]] = {2: nn.Conv1d, 3: nn.Conv2d}


class Network(nn.Module):
    """Computes the outputs of a genome: one tensor, or a dict of tensors by name if there are several."""

    def __init__(self, genome: NetworkGenome) -> None:
        super().__init__()
        self.genome = genome
        self.layers = nn.ModuleDict()
        for layer in genome.layers:
            if layer.shares is None:
                self.layers[layer.name] = _made(layer, genome)
            if layer.get("activation", "linear") != "linear":
                self.layers[f"{layer.name}_activation"] = ACTIVATIONS[layer["activation"]]()

    def forward(self, x: Tensor, outputs: Sequence[str] | None = None) -> Any:
        """outputs: the names of those that are wanted; only what they need is computed."""
        at = {INPUT: x}
        for layer in self.genome.needed(outputs):
            value = self.layers[layer.owner](*(at[name] for name in layer.inputs))
            activation = f"{layer.name}_activation"
            at[layer.name] = self.layers[activation](value) if activation in self.layers else value
        answers = {name: at[layer] for name, layer in self.genome.outputs if outputs is None or name in outputs}
        return next(iter(answers.values())) if len(answers) == 1 else answers

    def penalty(self) -> Tensor | float:
        """What the kernels' regularizers add to the loss."""
        total: Tensor | float = 0.0
        for layer in self.genome.layers:
            if layer.shares is None and layer.get("regularizer") is not None:
                kernel = kernel_of(self.layers[layer.name])
                size = kernel.abs().sum() if layer["regularizer"] == "l1" else kernel.square().sum()
                total = total + layer.get("strength", 0.0) * size
        return total


def build(genome: NetworkGenome) -> Network:
    """The module with PyTorch's own initial weights, on the device that is set (also the meta device)."""
    return Network(genome)


def kernel_of(module: nn.Module) -> Tensor:
    """The weight that meets what comes in."""
    kernel = module.cell.weight_ih_l0 if isinstance(module, Recurrent) else module.weight
    assert isinstance(kernel, Tensor)
    return kernel


class Recurrent(nn.Module):
    """A recurrent layer that gives its state at every step.

    PyTorch's LSTM has two biases that are only ever added; the second is fixed at zero, as it is in Keras.
    """

    def __init__(self, kind: str, channels: int, units: int) -> None:
        super().__init__()
        self.cell = CELLS[kind](channels, units, batch_first=True)
        if kind == "lstm":
            second = self.cell.bias_hh_l0
            assert isinstance(second, nn.Parameter)
            nn.init.zeros_(second)
            second.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        states: Tensor = self.cell(x.transpose(1, 2))[0]
        return states.transpose(1, 2)


class Embedding(nn.Embedding):
    """(batch, steps) of integers to (batch, channels, steps)."""

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input).transpose(1, 2)


class Add(nn.Module):
    def forward(self, first: Tensor, *others: Tensor) -> Tensor:
        for other in others:
            first = first + other
        return first


class WeightedSum(nn.Module):
    """A sum with one learned weight for each summand; they begin as a mean."""

    def __init__(self, summands: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((summands,), 1 / summands))

    def forward(self, *summands: Tensor) -> Tensor:
        total = self.weight[0] * summands[0]
        for k, summand in enumerate(summands[1:], start=1):
            total = total + self.weight[k] * summand
        return total


class Concatenate(nn.Module):
    def forward(self, *parts: Tensor) -> Tensor:
        return torch.cat(parts, dim=1)


class Average(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(2).mean(2)


class Maximum(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(2).amax(2)


FIXED: dict[str, type[nn.Module]] = {
    "add": Add, "concatenate": Concatenate, "flatten": nn.Flatten, "average": Average, "maximum": Maximum,
}  # fmt: skip


def _made(layer: Layer, genome: NetworkGenome) -> nn.Module:
    shape = genome.shapes[layer.inputs[0]]
    kind, channels = layer.kind, shape[-1]
    if kind in FIXED:
        return FIXED[kind]()
    if kind == "weighted_sum":
        return WeightedSum(len(layer.inputs))
    if kind == "dense":
        return nn.Linear(channels, layer["units"])
    if kind in CONVOLUTIONS:
        return CONVOLUTIONS[kind](channels, layer["units"], layer["kernel"], padding=layer["kernel"] // 2)
    if kind == "projection":
        return PROJECTIONS[len(shape)](channels, layer["units"], 1, bias=False) if len(shape) > 1 else nn.Linear(
            channels, layer["units"], bias=False
        )  # fmt: skip
    if kind in CELLS:
        return Recurrent(kind, channels, layer["units"])
    if kind in POOLINGS:
        window, stride = windows(dict(layer.settings), shape)
        return POOLINGS[kind](tuple(window), tuple(stride))
    if kind == "embedding":
        return Embedding(layer["vocabulary"], layer["units"])
    return nn.Dropout1d(layer["rate"]) if kind == "spatial_dropout1d" else nn.Dropout(layer["rate"])
