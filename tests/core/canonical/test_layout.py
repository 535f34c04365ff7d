"""Layouts against NumPy: a view of the numbers 0, 1, 2, ... says where its entries come from."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from autoinit.core.graph.canonical.layout import Layout, of_base
from autoinit.core.graph.canonical.moves import glued
from autoinit.core.graph.canonical.pieces import Pieces, resolved
from tests.core.canonical.views import BASE, followed, indices, moved, start, steps


@settings(max_examples=400, deadline=None)
@given(steps())
def test_a_view_knows_where_its_entries_come_from(story: list[tuple[str, Any]]) -> None:
    array, layout = followed(*start(), story)
    assert np.array_equal(indices(layout, {0: BASE}), array)


@settings(max_examples=400, deadline=None)
@given(steps(), st.integers(0, 5), st.integers(1, 11))
def test_what_is_cut_and_glued_is_what_it_was(story: list[tuple[str, Any]], which: int, at: int) -> None:
    array, layout = followed(*start(), story)
    wide = [a for a, n in enumerate(array.shape) if n > 1]
    if not wide:
        return
    axis = wide[which % len(wide)]
    n = array.shape[axis]
    sizes = (at % (n - 1) + 1, n - at % (n - 1) - 1)
    pieces = moved(array, layout, "split", axis=axis, sizes=sizes)
    assert pieces is not None
    again = glued([x for _, x in pieces], axis)
    assert again is None or np.array_equal(indices(again, {0: BASE}), array)
    if not {"slice", "select", "halves", "flip", "roll"} & {n for n, _ in story}:
        assert again == layout  # parts of parts may have several names
    places = moved(array, layout, "unbind", axis=axis)
    assert places is not None
    stacked = [x._replace(axes=(*x.axes[:axis], (), *x.axes[axis:])) for _, x in places]
    made = glued(stacked, axis)
    assert made is None or np.array_equal(indices(made, {0: BASE}), array)


@settings(max_examples=300, deadline=None)
@given(steps(), steps())
def test_a_part_of_a_piece(first: list[tuple[str, Any]], second: list[tuple[str, Any]]) -> None:
    """Two tensors are put together; whatever lies in one of them is a view of that one."""
    one, layout = followed(*start(), first)
    if one.ndim == 0 or one.size > 3000:
        return
    other = Layout(1, of_base(1, one.shape).axes)
    both = np.concatenate([one, one + 10**6], axis=0)
    known = {2: Pieces(0, (one.shape[0],) * 2, (layout, other))}
    array, view = followed(both, of_base(2, both.shape), second)
    made = resolved(view, known)
    if made.base == 2:
        return
    assert made.shape == array.shape
    if made.base == 0:
        assert np.array_equal(indices(made, {0: BASE}), array)
    else:
        assert np.array_equal(one.ravel()[indices(made, {1: one.shape})] + 10**6, array)


def test_ways_there_and_back() -> None:
    array, layout = start()
    turned = moved(array, layout, "shuffle", moves=(("flip", 1, 0),))[0]  # type: ignore[index]
    assert moved(*turned, "shuffle", moves=(("flip", 1, 0),))[0][1] == layout  # type: ignore[index]
    rolled = moved(array, layout, "shuffle", moves=(("roll", 3, 5),))[0]  # type: ignore[index]
    assert moved(*rolled, "shuffle", moves=(("roll", 3, 7),))[0][1] == layout  # type: ignore[index]
    there = moved(array, layout, "permute", perm=(3, 0, 2, 1))[0]  # type: ignore[index]
    back = moved(*moved(*there, "reshape", shape=(12 * 4 * 6,))[0], "reshape", shape=(12, 4, 1, 6))[0]  # type: ignore[index,misc]
    assert moved(*back, "permute", perm=(1, 3, 2, 0))[0][1] == layout  # type: ignore[index]
