"""Activation functions as the models take them: a name, or a callable that makes a module for so many channels."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from ...errors import OptionError

MakeActivation = Callable[[int], nn.Module]
"""From a number of channels to a new module; a function with parameters per channel needs the number."""

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "elu": nn.ELU,
    "selu": nn.SELU,
    "gelu": nn.GELU,
    "swish": nn.SiLU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "softplus": nn.Softplus,
    "leaky_relu": nn.LeakyReLU,
    "mish": nn.Mish,
    "relu6": nn.ReLU6,
    "hard_swish": nn.Hardswish,
    "linear": nn.Identity,
}


def activation_maker(activation: str | MakeActivation) -> MakeActivation:
    """Turn a name of `ACTIVATIONS` into a maker; return a maker as it is."""
    if isinstance(activation, str) and activation in ACTIVATIONS:
        make = ACTIVATIONS[activation]
        return lambda channels: make()
    if isinstance(activation, (str, nn.Module)) or not callable(activation):
        raise OptionError(
            "not an activation function that a model can be built with",
            where="activation",
            received=repr(activation),
            fix=f"one of {', '.join(ACTIVATIONS)}, or a function of the number of channels: lambda channels: nn.ReLU()",
        )
    return activation
