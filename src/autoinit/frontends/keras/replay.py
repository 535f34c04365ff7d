"""Running the tape again on real arrays: for measuring, for samples of constants, for simulating one operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras
import numpy as np
from keras import KerasTensor
from keras.src import backend
from keras.src.backend.common.variables import AutocastScope
from numpy.typing import NDArray

from ...core.graph import Constant
from .tape import Entry, Tape, flattened, mapped
from .variables import as_array


class Replay:
    """Runs entries of a tape. `sample_input(position)` gives the real input for a position."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.sample_input: Callable[[int], Any] | None = None
        self._samples: dict[int, NDArray[Any] | None] = {}

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
        with untouched_state():
            values = self.run(self.tape.ancestors(tensor), self.sample_input, [tensor])
        return as_array(values[id(tensor)])

    def run(
        self, entries: list[Entry], inputs: Callable[[int], Any], wanted: list[Any],
        observe: Callable[[Entry, list[Any]], None] | None = None,
    ) -> dict[int, Any]:  # fmt: skip
        """Run `entries` in order and return the values of the `wanted` tensors by id; others are freed after use."""
        uses = Counter(id(t) for entry in entries for t in entry.tensors())
        for tensor in wanted:
            uses[id(tensor)] += 1
        values: dict[int, Any] = {}

        def real(item: Any) -> Any:
            if not isinstance(item, KerasTensor):
                return item
            if id(item) in values:
                return values[id(item)]
            if id(item) in self.tape.leaves:
                return self.tape.leaves[id(item)].value
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
    """The real operation (or layer, under its own autocasting) on real tensors; its outputs, flat."""
    op = entry.op
    if entry.whole:
        with _autocast(op):
            quantized = getattr(op, "quantization_mode", None) is not None
            made = (op.quantized_call if quantized else op.call)(*args, **kwargs)
    elif type(op).__name__ == "ConvTranspose":  # its `call` exchanges padding and output padding
        made = backend.nn.conv_transpose(
            *args, **kwargs, strides=op.strides, padding=op.padding, output_padding=op.output_padding,
            data_format=op.data_format, dilation_rate=op.dilation_rate,
        )  # fmt: skip
    else:
        made = op.call(*args, **kwargs)
    return [t for t in keras.tree.flatten(made) if hasattr(t, "shape")]


@contextmanager
def _autocast(layer: Any) -> Iterator[None]:
    """The scope that ``Layer.__call__`` would open."""
    floating = "float" in str(getattr(layer, "compute_dtype", "")) and getattr(layer, "autocast", True)
    with AutocastScope(layer.compute_dtype if floating else None):
        yield


@contextmanager
def untouched_state(seeds: list[tuple[Any, Any]] | None = None) -> Iterator[None]:
    """No variable changes inside; `seeds` gives seed states (variable, value) other values."""
    with backend.StatelessScope(state_mapping=seeds or [], initialize_variables=False), without_gradients():
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
    array = np.zeros(shape) if array is None else np.asarray(array)
    if dtype == "bool" and array.dtype != bool:
        array = array > array.mean()
    elif "int" in dtype and array.dtype.kind == "f":
        array = np.maximum(np.rint(array), 0)
    return backend.convert_to_tensor(array, dtype=dtype)


def real_leaves(structure: Any) -> list[Any]:
    """The tensors of a structure of real outputs."""
    return [t for t in flattened(structure) if hasattr(t, "shape")]
