"""The tape: every operation of one trace in order, with its arguments, so that it can be run again on real arrays."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any

from keras import KerasTensor, tree


@dataclass(slots=True, eq=False)
class Entry:
    """One call of an operation, or of a layer that was taken whole."""

    op: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: list[Any]
    module: str
    name: str
    occurrence: int
    whole: bool

    def tensors(self) -> list[Any]:
        """The symbolic tensors among the arguments."""
        return [t for t in flattened((self.args, self.kwargs)) if isinstance(t, KerasTensor)]


@dataclass
class Tape:
    """Entries, and for every tensor the entry that made it."""

    entries: list[Entry] = field(default_factory=list)
    producers: dict[int, tuple[Entry, int]] = field(default_factory=dict)
    leaves: dict[int, Any] = field(default_factory=dict)
    """Tensors that nothing made: id -> Variable or array."""
    inputs: dict[int, int] = field(default_factory=dict)
    """Tensors that are model inputs: id -> position."""
    kept: list[Any] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        for k, out in enumerate(entry.outputs):
            self.producers[id(out)] = (entry, k)

    def cut(self, length: int) -> list[Entry]:
        """Forget the entries from `length` on, and return them."""
        removed = self.entries[length:]
        del self.entries[length:]
        for entry in removed:
            for out in entry.outputs:
                self.producers.pop(id(out), None)
            self.kept.extend(entry.outputs)  # so that no new tensor takes over an id
        return removed

    def ancestors(self, tensor: Any, known: Container[int] = ()) -> list[Entry]:
        """The entries that `tensor` comes of, in order, without those before tensors that are `known` (by id)."""
        found: dict[int, Entry] = {}
        pending = [tensor]
        while pending:
            one = pending.pop()
            made = None if id(one) in known else self.producers.get(id(one))
            if made is not None and id(made[0]) not in found:
                found[id(made[0])] = made[0]
                pending.extend(made[0].tensors())
        return [entry for entry in self.entries if id(entry) in found]


def flattened(structure: Any) -> Iterator[Any]:
    """Leaves of nested lists, tuples and dicts."""
    if isinstance(structure, (list, tuple)):
        for item in structure:
            yield from flattened(item)
    elif isinstance(structure, dict):
        for item in structure.values():
            yield from flattened(item)
    else:
        yield structure


def mapped(function: Any, structure: Any) -> Any:
    """The same structure with `function` of every leaf."""
    if isinstance(structure, tuple):
        items = [mapped(function, item) for item in structure]
        return type(structure)(*items) if hasattr(structure, "_fields") else tuple(items)
    if isinstance(structure, list):
        return [mapped(function, item) for item in structure]
    if isinstance(structure, dict):
        return {k: mapped(function, v) for k, v in structure.items()}
    return function(structure)


def output_tensors(outputs: Any) -> list[Any]:
    return [t for t in tree.flatten(outputs) if isinstance(t, KerasTensor)]
