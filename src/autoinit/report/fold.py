"""Fold repeated blocks of a table: the first one in full, the others in one line."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Generic, Protocol, TypeVar

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
Block = tuple[tuple[str, ...], str]
"""(path to the container, index)"""


@dataclass(frozen=True)
class Fold(Generic[Row]):
    """Blocks `first` to `last` look like the block `like`."""

    first: str
    last: str
    like: str
    rows: tuple[Row, ...]


def fold(rows: list[Row], depth: int = 0) -> list[Row | Fold[Row]]:
    """Rows in order, with runs of alike blocks (the same layers, shapes and verdicts) folded."""
    groups = [(key, list(members)) for key, members in groupby(rows, key=lambda r: _block(r.name, depth))]
    out: list[Row | Fold[Row]] = []
    k = 0
    while k < len(groups):
        key, members = groups[k]
        if key is None:
            out += members
            k += 1
            continue
        container, index = key
        head = _join(container, index)
        end = k + 1
        while end < len(groups) and _alike(groups[end], key, members, head):
            end += 1
        out += fold(members, len(container) + 1)
        repeats = [row for _, block in groups[k + 1 : end] for row in block]
        if len(repeats) > SAVES - 1 + (end > k + 1):
            names = [_join(*group[0]) for group in groups[k + 1 : end] if group[0] is not None]
            out.append(Fold(names[0], names[-1], head, tuple(repeats)))
        else:
            out += repeats
        k = end
    return out


def _block(name: str, depth: int) -> Block | None:
    """The first numbered module at or below `depth`."""
    parts = name.split(".")
    for k in range(depth, len(parts)):
        if parts[k].isdigit():
            return tuple(parts[:k]), parts[k]
    return None


def _alike(group: tuple[Block | None, list[Row]], key: Block, members: list[Row], head: str) -> bool:
    other, rows = group
    if other is None or other[0] != key[0]:
        return False
    return _signature(rows, _join(*other)) == _signature(members, head)


def _signature(rows: list[Row], head: str) -> list[tuple[str, str, tuple[int, ...], str]]:
    return [(row.name[len(head) :], row.op, row.shape, row.verdict) for row in rows]


def _join(container: tuple[str, ...], index: str) -> str:
    return ".".join([*container, index])
