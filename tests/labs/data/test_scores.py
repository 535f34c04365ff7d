"""Accuracy and the area under the ROC curve."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from autoinit.errors import InputError
from autoinit.labs.data import accuracy, area_under_curve


@pytest.mark.parametrize("levels", [3, 1000])
def test_the_area_is_that_of_scikit_learn(levels: int) -> None:
    """With three levels nearly all pairs are ties."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 500)
    scores = np.round(rng.normal(size=500) + labels, 1 if levels > 3 else 0)
    assert area_under_curve(labels, scores) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    pairs = scores[labels == 1][:, None] - scores[labels == 0][None, :]
    assert area_under_curve(labels, scores) == pytest.approx((pairs > 0).mean() + (pairs == 0).mean() / 2)


def test_ends() -> None:
    labels = np.array([0, 0, 1, 1])
    assert area_under_curve(labels, np.array([0.1, 0.2, 0.3, 0.4])) == 1
    assert area_under_curve(labels, np.array([4, 3, 2, 1])) == 0
    assert area_under_curve(labels, np.zeros(4)) == 0.5
    assert accuracy(labels, np.array([0.1, 0.6, 0.7, 0.4])) == 0.5
    assert accuracy(labels, np.array([[2, 1], [1, 2], [0, 1], [0, 1]])) == 0.75


def test_what_has_no_score() -> None:
    with pytest.raises(InputError, match="both classes"):
        area_under_curve(np.ones(3), np.arange(3))
    with pytest.raises(InputError, match="both classes"):
        area_under_curve(np.array([0, 1, 2]), np.arange(3))
    for scores in (np.array([1, np.nan]), np.array([[0, np.inf], [0, 1]])):
        with pytest.raises(InputError, match="diverged"):
            accuracy(np.array([0, 1]), scores)
    with pytest.raises(InputError, match="2 labels"):
        accuracy(np.array([0, 1]), np.zeros(3))
