"""What the user gave as inputs (or what the model says of its own), as things to call the model with."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import keras
import numpy as np
from keras import KerasTensor
from numpy.typing import NDArray

from ...core.checks import brief, whole
from ...core.inputs import UNKNOWN_BATCH, Input, measured_input
from ...core.signal.signal import Signal
from ...errors import InputError
from .tape import flattened, mapped
from .variables import as_array, is_float

EXAMPLES = "an array, a shape such as (8, 32, 32, 3), autoinit.Input(...), or a tuple or dict of these"
UNKNOWN_SIZES = {2: 64, 3: 64, 4: 128, 5: 32}
"""Size taken for an axis without one, other than the batch, by the rank of the input."""
UNKNOWN_VOCABULARY = 256
"""Values of an integer input are below this, if nothing in the model says how many there are."""


@dataclass(eq=False)
class Leaf:
    """One input tensor: described, or the user's own data."""

    item: Input | NDArray[Any]
    dtype: str
    position: int = 0
    vocabulary: int | None = None
    """For inputs of integers: how many values there are, as far as it is known."""
    as_indices: bool = False
    """A floating input that turned out to hold indices."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.item.sizes if isinstance(self.item, Input) else tuple(self.item.shape)

    @property
    def is_signal(self) -> bool:
        return is_float(self.dtype) and not self.as_indices and self.vocabulary is None

    @property
    def is_guessed(self) -> bool:
        """Integers of which the user said neither values nor range."""
        described = isinstance(self.item, Input) and self.vocabulary is None
        return described and not self.is_signal and self.dtype not in ("bool", "string")

    def signal(self) -> Signal:
        if isinstance(self.item, Input):
            return self.item.signal()
        return measured_input(np.asarray(self.item, dtype=np.float64))

    def sample(self, rng: np.random.Generator, vocabulary: int | None) -> Any:
        """A tensor of the backend: the user's own, or values with the described statistics."""
        if not isinstance(self.item, Input):
            array: Any = self.item
        elif self.is_signal:
            array = self.item.sample(rng)
        else:
            array = rng.integers(0, self.vocabulary or vocabulary or UNKNOWN_VOCABULARY, self.shape)
        if self.dtype == "string":
            array = np.full(self.shape, "")
        return keras.ops.convert_to_tensor(array, dtype=self.dtype)


def call_arguments(model: Any, inputs: Any) -> tuple[list[Any], dict[str, Any], list[str]]:
    """Positional and keyword arguments with a `Leaf` for every tensor, and notes on sizes that were chosen."""
    own = own_inputs(model)
    if inputs is None:
        if own is None:
            raise InputError("the model does not say what its inputs are", where="inputs", received="None",
                             fix=f"give {EXAMPLES}")  # fmt: skip
        args, kwargs = own
    else:
        args, kwargs = _arranged(model, _leaves(_unnamed(_fit_whole(inputs), own), "inputs", own))
    leaves = [leaf for leaf in flattened((args, kwargs)) if isinstance(leaf, Leaf)]
    notes: list[str] = []
    for position, leaf in enumerate(leaves):
        leaf.position = position
        notes += with_sizes(leaf)
    return args, kwargs, notes


def _fit_whole(inputs: Any) -> Any:
    """What people give by mistake is refused, with what they may have meant."""
    size = whole(inputs) if not hasattr(inputs, "shape") else None
    if size is not None and size > 0:
        raise InputError("a shape has the batch axis, too, and is written as a tuple", where="inputs",
                         received=brief(inputs), fix=f"(batch, {size}), for example (64, {size})")  # fmt: skip
    if isinstance(inputs, (bool, int, float, complex, str, bytes)):
        raise InputError("this cannot be an input", where="inputs", received=brief(inputs), fix=f"give {EXAMPLES}")
    if isinstance(inputs, (tuple, list)) and _numbers_alone(inputs):
        raise InputError("numbers in lists are no tensor", where="inputs", received=brief(inputs),
                         fix="np.array(..., 'float32'), or a shape (batch, features)")  # fmt: skip
    return inputs


def _numbers_alone(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return bool(value) and not _is_shape(value) and all(_numbers_alone(v) for v in value)
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _unnamed(inputs: Any, own: Any) -> Any:
    """A named tuple as what the model takes: a dict if its inputs have these names, else a tuple."""
    names = getattr(type(inputs), "_fields", None)
    if names is None:
        return inputs
    return dict(zip(names, inputs, strict=True)) if set(names) == set(_own_names(own)) else tuple(inputs)


def own_inputs(model: Any) -> tuple[list[Any], dict[str, Any]] | None:
    """The inputs that the model was made or built with."""
    functional = getattr(model, "_functional", None) or model
    struct = getattr(functional, "_inputs_struct", None)
    if struct is not None:
        return [keras.tree.map_structure(_own_leaf, struct)], {}
    shapes = getattr(model, "_build_shapes_dict", None)
    if not shapes or not model.built:
        return None
    if len(shapes) == 1:
        return [_by_shape(next(iter(shapes.values())))], {}
    return [], {name.removesuffix("_shape"): _by_shape(shape) for name, shape in shapes.items() if shape is not None}


def own_inputs_of_batch(model: Any, batch: int) -> Any:
    """The model's own inputs with a batch of this size, as a user would give them; None if they are not known."""
    own = own_inputs(model)
    if own is None:
        return None
    args, kwargs = own
    described = mapped(lambda leaf: Input((leaf.item.shape[0] or batch, *leaf.item.shape[1:])), (args, kwargs))
    return described[1] if kwargs else described[0][0]


def _own_leaf(tensor: Any) -> Leaf:
    return Leaf(Input(tuple(tensor.shape)), keras.backend.standardize_dtype(tensor.dtype))


def _by_shape(shape: Any) -> Any:
    if _is_shape(shape):
        return Leaf(Input(tuple(shape)), keras.backend.floatx())
    if isinstance(shape, Mapping):
        return {k: _by_shape(v) for k, v in shape.items()}
    return [_by_shape(s) for s in shape]


def _is_shape(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) > 0
        and all(n is None or (isinstance(n, (int, np.integer)) and not isinstance(n, bool)) for n in value)
    )


