"""Small models in words that no framework owns, channels last. A front end's tests build them in their own way."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Dense:
    inputs: int
    outputs: int
    bias: bool = True


@dataclass(frozen=True)
class Conv:
    """Two-dimensional, padded to keep the size for odd kernels (`same`), or not at all."""

    inputs: int
    outputs: int
    kernel: int = 3
    groups: int = 1
    same: bool = True
    bias: bool = True


@dataclass(frozen=True)
class Activation:
    """relu, tanh, gelu (exact), silu or sigmoid."""

    name: str


@dataclass(frozen=True)
class Dropout:
    rate: float


@dataclass(frozen=True)
class BatchNorm:
    features: int
    eps: float = 1e-3


@dataclass(frozen=True)
class LayerNorm:
    features: int
    eps: float = 1e-3


@dataclass(frozen=True)
class MaxPool:
    size: int


@dataclass(frozen=True)
class AveragePool:
    size: int


@dataclass(frozen=True)
class GlobalAverage:
    """The mean over all axes but the first and the features."""


@dataclass(frozen=True)
class Embedding:
    vocabulary: int
    features: int


@dataclass(frozen=True)
class Residual:
    """x + layers(x)."""

    layers: tuple[Layer, ...]


@dataclass(frozen=True)
class Branches:
    """The outputs of several stacks on the same input, concatenated along the features."""

    stacks: tuple[tuple[Layer, ...], ...]


@dataclass(frozen=True)
class Twice:
    """One dense layer, called on its own output: layer(tanh(layer(x)))."""

    features: int


Layer = (
    Dense | Conv | Activation | Dropout | BatchNorm | LayerNorm | MaxPool | AveragePool | GlobalAverage | Embedding
    | Residual | Branches | Twice
)  # fmt: skip


@dataclass(frozen=True)
class Model:
    """A stack of layers and what it is fed with (the batch included; features last)."""

    layers: tuple[Layer, ...]
    shape: tuple[int, ...]
    mean: float = 0.0
    variance: float = 1.0
    vocabulary: int | None = None
    correlation: dict[int, float] = field(default_factory=dict)


MODELS: dict[str, Model] = {
    "dense": Model((Dense(40, 64), Activation("relu"), Dense(64, 64), Activation("gelu"), Dense(64, 8)), (32, 40)),
    "shifted input": Model(
        (Dense(40, 64, bias=False), Activation("tanh"), Dense(64, 8)), (32, 40), mean=1.5, variance=3.0
    ),
    "correlated input": Model(
        (Dense(40, 64), Activation("relu"), Dense(64, 8)), (32, 40), correlation={0: 0.3, 1: 0.2}
    ),
    "dropout": Model((Dropout(0.2), Dense(40, 64), Activation("silu"), Dropout(0.5), Dense(64, 8)), (32, 40)),
    "convolutions": Model(
        (Conv(3, 16), Activation("relu"), Conv(16, 16, groups=4), Activation("relu"), Conv(16, 24, 5, same=False),
         GlobalAverage(), Dense(24, 8)), (8, 16, 16, 3),
    ),
    "pooling": Model(
        (Conv(3, 16), Activation("relu"), MaxPool(2), Conv(16, 16), AveragePool(2), Activation("tanh"), Conv(16, 8)),
        (8, 16, 16, 3),
    ),
    "batch norm": Model(
        (Conv(3, 16), BatchNorm(16), Activation("relu"),
         Residual((Conv(16, 16), BatchNorm(16), Activation("relu"), Conv(16, 16))), GlobalAverage(), Dense(16, 8)),
        (8, 12, 12, 3),
    ),
    "layer norm": Model(
        (Dense(40, 64), *(Residual((LayerNorm(64), Dense(64, 96), Activation("gelu"), Dense(96, 64))),) * 4,
         LayerNorm(64), Dense(64, 8)), (32, 40),
    ),
    "branches": Model(
        (Branches(((Dense(40, 16),), (Dense(40, 32), Activation("sigmoid")), ())), Dense(88, 32), Activation("relu"),
         Dense(32, 8)), (32, 40),
    ),
    "embedding": Model((Embedding(100, 32), LayerNorm(32), Dense(32, 64), Activation("relu"), Dense(64, 8)), (16, 10),
                       vocabulary=100),
    "shared": Model((Dense(40, 32), Activation("relu"), Twice(32), Dense(32, 8)), (32, 40)),
}  # fmt: skip

CENTRED: dict[str, Model] = {
    "dense": Model(
        (Dense(40, 64), Activation("relu"), Dense(64, 64), Activation("gelu"), Dense(64, 64), Activation("sigmoid"),
         Dense(64, 8)), (256, 40),
    ),
    "dropout": Model((Dense(40, 64), Activation("silu"), Dropout(0.3), Dense(64, 8)), (256, 40)),
    "unpadded convolutions": Model(
        (Conv(3, 16, same=False), Activation("relu"), Conv(16, 16, groups=4, same=False), Activation("silu"),
         Conv(16, 8, same=False), GlobalAverage(), Dense(8, 8)), (32, 12, 12, 3),
    ),
    "batch norm": Model(
        (Conv(3, 16, same=False), BatchNorm(16), Activation("relu"), Conv(16, 16, same=False), BatchNorm(16),
         Activation("silu"), Conv(16, 8, same=False)), (32, 12, 12, 3),
    ),
}  # fmt: skip
"""Models that both ways to centre make the same function of."""
