"""Running the tape again on real arrays: for measuring, for samples of constants, for simulating one operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import keras
import numpy as np
from keras import KerasTensor
from keras.src import backend
from keras.src.backend.common.variables import AutocastScope, Variable
from keras.src.ops.nn import ConvTranspose
from numpy.typing import NDArray

from ...core.graph.graph import Constant
from .apart import Apart, code_of
from .call import is_tensor
from .tape import Entry, Tape, mapped
from .variables import as_array

MOST_KEPT = 2**25
"""So many entries of tensors that were computed for one sample are kept for the next one."""


class Replay:
    """Runs entries of a tape. `sample_input(position)` gives the real input for a position."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.sample_input: Callable[[int], Any] | None = None
        self._samples: dict[int, NDArray[Any] | None] = {}
        self._kept: dict[int, Any] = {}
        self._entries_kept = 0

    def sample(self, tensor: KerasTensor) -> NDArray[Any] | None:
        """A sample of a tensor's values; None if it cannot be computed."""
        if id(tensor) not in self._samples:
            try:
                self._samples[id(tensor)] = self._sampled(tensor)
            except Exception:
                self._samples[id(tensor)] = None
        return self._samples[id(tensor)]

    def _sampled(self, tensor: KerasTensor) -> NDArray[Any] | None:
        if self.sample_input is None:
            return None
        if id(tensor) in self.tape.inputs:
            return as_array(self.sample_input(self.tape.inputs[id(tensor)]))
        if id(tensor) in self._kept:
            return as_array(self._kept[id(tensor)])
        entries = self.tape.ancestors(tensor, self._kept)
        with untouched_state():
            values = self.run(entries, self.sample_input, [tensor], self._keep, self._kept)
        return as_array(values[id(tensor)])

    def _keep(self, entry: Entry, made: list[Any]) -> None:
        for out, value in zip(entry.outputs, made, strict=True):
            self._entries_kept += prod(out.shape)
            if self._entries_kept <= MOST_KEPT:
                self._kept[id(out)] = value

    def outputs(self, op: Any, args: Any, kwargs: Any) -> Any:
        """What an operation (or layer) makes of a sample of its arguments, as symbolic tensors."""
        assert self.sample_input is not None
        given = Entry(op, args, kwargs, [], "", "", 0, isinstance(op, keras.layers.Layer)).tensors()
        before = {id(entry) for tensor in given for entry in self.tape.ancestors(tensor)}
        entries = [entry for entry in self.tape.entries if id(entry) in before]
        with untouched_state():
            values = self.run(entries, self.sample_input, given)

            def real(item: Any) -> Any:
                return values[id(item)] if isinstance(item, KerasTensor) else item

            made = call_really(op, mapped(real, args), mapped(real, kwargs), isinstance(op, keras.layers.Layer))
        return keras.tree.map_structure(
            lambda t: KerasTensor(tuple(t.shape), dtype=backend.standardize_dtype(t.dtype)) if is_tensor(t) else t, made
        )

    def run(
        self, entries: list[Entry], inputs: Callable[[int], Any], wanted: list[Any],
        observe: Callable[[Entry, list[Any]], None] | None = None, known: dict[int, Any] | None = None,
    ) -> dict[int, Any]:  # fmt: skip
        """Run `entries` in order and return the values of the `wanted` tensors by id; others are freed after use.

        `known`: values of tensors that the entries start from.
        """
        uses = Counter(id(t) for entry in entries for t in entry.tensors())
        for tensor in wanted:
            uses[id(tensor)] += 1
        values: dict[int, Any] = {}

        def real(item: Any) -> Any:
            if not isinstance(item, KerasTensor):
                return item
            if id(item) in values:
                return values[id(item)]
            if known is not None and id(item) in known:
                return known[id(item)]
            if id(item) in self.tape.leaves:
                leaf = self.tape.leaves[id(item)]
                return leaf.value if isinstance(leaf, Variable) else leaf
            values[id(item)] = inputs(self.tape.inputs[id(item)])
            return values[id(item)]

        for entry in entries:
            made = run_entry(entry, mapped(real, entry.args), mapped(real, entry.kwargs))
            if observe is not None:
                observe(entry, made)
            for out, value in zip(entry.outputs, made, strict=True):
                if uses[id(out)]:
                    values[id(out)] = value
            for tensor in entry.tensors():
                uses[id(tensor)] -= 1
                if not uses[id(tensor)]:
                    values.pop(id(tensor), None)
        return {id(t): real(t) for t in wanted}


