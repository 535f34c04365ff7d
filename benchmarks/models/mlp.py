"""Deep chains of dense layers."""

from __future__ import annotations

from functools import partial

from torch import nn

from .spec import Spec

FEATURES, WIDTH, DEPTH, CLASSES = 784, 512, 20, 10


def mlp_dropout(at_input: float, hidden: float) -> nn.Sequential:
    """Twenty dense layers with ReLU, dropout on the input and after every activation."""
    layers: list[nn.Module] = [nn.Dropout(at_input)]
    for i in range(DEPTH - 1):
        layers += [nn.Linear(WIDTH if i else FEATURES, WIDTH), nn.ReLU(), nn.Dropout(hidden)]
    return nn.Sequential(*layers, nn.Linear(WIDTH, CLASSES))


def mlp_selu() -> nn.Sequential:
    """Twenty dense layers with SELU."""
    layers: list[nn.Module] = []
    for i in range(DEPTH - 1):
        layers += [nn.Linear(WIDTH if i else FEATURES, WIDTH), nn.SELU()]
    return nn.Sequential(*layers, nn.Linear(WIDTH, CLASSES))


SPECS = (
    Spec(
        "mlp_dropout",
        partial(mlp_dropout, 0.2, 0.5),
        ((128, FEATURES),),
        "20 dense layers, dropout 0.2 and 0.5",
    ),
    Spec(
        "mlp_dropout_light",
        partial(mlp_dropout, 0.0, 0.2),
        ((128, FEATURES),),
        "20 dense layers, dropout 0.2",
    ),
    Spec("mlp_selu", mlp_selu, ((128, FEATURES),), "20 dense layers, SELU"),
)
