"""What a network learns from, whatever it is: inputs and labels, in three parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import OptionError


@dataclass(frozen=True)
class Examples:
    """`inputs`: (N, …); `labels`: int64 (N,)."""

    inputs: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, chosen: np.ndarray) -> Examples:
        """The examples with these numbers."""
        return Examples(self.inputs[chosen], self.labels[chosen])


@dataclass(frozen=True)
class Parts:
    """Examples to train on, to choose by, and to test once."""

    train: Examples
    validation: Examples
    test: Examples


def shuffled_parts(count: int, validation: float, test: float, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Numbers of the training, validation and test part of `count` examples, each in order; shares are rounded."""
    for name, share in (("validation", validation), ("test", test)):
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < 1:
            raise OptionError("a part is a share of the examples, from 0 to below 1", where=name, received=repr(share),
                              fix=f"{name}=0.2")  # fmt: skip
    tested, validated = round(count * test), round(count * validation)
    if tested + validated >= count:
        raise OptionError("nothing is left to train on", where="validation, test", received=f"{validation}, {test}",
                          fix="shares whose sum is below 1")  # fmt: skip
    order = rng.permutation(count)
    ends = np.cumsum([count - tested - validated, validated])
    return tuple(np.sort(part) for part in np.split(order, ends))
