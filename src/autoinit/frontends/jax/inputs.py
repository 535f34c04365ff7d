"""What the user gave as inputs: for every array of the structure what flows in, and what a run is fed with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from numpy.typing import NDArray

from ...core.checks import brief, whole
from ...core.inputs import Input, measured_input
from ...core.signal.measured import from_array
from ...core.signal.samples import complex_sample
from ...core.signal.signal import Signal
from ...errors import InputError
from .tape import abstract

EXAMPLES = "an array, a shape such as (8, 32, 32, 3), autoinit.Input(...), or a tuple or dict of these"
UNKNOWN_VOCABULARY = 256
"""Values of an integer input are below this, if nothing says how many there are."""


@dataclass(frozen=True, slots=True)
class Given:
    """One input array: described, or the user's own."""

    item: Input | NDArray[Any] | Any
    dtype: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return self.item.sizes if isinstance(self.item, Input) else tuple(np.shape(self.item))

    @property
    def is_key(self) -> bool:
        """Whether this is a key for random numbers, which is chance."""
        return bool(jnp.issubdtype(self.dtype, jax.dtypes.prng_key))

    @property
    def is_signal(self) -> bool:
        return bool(jnp.issubdtype(self.dtype, np.inexact))

    @property
    def is_guessed(self) -> bool:
        """Integers of which the user said neither values nor range."""
        return isinstance(self.item, Input) and not self.is_signal and self.item.integers is None

    @property
    def abstract(self) -> Any:
        return abstract(self.shape, self.dtype)

    def signal(self) -> Signal:
        if isinstance(self.item, Input):
            return self.item.signal()
        if np.iscomplexobj(self.item):
            return from_array(self.item)
        return measured_input(np.asarray(self.item, np.float64))

    def sample(self, rng: np.random.Generator) -> Any:
        """Values to run the model on; the user's own data as they are."""
        if not isinstance(self.item, Input):
            return self.item
        if not self.is_signal and self.item.integers is None:
            high = 2 if np.dtype(self.dtype) == np.bool_ else UNKNOWN_VOCABULARY
            return rng.integers(0, high, self.item.sizes).astype(self.dtype)
        if jnp.issubdtype(self.dtype, np.complexfloating):
            return complex_sample(self.item.signal(), rng).astype(self.dtype)
        return self.item.sample(rng).astype(self.dtype)


def given_inputs(inputs: Any) -> tuple[list[Given], Any, list[Any]]:
    """(arrays, the structure, all leaves): a leaf that is no array is passed to the model as it is."""
    _refuse_whole(inputs)
    leaves, structure = jax.tree_util.tree_flatten(inputs, is_leaf=_is_leaf)
    read = [_one(leaf) for leaf in leaves]
    return [item for item in read if isinstance(item, Given)], structure, read


def with_arrays(structure: Any, leaves: list[Any], arrays: Any) -> Any:
    """The structure of inputs with these arrays in it."""
    waiting = iter(arrays)
    filled = [next(waiting) if isinstance(leaf, Given) else leaf for leaf in leaves]
    return jax.tree_util.tree_unflatten(structure, filled)


def _is_leaf(item: Any) -> bool:
    return isinstance(item, Input) or is_shape(item)


def is_shape(item: Any) -> bool:
    return (
        isinstance(item, (tuple, list)) and len(item) > 0
        and all(n is None or (isinstance(n, (int, np.integer)) and not isinstance(n, bool)) for n in item)
    )  # fmt: skip


def _refuse_whole(inputs: Any) -> None:
    """What people give by mistake, with what they may have meant."""
    size = whole(inputs) if not hasattr(inputs, "shape") else None
    why, fix = "models of JAX do not know their inputs", f"give {EXAMPLES}"
    if size is not None:
        why = "a shape has the batch axis, too, and is written as a tuple"
        fix = f"(batch, {size}), for example (64, {size})" if size > 0 else fix
    elif not (inputs is None or isinstance(inputs, (bool, float, complex, str, bytes, bytearray))):
        return
    raise InputError(why, where="inputs", received=brief(inputs), fix=fix)


def _one(item: Any) -> Any:
    if isinstance(item, Input):
        return Given(item, _dtype(item))
    if is_shape(item):
        described = Input(tuple(item))
        return Given(described, _dtype(described))
    if isinstance(item, jax.ShapeDtypeStruct):
        return Given(Input(item.shape, dtype=str(item.dtype)), item.dtype)
    if hasattr(item, "shape") and hasattr(item, "dtype") and not isinstance(item, type):
        return _data(item)
    if item is None or isinstance(item, (bool, int, float, str)):
        return item
    fix = f"give {EXAMPLES}"
    if isinstance(item, Mapping) or hasattr(item, "__iter__") or hasattr(item, "__getitem__"):
        fix = "give one batch of it, such as next(iter(data))[0], or a shape"
    raise InputError("this cannot be an input", where="inputs", received=type(item).__name__, fix=fix)


def _dtype(item: Input) -> Any:
    if item.dtype is None:
        return jax.dtypes.canonicalize_dtype(np.int32 if item.integers is not None else np.float32)
    try:
        return jax.dtypes.canonicalize_dtype(jnp.dtype(item.dtype))
    except TypeError:
        raise InputError("unknown dtype", where="inputs", received=repr(item.dtype),
                         fix="dtype='float32' or 'int32'") from None  # fmt: skip


def _data(item: Any) -> Given:
    if 0 in tuple(item.shape):
        raise InputError("there is nothing in this batch", where="inputs", received=f"shape {tuple(item.shape)}",
                         fix="a batch with at least one sample, or a shape")  # fmt: skip
    if jnp.issubdtype(item.dtype, jax.dtypes.prng_key):
        return Given(item, item.dtype)
    array = np.asarray(item)
    try:
        return Given(array, jax.dtypes.canonicalize_dtype(array.dtype))
    except TypeError:
        raise InputError("an array of this kind is none of JAX", where="inputs", received=f"dtype {array.dtype}",
                         fix="an array of numbers: array.astype('float32')") from None  # fmt: skip
