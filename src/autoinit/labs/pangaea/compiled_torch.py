"""A function of the search space as a PyTorch module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...errors import InputError, OptionError
from .function import Function
from .graph import evaluate
from .operators import EPSILON


def divide(a: Tensor | float, b: Tensor) -> Tensor:
    nothing = b == 0
    return torch.where(nothing, 0.0, a / torch.where(nothing, 1.0, b))


def safe_log(x: Tensor) -> Tensor:
    return torch.log(torch.abs(x) + EPSILON)


OPERATORS: dict[str, Callable[..., Any]] = {
    "zero": torch.zeros_like,
    "one": torch.ones_like,
    "identity": lambda x: x,
    "negative": torch.neg,
    "abs": torch.abs,
    "reciprocal": lambda x: divide(1.0, x),
    "square": torch.square,
    "exp": torch.exp,
    "expm1": torch.expm1,
    "log": safe_log,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "tanh": torch.tanh,
    "arcsinh": torch.asinh,
    "arctan": torch.atan,
    "sigmoid": torch.sigmoid,
    "log_sigmoid": F.logsigmoid,
    "hard_sigmoid": lambda x: F.relu6(x + 3) / 6,
    "softplus": F.softplus,
    "softsign": F.softsign,
    "relu": F.relu,
    "elu": F.elu,
    "selu": F.selu,
    "swish": F.silu,
    "i0e": torch.special.i0e,
    "i1e": torch.special.i1e,
    "add": torch.add,
    "subtract": torch.sub,
    "multiply": torch.mul,
    "divide": divide,
    "power": lambda a, b: torch.exp(b * safe_log(a)),
    "max": torch.maximum,
    "min": torch.minimum,
}


class Activation(nn.Module):
    """f(x), with one value of every learnable parameter per channel, all ones at first."""

    def __init__(self, function: Function, channels: int, axis: int = 1) -> None:
        super().__init__()
        if isinstance(channels, bool) or not isinstance(channels, int) or channels < 1:
            raise OptionError("'channels' takes a positive integer", where="Function.torch", received=repr(channels),
                              fix="the size of the axis that the parameters belong to")  # fmt: skip
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise OptionError("'axis' takes an integer", where="Function.torch", received=repr(axis), fix="axis=1")
        self.function, self.channels, self.axis = function, channels, axis
        for name in function.parameters:
            self.register_parameter(name, nn.Parameter(torch.ones(channels)))

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = evaluate(self.function.graph, x, OPERATORS, self._per_channel(x))
        return made

    def _per_channel(self, x: Tensor) -> dict[str, Tensor]:
        """The parameters in a shape that broadcasts against x along the channels."""
        names = self.function.parameters
        if not names:
            return {}
        if not -x.dim() <= self.axis < x.dim() or x.shape[self.axis] != self.channels:
            raise InputError(f"the input needs {self.channels} channels on axis {self.axis}", where=repr(self),
                             received=f"shape {tuple(x.shape)}",
                             fix="function.torch(channels, axis) with those of the input")  # fmt: skip
        shape = [1] * x.dim()
        shape[self.axis] = self.channels
        return {name: getattr(self, name).view(shape) for name in names}

    def extra_repr(self) -> str:
        return f"{self.function.formula}, channels={self.channels}, axis={self.axis}"
