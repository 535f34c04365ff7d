"""Linear maps along an axis, against the moments of every pair of places written out."""

from __future__ import annotations

import numpy as np
import pytest

from autoinit.core.signal.axis_maps import Linear, Windows, apart, copies, mapped_along, remaining, running
from autoinit.core.signal.signal import Signal

N = 5
PLACES = np.array([3, 0, 0, 4, 1, 1, 2])
TAPS = np.array([[0, 1, 2], [2, 3, 4], [4, 0, 1]])
WEIGHTS = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, -1.0], [0.3, 0.3, 0.3]])
RANDOM = np.random.default_rng(0).normal(size=(4, N))


def matrix_of(taps: np.ndarray, weights: np.ndarray) -> np.ndarray:
    made = np.zeros((len(taps), N))
    for row, (places, factors) in enumerate(zip(taps, weights, strict=True)):
        made[row, places] = factors
    return made


MAPS: dict[str, tuple[Linear, np.ndarray]] = {
    "any": (Windows.dense(RANDOM), RANDOM),
    "one output": (Windows.dense(RANDOM[:1]), RANDOM[:1]),
    "windows": (Windows(TAPS, WEIGHTS), matrix_of(TAPS, WEIGHTS)),
    "copies": (copies(PLACES), np.eye(N)[PLACES]),
    "zeros around": (
        copies(np.array([0, 0, 1, 2, 3, 4, 0]), np.array([False, True, True, True, True, True, False])),
        np.pad(np.eye(N), ((1, 1), (0, 0))),
    ),
    "running": (running, np.tril(np.ones((N, N)))),
    "remaining": (remaining, np.triu(np.ones((N, N)), 1)),
}


@pytest.mark.parametrize("profile", [None, np.array([0.0, 0.5, 1.0, 1.5, 2.0])])
@pytest.mark.parametrize("name", MAPS)
def test_moments_of_all_pairs_of_places(name: str, profile: np.ndarray | None) -> None:
    linear, A = MAPS[name]
    mean, K = 0.4, np.array([[1.0, 0.5], [0.4, 0.2]])  # another axis is left alone
    q = np.ones(N) if profile is None else np.sqrt(profile)
    made = mapped_along(Signal((3, N), mean, K, profiles=(None, profile)), {1: linear})
    assert made.shape == (3, len(A))
    assert made.mean == pytest.approx(mean * np.mean(A @ (q / q.mean())))
    for other in (0, 1):
        E = np.outer(q, q) * K[other, 1] / apart(q, q)
        np.fill_diagonal(E, q * q * K[other, 0])
        pairs = A @ E @ A.T
        level = np.diag(pairs)
        off = pairs[~np.eye(len(A), dtype=bool)].mean() if len(A) > 1 else level.mean()
        np.testing.assert_allclose(made.K[other], [level.mean(), off], atol=1e-12)
        if other == 0:
            found = np.ones(len(A)) if made.profiles[1] is None else made.profiles[1]
            np.testing.assert_allclose(found, level / level.mean(), atol=1e-9)


def test_axes_one_after_the_other() -> None:
    x = Signal((N, N), 0.0, np.array([[1.0, 0.2], [0.4, 0.1]]))
    both = mapped_along(x, {0: running, 1: Windows.dense(RANDOM)})
    np.testing.assert_allclose(both.K, mapped_along(mapped_along(x, {1: Windows.dense(RANDOM)}), {0: running}).K)


def test_nothing_becomes_nothing() -> None:
    x = Signal((0, 3), 1.0, np.ones((2, 2)))
    assert mapped_along(x, {0: copies(np.arange(0)), 1: running}).shape == (0, 3)


def test_no_pair_of_places_is_more_alike_than_an_entry_to_itself() -> None:
    """Two live places of four: moments that do not know of it would say three times as much for a pair of them."""
    x = Signal((4,), 0.0, np.array([1.0, 0.6]), profiles=(np.array([2.0, 2.0, 0.0, 0.0]),))
    np.testing.assert_allclose(mapped_along(x, {0: copies(np.arange(2))}).K, [2.0, 2.0])
