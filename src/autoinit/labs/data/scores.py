"""How well scores tell two classes apart."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from ...errors import InputError


def accuracy(labels: np.ndarray, scores: np.ndarray) -> float:
    """The share of examples whose class is named.

    scores: (N,) for two classes, above one half for class 1; or (N, classes), the largest names the class.
    """
    given = _checked(labels, scores)
    named = given > 0.5 if given.ndim == 1 else given.argmax(axis=1)
    return float((named == labels).mean())


def area_under_curve(labels: np.ndarray, scores: np.ndarray) -> float:
    """The probability that an example of class 1 has a higher score than one of class 0; a tie counts half.

    It is the area under the curve of true against false positives (ROC), by the ranks of the scores.
    """
    given = _checked(labels, scores)
    positive = np.asarray(labels) == 1
    ones, zeros = int(positive.sum()), int((np.asarray(labels) == 0).sum())
    if given.ndim != 1 or ones + zeros != len(given) or not ones or not zeros:
        raise InputError("the area needs one score for each example, and examples of both classes 0 and 1",
                         where="labels", received=f"{ones} of class 1, {zeros} of class 0, scores {given.shape}",
                         fix="pass the scores of class 1, of a part that has both classes")  # fmt: skip
    ranks = rankdata(given)
    return float((ranks[positive].sum() - ones * (ones + 1) / 2) / (ones * zeros))


def _checked(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    given = np.asarray(scores, np.float64)
    if given.ndim not in (1, 2) or len(given) != len(labels) or not len(labels):
        raise InputError("there is one score, or one row of them, for each label", where="scores",
                         received=f"{given.shape} for {len(labels)} labels", fix="shape (N,) or (N, classes)"
                         )  # fmt: skip
    if wrong := int((~np.isfinite(given)).sum()):
        raise InputError("scores are not finite", where="scores", received=f"{wrong} of them",
                         fix="the network has diverged: give it the worst score")  # fmt: skip
    return given