def _leaves(value: Any, where: str, own: Any) -> Any:
    """The user's structure with a `Leaf` in place of every array, shape or description."""
    declared = [leaf.dtype for leaf in flattened(own)] if own is not None else []
    names = _own_names(own)
    count = [0]

    def dtype_at(key: Any) -> str | None:
        found = names.get(key) or (declared[count[0]] if count[0] < len(declared) else None)
        count[0] += 1
        return found

    def one(value: Any, where: str, key: Any = None) -> Any:
        if isinstance(value, Input):
            declared_dtype = dtype_at(key)
            return Leaf(value, _described_dtype(value, declared_dtype, where), vocabulary=value.integers)
        if _is_shape(value):
            return Leaf(Input(tuple(value)), dtype_at(key) or keras.backend.floatx())
        if isinstance(value, KerasTensor):
            dtype_at(key)
            return Leaf(Input(tuple(value.shape)), value.dtype)
        if hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, type):
            return _data(value, dtype_at(key), where)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, (tuple, list)):
            items = [one(v, f"{where}[{k}]") for k, v in enumerate(value)]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, Mapping):
            return {k: one(v, f"{where}[{k!r}]", k) for k, v in value.items()}
        fix = f"give {EXAMPLES}"
        if isinstance(value, Iterator) or hasattr(value, "__getitem__") or hasattr(value, "__iter__"):  # a data set
            fix = "give one batch of it, such as next(iter(data))[0], or a shape"
        raise InputError("this cannot be an input", where=where, received=type(value).__name__, fix=fix)

    return one(value, where)


def _own_names(own: Any) -> dict[str, str]:
    if own is None or not own[0] or not isinstance(own[0][0], Mapping):
        return {}
    return {k: v.dtype for k, v in own[0][0].items() if isinstance(v, Leaf)}


def _described_dtype(item: Input, declared: str | None, where: str) -> str:
    if item.dtype is None:
        if item.integers is not None and (declared is None or not is_float(declared)):
            return declared or "int32"
        return declared or keras.backend.floatx()
    try:
        return str(keras.backend.standardize_dtype(item.dtype))
    except (ValueError, TypeError):
        raise InputError(
            "unknown dtype", where=where, received=repr(item.dtype), fix="dtype='float32' or 'int32'"
        ) from None


def _data(value: Any, declared: str | None, where: str) -> Leaf:
    array = as_array(value)
    if not array.size:
        raise InputError("there is nothing in this batch", where=where, received=f"shape {array.shape}",
                         fix="a batch with at least one sample, or a shape")  # fmt: skip
    try:
        dtype = keras.backend.standardize_dtype(array.dtype if array.dtype.kind not in "US" else "string")
    except (ValueError, TypeError):
        raise InputError("an array of this kind is no tensor", where=where, received=f"dtype {array.dtype}",
                         fix="an array of numbers: array.astype('float32')") from None  # fmt: skip
    if dtype == "float64" and is_float(declared or "float32"):
        dtype = declared or keras.backend.floatx()
    elif dtype == "int64" and declared is not None:
        dtype = declared
    return Leaf(array, dtype)


def _arranged(model: Any, value: Any) -> tuple[list[Any], dict[str, Any]]:
    """A tuple is one argument per entry if the model's `call` takes several, a dict keywords if it names them."""
    names = [] if getattr(model, "_inputs_struct", None) is not None else _positional(model)
    if isinstance(value, Mapping) and value and len(names) > 1 and set(value) <= set(_all_names(model)):
        return [], dict(value)
    if isinstance(value, (tuple, list)) and len(names) > 1 and len(value) <= len(_all_names(model)):
        return list(value), {}
    return [value], {}


def _positional(model: Any) -> list[str]:
    """Arguments of `call` that have to be given."""
    parameters = inspect.signature(model.call).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]


def _all_names(model: Any) -> list[str]:
    return list(inspect.signature(model.call).parameters)


def with_sizes(leaf: Leaf) -> list[str]:
    """Fill in sizes that are not given, and say so."""
    if not isinstance(leaf.item, Input) or None not in leaf.item.shape:
        return []
    shape = list(leaf.item.shape)
    chosen = UNKNOWN_SIZES.get(len(shape), UNKNOWN_BATCH)
    notes = []
    for axis, size in enumerate(shape):
        if size is None:
            shape[axis] = UNKNOWN_BATCH if axis == 0 else chosen
            if axis:
                notes.append(f"inputs[{leaf.position}]: axis {axis} has no fixed size, {chosen} is taken")
    leaf.item = replace(leaf.item, shape=tuple(shape))
    return notes


def symbolic(structure: Any, batch: bool = True) -> Any:
    """The structure with a fresh KerasTensor in place of every leaf; without batch: its first axis unknown."""

    def tensor(leaf: Any) -> Any:
        if not isinstance(leaf, Leaf):
            return leaf
        shape = leaf.shape if batch else (None, *leaf.shape[1:])
        return KerasTensor(shape, dtype=leaf.dtype)

    return mapped(tensor, structure)
