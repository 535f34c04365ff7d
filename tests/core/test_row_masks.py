"""Rows of masks: worked out once, and right however the mask is cut into axes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from autoinit.core.signal import masks
from autoinit.core.signal.masks import Lengths, Rows, causal_mask, unchanging


def by_pairs(mask: np.ndarray, ratio: dict[tuple[int, ...], dict[int, float]]) -> tuple[np.ndarray, np.ndarray]:
    """The definition: all pairs of rows that differ exactly on S, one by one. Lengths are all nodes."""
    n, lead = mask.shape[-1], mask.shape[:-1]
    same, different = np.zeros((2,) * len(lead)), np.zeros((2,) * len(lead))
    for S in product((0, 1), repeat=len(lead)):
        varying = [a for a in range(len(lead)) if lead[a] > 1]
        masses, count = [], 0
        for i, j in product(np.ndindex(lead), repeat=2):
            if any((i[a] != j[a]) != bool(S[a]) for a in varying):
                continue
            count += 1
            k, m = int(mask[i].sum()), int(mask[j].sum())
            if k and m:
                together = int((mask[i] & mask[j]).sum())
                masses.append(together * np.sqrt(ratio[S][k] * ratio[S][m]) / (k * m))
        if masses:
            share = len(masses) / count
            same[S] = share * np.mean(masses) / n
            different[S] = share * (1 - np.mean(masses)) / (n * (n - 1))
    return same, different


@pytest.mark.parametrize("lead", [(5,), (1, 5), (3, 4), (2, 1, 3)])
@pytest.mark.parametrize("empty", [False, True])
def test_moments_are_means_over_pairs(lead, empty) -> None:
    rng = np.random.default_rng(0)
    mask = rng.random((*lead, 6)) < 0.6
    mask[..., 0] = True
    if empty:
        mask[(-1,) * len(lead)] = False
    shape = (*lead, 6)
    rows = Rows.of(mask, shape, len(lead))
    nodes = rows.lengths.nodes.tolist()
    ratio = {
        S: {k: 1 + 0.3 * k / (1 + sum(S)) + (0.0 if k else 0) for k in range(7)}
        for S in product((0, 1), repeat=len(lead))
    }
    table = np.zeros(((2,) * len(lead)) + (len(nodes),))
    for S in ratio:
        table[S] = [ratio[S][k] for k in nodes]
    for mine, brute in zip(rows.moments(table), by_pairs(mask, ratio), strict=True):
        np.testing.assert_allclose(mine, brute, rtol=1e-12)


def test_a_mask_that_cannot_change_is_found_by_its_identity(monkeypatch) -> None:
    mask = causal_mask(7, 7)
    assert causal_mask(7, 7) is mask and not mask.flags.writeable
    rows = Rows.of(mask, (2, 3, 7, 7), 3)
    monkeypatch.setattr(masks, "_by_contents", {})
    assert Rows.of(mask, (2, 3, 7, 7), 3) is rows
    assert Rows.of(mask, (4, 7, 7), 2) is not rows


def test_equal_masks_share_their_rows_and_changed_ones_do_not() -> None:
    mask = np.tri(5, 5, dtype=bool)
    rows = Rows.of(mask, (5, 5), 1)
    assert Rows.of(mask.copy(), (5, 5), 1) is rows
    mask[0, 4] = True
    assert Rows.of(mask, (5, 5), 1) is not rows
    assert rows.lengths.each.tolist() == [1, 2, 3, 4, 5]


def test_a_new_array_at_the_place_of_an_old_one() -> None:
    """Identities are reused: what belonged to an array that is gone is not found for the next."""
    for k in range(200):
        mask = unchanging(np.arange(64).reshape(8, 8) % (k + 2) == 0)
        lengths = Rows.of(mask, (8, 8), 1).lengths.each
        assert lengths.tolist() == mask.sum(axis=1).tolist()
        del mask


def test_lengths_lie_where_their_rows_are() -> None:
    mask = np.tri(4, 6, dtype=bool)
    assert Rows.of(mask, (2, 4, 6), 2).placed(2).each.shape == (1, 4, 1)
    assert Rows.of(mask.T, (6, 4), 0).placed(0).each.tolist() == [[1, 2, 3, 4]]


def test_values_between_the_nodes() -> None:
    lengths = Lengths(np.arange(0, 300))
    assert lengths.nodes.size <= masks.MOST_LENGTHS
    values = lengths.between(lengths.nodes.astype(float) ** 1.5)
    np.testing.assert_allclose(values[1:], np.arange(1, 300) ** 1.5, rtol=1e-12)
    assert values[0] == 0.0
