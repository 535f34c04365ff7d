"""Borders by brute force: loops over places and taps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from autoinit.core.signal.borders import Border, Taps, border, flat_border

AXES = [
    Taps(8, 8, 3, 1, 1, 1),
    Taps(8, 6, 3, 1, 1, 0),
    Taps(9, 4, 3, 2, 1, 0),
    Taps(9, 5, 3, 2, 2, 2),
    Taps(16, 16, 3, 1, 6, 6),
    Taps(4, 4, 9, 1, 1, 4),
    Taps(1, 1, 3, 1, 1, 1),
    Taps(7, 7, 4, 1, 1, 1),
    Taps(5, 11, 3, 2, 1, 0, transposed=True),
    Taps(5, 10, 3, 2, 1, 1, transposed=True),
    Taps(5, 13, 3, 2, 2, 0, transposed=True),
    Taps(4, 12, 2, 3, 1, 0, transposed=True),
    Taps(6, 6, 3, 1, 1, 1, transposed=True),
]


def reads(t: Taps) -> list[tuple[int, int, int]]:
    """All (output place, tap, input place) with a live tap."""
    found = []
    for h, d, i in product(range(t.outputs), range(t.kernel), range(t.inputs)):
        shift = d * t.dilation - t.low
        if (i * t.stride + shift == h) if t.transposed else (h * t.stride + shift == i):
            found.append((h, d, i))
    return found


def brute(t: Taps, p: np.ndarray) -> Border:
    """Every pair of reads, sorted by what they share. Inputs at places i, j have E[x_i x_j] = q_i q_j c / base."""
    q = np.sqrt(p)
    live = reads(t)
    n, pairs = t.outputs, max(t.outputs * (t.outputs - 1), 1)
    off_diagonal = [q[i] * q[j] for i in range(t.inputs) for j in range(t.inputs) if i != j]
    base = float(np.mean(off_diagonal)) if off_diagonal else 1.0
    same = pair = off = off_pair = coincide = 0.0
    places = np.zeros(n)
    for (h, d, i), (g, e, j) in product(live, live):
        if (h, d) == (g, e):
            same += p[i] / n
            places[h] += p[i]
        elif h == g:
            off += q[i] * q[j] / base / n
        elif d == e:
            pair += q[i] * q[j] / base / pairs
        elif i == j:
            coincide += p[i] / pairs
        else:
            off_pair += q[i] * q[j] / base / pairs
    return Border(same, pair, places / same, off, off_pair, coincide)


@pytest.mark.parametrize("t", AXES)
@pytest.mark.parametrize("flat", [True, False])
def test_against_brute_force(t: Taps, flat: bool) -> None:
    p = np.ones(t.inputs) if flat else np.random.default_rng(0).uniform(0.2, 2.0, t.inputs)
    p = p / p.mean()
    expected, found = brute(t, p), flat_border(t) if flat else border(t, p)
    assert found.same == pytest.approx(expected.same)
    if t.outputs > 1:
        for name in ("pair", "off", "off_pair", "coincide"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-12), name
    profile = np.ones(t.outputs) if found.profile is None else found.profile
    np.testing.assert_allclose(profile, expected.profile, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 4, 8, 32])
def test_live_taps_of_a_same_convolution(n: int) -> None:
    """3 taps, two of them dead at one place each (the same place if n = 1)."""
    assert flat_border(Taps(n, n, 3, 1, 1, 1)).same == pytest.approx((3 * n - 2) / n)


def test_transposed_fan_is_taps_over_stride() -> None:
    """Away from the ends a stride-2 transposed convolution with 4 taps has two of them live."""
    found = flat_border(Taps(64, 128, 4, 2, 1, 1, transposed=True))
    assert found.same == pytest.approx(2.0, rel=0.01)
    assert found.same < 2.0


def test_a_flat_interior_has_no_profile() -> None:
    assert flat_border(Taps(8, 6, 3, 1, 1, 0)).profile is None
    assert flat_border(Taps(8, 8, 3, 1, 1, 1)).profile is not None


def test_profile_decides_the_effective_fan() -> None:
    """Energy at the rim reaches fewer outputs than energy in the middle."""
    t = Taps(8, 8, 3, 1, 1, 1)
    rim, middle = np.zeros(8), np.zeros(8)
    rim[[0, 7]], middle[[3, 4]] = 4.0, 4.0
    assert border(t, rim).same == pytest.approx(2.0)
    assert border(t, middle).same == pytest.approx(3.0)
