"""Recurrent layers on texts: classifiers, and models of what comes next."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

CELLS: dict[str, Callable[..., nn.Module]] = {"lstm": nn.LSTM, "gru": nn.GRU}


class RecurrentClassifier(nn.Module):
    """An embedding, `depth` recurrent layers of a kind in `CELLS`, the mean over time, a dense head."""

    def __init__(
        self, cell: str = "lstm", *, vocabulary: int = 1000, width: int = 128, depth: int = 2, classes: int = 10
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.recurrent = CELLS[cell](width, width, num_layers=depth, batch_first=True)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        states, _ = self.recurrent(self.embedding(tokens))
        out: Tensor = self.head(states.mean(dim=1))
        return out


class RecurrentLanguageModel(nn.Module):
    """Token indices to next-token logits: an embedding, `depth` recurrent layers of a kind in `CELLS`, a dense head."""

    def __init__(self, cell: str = "lstm", *, vocabulary: int = 1000, width: int = 128, depth: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.recurrent = CELLS[cell](width, width, num_layers=depth, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        states, _ = self.recurrent(self.embedding(tokens))
        out: Tensor = self.head(states)
        return out
