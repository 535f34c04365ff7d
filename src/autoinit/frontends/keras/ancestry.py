"""How values of the graph come about, by the tape: real ops for `core.dependence.sampling_fallback`.

Starts are the model's inputs, what a contraction with weights makes, and what is drawn at random. Everything is worked
out when the first question comes: most plans never ask.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from typing import TYPE_CHECKING, Any

from keras import KerasTensor
from keras.src import backend
from keras.src.backend.common.variables import Variable
from numpy.typing import NDArray

from ...core.graph.graph import Value
from ..base_ancestry import LARGEST, MOST_OPS, share, starting, union
from .replay import run_entry, untouched_state
from .tape import Entry, mapped
from .variables import as_array, has_values

if TYPE_CHECKING:
    from .tracer import Tracer

Draw = Callable[[Value], NDArray[Any] | None]
Starts = frozenset[int] | None


class TapeAncestry:
    """Values and the tensors on the tape that they stand for."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._tape = tracer.tape
        self._tensor: dict[int, KerasTensor] = {}
        self._starting: set[int] = set()
        self._starts: dict[int, Starts] = {}
        self._order: dict[int, int] = {}

    # --- questions ---------------------------------------------------------------------------------------------------

    def starts(self, value: Value) -> bool:
        tensor = self._tensor_of(value)
        return tensor is None or self._is_start(tensor)

    def related(self, one: Value, other: Value) -> bool:
        a, b = (self._tensor_of(v) for v in (one, other))
        return a is not None and b is not None and share(self._from(a), self._from(b))

    def size(self, value: Value, known: dict[Any, Any]) -> float:
        entries, drawn = self._needed(self._tensor[value.id], known)
        sizes = [prod(t.shape) for t in [*drawn, *(out for entry in entries for out in entry.outputs)]]
        return inf if len(sizes) > MOST_OPS or max(sizes, default=0) > LARGEST else sum(sizes)

    def evaluate(self, value: Value, draw: Draw, known: dict[Any, Any]) -> NDArray[Any] | None:
        tensor = self._tensor[value.id]
        entries, drawn = self._needed(tensor, known)
        try:
            with untouched_state():
                for start in drawn:
                    known[id(start)] = self._drawn(start, draw)
                for entry in entries:
                    self._run(entry, known)
                return as_array(known[id(tensor)])
        except Exception:  # whatever an op may find wrong with samples
            return None

    # --- answers -----------------------------------------------------------------------------------------------------

    def _tensor_of(self, value: Value) -> KerasTensor | None:
        if not self._order and self._tape.entries:
            self._look_back()
        return self._tensor.get(value.id)

    def _look_back(self) -> None:
        """What weights and chance make, by the nodes; and what comes of it, by the tape."""
        for position, entry in enumerate(self._tape.entries):
            self._order[id(entry)] = position
            for tensor in [*entry.tensors(), *entry.outputs]:
                reference = self._tracer.reference(tensor)
                if isinstance(reference, Value) and tuple(tensor.shape) == reference.shape:
                    self._tensor.setdefault(reference.id, tensor)
        self._starting = starting(self._tracer.graph.nodes, self._tensor)
        for entry in self._tape.entries:
            parts = [self._from(t) for t in entry.tensors()]
            self._starts.update((id(out), union(parts)) for out in entry.outputs)

    def _is_start(self, tensor: Any) -> bool:
        """Whether a tensor is drawn: all tensors of one value are the same start."""
        reference = self._tracer.reference(tensor)
        return isinstance(reference, Value) and (reference.id in self._starting or id(tensor) in self._tape.inputs)

    def _from(self, tensor: Any) -> Starts:
        if self._is_start(tensor):
            reference = self._tracer.reference(tensor)
            assert isinstance(reference, Value)
            return frozenset((reference.id,))
        return self._starts.get(id(tensor), frozenset())

    def _needed(self, tensor: Any, known: dict[Any, Any]) -> tuple[list[Entry], list[Any]]:
        """The entries to run, in order, and the tensors to draw before (more than `MOST_OPS`: not all of them)."""
        entries: dict[int, Entry] = {}
        drawn: dict[int, Any] = {}
        waiting = [tensor]
        while waiting and len(entries) <= MOST_OPS:
            one = waiting.pop()
            if id(one) in known or id(one) in drawn:
                continue
            made = self._tape.producers.get(id(one))
            if self._is_start(one) or made is None:
                if id(one) not in self._tape.leaves:
                    drawn[id(one)] = one
            elif id(made[0]) not in entries:
                entries[id(made[0])] = made[0]
                waiting.extend(made[0].tensors())
        return sorted(entries.values(), key=lambda entry: self._order[id(entry)]), list(drawn.values())

    def _drawn(self, tensor: Any, draw: Draw) -> Any:
        reference = self._tracer.reference(tensor)
        if isinstance(reference, Value):
            array = draw(reference)
        else:  # an input of integers
            sample = self._tracer.replay.sample_input
            array = None if sample is None else as_array(sample(self._tape.inputs[id(tensor)]))
        if array is None:
            raise ValueError(f"no sample of a tensor of shape {tensor.shape}")
        return backend.convert_to_tensor(array, dtype=tensor.dtype)

    def _run(self, entry: Entry, known: dict[Any, Any]) -> None:
        def real(item: Any) -> Any:
            if not isinstance(item, KerasTensor):
                return item
            return known[id(item)] if id(item) in known else _value_of(self._tape.leaves[id(item)])

        made = run_entry(entry, mapped(real, entry.args), mapped(real, entry.kwargs))
        for out, value in zip(entry.outputs, made, strict=True):
            if tuple(value.shape) != tuple(out.shape):
                raise ValueError(f"a tensor of shape {tuple(value.shape)} where {out.shape} was expected")
            known.setdefault(id(out), value)


def _value_of(leaf: Any) -> Any:
    if not isinstance(leaf, Variable):
        return leaf
    if not has_values(leaf):
        raise ValueError("a parameter without values")
    return leaf.value
