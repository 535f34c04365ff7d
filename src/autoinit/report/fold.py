"""Fold repeated blocks of a table: the first one in full, the others in one line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, Protocol, TypeVar

NUMBER = re.compile(r"[0-9]+")
SAVES = 2
"""A fold must save at least this many lines."""


class Layer(Protocol):
    """What folding looks at."""

    @property
    def name(self) -> str: ...
    @property
    def op(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def verdict(self) -> str: ...


Row = TypeVar("Row", bound=Layer)
Block = tuple[str, str]
"""(what comes before the number in a name, the number): blocks.3, conv2_block1, dense_7."""


@dataclass(frozen=True)
class Fold(Generic[Row]):
    """Blocks `first` to `last` look like the block `like`."""

    first: str
    last: str
    like: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Inside(Generic[Row]):
    """Rows of one block, whose own blocks differ in numbers at or after `start` of their names."""

    rows: list[Row]
    start: int


def fold(rows: list[Row]) -> list[Row | Fold[Row]]:
    """Rows in order, with runs of alike blocks (the same layers, shapes and verdicts) folded, at every level."""
    out: list[Row | Fold[Row]] = []
    work: list[Row | Fold[Row] | Inside[Row]] = [Inside(rows, 0)]
    while work:  # not recursive: models may be nested deeper than Python's stack
        item = work.pop()
        if isinstance(item, Inside):
            work += reversed(_level(item.rows, item.start))
        else:
            out.append(item)
    return out


def _level(rows: list[Row], start: int) -> list[Row | Fold[Row] | Inside[Row]]:
    """Blocks of one level: of each run of alike ones the first, and a fold of the others if that saves lines."""
    if len(rows) == 1:
        return [*rows]
    groups = [(key, list(members)) for key, members in groupby(rows, key=lambda r: _block(r.name, start))]
    out: list[Row | Fold[Row] | Inside[Row]] = []
    k = 0
    while k < len(groups):
        key, members = groups[k]
        if key is None:
            out += members
            k += 1
            continue
        head = "".join(key)
        end = k + 1
        while end < len(groups) and _alike(groups[end], key, members, head):
            end += 1
        out.append(Inside(members, len(head)))
        repeats = [row for _, block in groups[k + 1 : end] for row in block]
        if len(repeats) > SAVES - 1 + (end > k + 1):
            names = ["".join(group[0]) for group in groups[k + 1 : end] if group[0] is not None]
            out.append(Fold(names[0], names[-1], head, tuple(repeats)))
        else:
            out += repeats
        k = end
    return out


def _block(name: str, start: int) -> Block | None:
    number = NUMBER.search(name, start)
    return None if number is None else (name[: number.start()], number[0])


def _alike(group: tuple[Block | None, list[Row]], key: Block, members: list[Row], head: str) -> bool:
    other, rows = group
    if other is None or other[0] != key[0]:
        return False
    return _signature(rows, "".join(other)) == _signature(members, head)


def _signature(rows: list[Row], head: str) -> list[tuple[str, str, tuple[int, ...], str]]:
    return [(row.name[len(head) :], row.op, row.shape, row.verdict) for row in rows]