def run_entry(entry: Entry, args: Any, kwargs: Any) -> list[Any]:
    """The outputs of the real operation on real tensors, flat."""
    return [t for t in keras.tree.flatten(call_really(entry.op, args, kwargs, entry.whole)) if is_tensor(t)]


def call_really(op: Any, args: Any, kwargs: Any, whole: bool) -> Any:
    """The real operation, or layer under its own autocasting, on real tensors."""
    with code_of(op):
        return _called(op, args, kwargs, whole)


def _called(op: Any, args: Any, kwargs: Any, whole: bool) -> Any:
    if whole:
        with _autocast(op):
            quantized = getattr(op, "quantization_mode", None) is not None
            return (op.quantized_call if quantized else op.call)(*args, **kwargs)
    if type(op) is ConvTranspose:  # its own `call` takes padding and output padding for each other
        settings = {k: getattr(op, k) for k in ("strides", "padding", "output_padding", "data_format", "dilation_rate")}
        return backend.nn.conv_transpose(*args, **kwargs, **settings)
    try:
        return op.call(*args, **kwargs)
    except (TypeError, ValueError):  # some backends want settings as tuples, which symbolic calls keep as lists
        settings = {k: tuple(v) for k, v in vars(op).items() if isinstance(v, list) and not k.startswith("_")}
        if not settings:
            raise
        other = object.__new__(type(op))
        vars(other).update(vars(op) | settings)
        return other.call(*args, **kwargs)


@contextmanager
def _autocast(layer: Any) -> Iterator[None]:
    """The scope that ``Layer.__call__`` would open."""
    floating = "float" in str(getattr(layer, "compute_dtype", "")) and getattr(layer, "autocast", True)
    with AutocastScope(layer.compute_dtype if floating else None):
        yield


@contextmanager
def untouched_state(seeds: list[tuple[Any, Any]] | None = None) -> Iterator[None]:
    """No variable changes inside; `seeds` gives seed states (variable, value) other values."""
    with Apart(seeds), without_gradients():
        yield


@contextmanager
def without_gradients() -> Iterator[None]:
    if backend.backend() == "torch":
        import torch

        with torch.no_grad():
            yield
    else:
        yield


def runner(
    entry: Entry, items: list[Any], references: list[Any], wanted: list[int]
) -> Callable[..., list[Any] | None]:  # fmt: skip
    """Runs one operation on arrays, for `core.unknown.simulate`: constants keep their values."""
    keys = [id(item) for item in items]

    def run(arrays: list[Any]) -> list[Any] | None:
        given: dict[int, Any] = {}
        for item, reference, array in zip(items, references, arrays, strict=True):
            held = reference.array() if isinstance(reference, Constant) else None
            given[id(item)] = _tensor(array if held is None else held, item)

        def real(item: Any) -> Any:
            return given[id(item)] if id(item) in keys else item

        with untouched_state():
            made = run_entry(entry, mapped(real, entry.args), mapped(real, entry.kwargs))
        return [as_array(made[k]) for k in wanted]

    return run


def _tensor(array: Any, like: Any) -> Any:
    shape, dtype = tuple(like.shape), keras.backend.standardize_dtype(like.dtype)
    array = np.zeros(shape) if array is None else np.broadcast_to(np.asarray(array), shape)
    if dtype == "bool" and array.dtype != bool:
        array = array > array.mean()
    elif "int" in dtype and array.dtype.kind == "f":
        array = np.maximum(np.rint(array), 0)
    return backend.convert_to_tensor(array, dtype=dtype)
