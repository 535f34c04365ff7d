"""Covariances of two views of one tensor, against the mean over all pairs of entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, example, given, settings

from autoinit.core.dependence.coincidence import index_of, pushed
from autoinit.core.graph.canonical.layout import Axis, Layout
from tests.core.canonical.views import Array, followed, start, steps

SHAPE = (3, 4, 2)
LARGEST = 200


def by_pairs(table: Array, one: Array, two: Array) -> Array:
    """The mean over all pairs of places of each pattern, from where in the base their entries lie."""
    shape = np.broadcast_shapes(one.shape, two.shape)
    one, two = np.broadcast_to(one, shape), np.broadcast_to(two, shape)
    places = np.stack(np.unravel_index(np.arange(one.size), shape), axis=-1) if shape else np.zeros((1, 0), int)
    base = [np.stack(np.unravel_index(x.ravel(), SHAPE), axis=-1) for x in (one, two)]
    differ = (base[0][:, None, :] != base[1][None, :, :]).astype(int)
    values = table[tuple(np.moveaxis(differ, -1, 0))]
    patterns = (places[:, None, :] != places[None, :, :]).astype(int)
    made = np.full((2,) * len(shape), np.nan)
    for pattern in np.ndindex(*made.shape):
        chosen = (patterns == np.array(pattern, int)).all(axis=-1)
        if chosen.any():
            made[pattern] = values[chosen].mean()
    return made


@settings(max_examples=300, deadline=None)
@given(steps(), steps())
@example([("split axis", 1)], [("split axis", 0), ("flip", 1), ("split axis", 1)])  # digits of a cut
def test_two_views_of_a_tensor(first: list[tuple[str, Any]], second: list[tuple[str, Any]]) -> None:
    one, a = followed(*start(SHAPE), first)
    two, b = followed(*start(SHAPE), second)
    shape = _common(one.shape, two.shape)
    assume(shape is not None and one.size <= LARGEST and two.size <= LARGEST)
    assert shape is not None
    table = np.random.default_rng(len(first)).random((2, 2, 2))
    assume(not _tangled(a, b, len(shape)))
    try:
        found = pushed(table, 0, SHAPE, _wide(a, len(shape)), _wide(b, len(shape)), shape)
    except ValueError:
        assume(False)
    expected = by_pairs(table, one, two)
    seen = ~np.isnan(expected)
    np.testing.assert_allclose(found[seen], expected[seen], atol=1e-12)


def _tangled(a: Layout, b: Layout, ndim: int) -> bool:
    """Whether one axis of the views is tied to two axes of the base, and differently: then chances are not independent,
    and what is said is approximate."""
    tied: dict[int, set[int]] = {}
    unlike: set[int] = set()
    for number, n in enumerate(SHAPE):
        try:
            found = [index_of(_wide(x, ndim), Axis(0, number, n)) for x in (a, b)]
        except ValueError:
            return False
        for use in (use for index in found for use in index.uses):
            tied.setdefault(use.axis, set()).add(number)
        if found[0] != found[1]:
            unlike.add(number)
    return any(len(roots) > 1 and roots & unlike for roots in tied.values())


def _common(one: tuple[int, ...], two: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        shape = np.broadcast_shapes(one, two)
    except ValueError:
        return None
    return shape if np.prod(shape) <= LARGEST else None


def _wide(view: Layout, ndim: int) -> Layout:
    return view._replace(axes=((),) * (ndim - len(view.axes)) + view.axes)


def test_a_mean_meets_every_entry() -> None:
    """x against its own mean along an axis: one entry in n is the same."""
    _, whole = start(SHAPE)
    mean = whole._replace(axes=(whole.axes[0], (), whole.axes[2]))
    table = np.random.default_rng(0).random((2, 2, 2))
    found = pushed(table, 0, SHAPE, whole, mean, SHAPE)
    same, different = table[:, 0], table[:, 1]
    np.testing.assert_allclose(found[:, 0], same / 4 + different * 3 / 4)
    np.testing.assert_allclose(found[:, 1], same / 4 + different * 3 / 4)
