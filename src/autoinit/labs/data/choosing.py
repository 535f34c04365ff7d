"""Choose examples so that every class has equally many."""

from __future__ import annotations

import numpy as np

from ...errors import OptionError


def balanced(labels: np.ndarray, count: int, seed: int, *, where: str = "count", leave: int = 0) -> np.ndarray:
    """Numbers of `count` entries, in order, as many of each class as of any other (up to one), chosen by `seed`.

    leave: how many of each class must not be taken.
    """
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
        raise OptionError(f"'{where}' takes a number of examples", received=repr(count), fix=f"{where}=5000")
    rng = np.random.default_rng(seed)
    classes, sizes = np.unique(labels, return_counts=True)
    wanted = np.full(len(classes), count // max(len(classes), 1))
    wanted[rng.permutation(len(classes))[: count - wanted.sum()]] += 1
    chosen = []
    for label, number, size in zip(classes, wanted, sizes, strict=True):
        if number > size - leave:
            spared = f", of which {leave} must stay" if leave else ""
            raise OptionError(f"class {label} has {size} examples{spared}; {number} are asked for", where=where,
                              received=count, fix=f"at most {(int(sizes.min()) - leave) * len(classes)}")  # fmt: skip
        chosen.append(rng.permutation(np.flatnonzero(labels == label))[:number])
    return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, np.int64)
