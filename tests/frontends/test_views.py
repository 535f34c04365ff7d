"""Views of parameters are worked out without memory, however large the parameter is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoinit.frontends.views import permuted_view, reshaped_view, viewed, whole_view

LAYERS = (126, 16384, 53248, 16)
"""1.76e12 entries."""


def test_views_of_terabytes() -> None:
    view = whole_view("w", LAYERS)
    cut = viewed(view, lambda a: a[3:5])
    assert cut is not None and cut.offset == 3 * 16384 * 53248 * 16 and cut.shape == (2, *LAYERS[1:]) and not cut.whole
    flat = reshaped_view(view, (126, 16384, 53248 * 16))
    assert flat is not None and flat.stride == (16384 * 53248 * 16, 53248 * 16, 1) and flat.whole
    turned = permuted_view(view, (0, 2, 1, 3))
    assert reshaped_view(turned, (126, 53248, 16384 * 16)) is None
    back = viewed(turned, lambda a: a.swapaxes(1, 2))
    assert back is not None and (back.shape, back.stride) == (view.shape, view.stride)


def factors(n: int, rng: np.random.Generator) -> tuple[int, ...]:
    """A shape with n entries, ones among it."""
    shape, rest = [], n
    while rest > 1:
        divisors = [d for d in range(2, rest + 1) if rest % d == 0]
        shape.append(int(rng.choice(divisors)))
        rest //= shape[-1]
    for _ in range(int(rng.integers(0, 3))):
        shape.insert(int(rng.integers(0, len(shape) + 1)), 1)
    return tuple(shape)


@given(st.integers(0, 10**6))
def test_reshapes_are_those_of_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.choice([12, 24, 36, 60, 64]))
    base = factors(n, rng)
    perm = tuple(int(a) for a in rng.permutation(len(base)))
    view = permuted_view(whole_view("w", base), perm)
    target = factors(n, rng)
    made = reshaped_view(view, target)
    entries = np.arange(n).reshape(base).transpose(perm).reshape(target)
    if made is not None:
        assert np.array_equal(
            np.lib.stride_tricks.as_strided(np.arange(n), target, [8 * s for s in made.stride]), entries
        )
    else:
        flat = np.arange(n).reshape(base).transpose(perm)
        with pytest.raises((AttributeError, ValueError)):
            flat.view().shape = target
