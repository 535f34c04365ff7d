"""Text classifiers: embedding, two recurrent layers, mean over time, dense head."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from .spec import Spec, Tokens


class RecurrentClassifier(nn.Module):
    """``cell`` is nn.LSTM or nn.GRU."""

    def __init__(
        self, cell: Callable[..., nn.Module], vocabulary: int = 1000, dim: int = 128, classes: int = 10
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dim)
        self.recurrent = cell(dim, dim, num_layers=2, batch_first=True)
        self.head = nn.Linear(dim, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        states, _ = self.recurrent(self.embedding(tokens))
        return self.head(states.mean(dim=1))


SPECS = tuple(
    Spec(
        f"{name}_classifier",
        partial(RecurrentClassifier, cell),
        (Tokens((32, 64), 1000),),
        f"two {name.upper()} layers of 128 over 64 steps",
    )
    for name, cell in (("lstm", nn.LSTM), ("gru", nn.GRU))
)
