"""Shape and dtype of what an operation makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras import KerasTensor
from keras.src import backend


def output_spec(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """As the operation itself says, or else as its backend finds when it traces the operation alone."""
    corrected = CORRECTED.get(type(op).__name__)
    if corrected is not None:
        return corrected(op, *args, **kwargs)
    try:
        return op.compute_output_spec(*_understood(op, args), **kwargs)
    except Exception as error:
        try:
            return backend.compute_output_spec(op.call, *args, **kwargs)
        except Exception:
            raise error from None


def _attended(op: Any, query: Any, key: Any, value: Any, *rest: Any, **others: Any) -> KerasTensor:
    """The width is that of the values, not of the query."""
    return KerasTensor((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)


def _pooled(op: Any, inputs: Any) -> KerasTensor:
    """The spatial axes are those between (or behind) batch and channels, whatever their number."""
    n = len(inputs.shape) - 2
    sizes = (op.output_size,) * n if isinstance(op.output_size, int) else tuple(op.output_size)
    first = backend.standardize_data_format(op.data_format) == "channels_first"
    batch, channels = inputs.shape[0], inputs.shape[1 if first else -1]
    return KerasTensor((batch, channels, *sizes) if first else (batch, *sizes, channels), dtype=inputs.dtype)


def _gated(op: Any, x: Any) -> KerasTensor:
    """Half of the axis (early versions of Keras say: all of it)."""
    shape = list(x.shape)
    shape[op.axis] //= 2
    return KerasTensor(tuple(shape), dtype=x.dtype)


def _traced(op: Any, *args: Any, **kwargs: Any) -> Any:
    """As the backend finds (early versions of Keras are wrong about these)."""
    return backend.compute_output_spec(op.call, *args, **kwargs)


CORRECTED: dict[str, Callable[..., Any]] = {
    "DotProductAttention": _attended, "AdaptiveAveragePool": _pooled, "AdaptiveMaxPool": _pooled, "Glu": _gated,
    "Inner": _traced, "Cross": _traced,
}  # fmt: skip
"""Operations whose own answer is not what they make."""


def _understood(op: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments as the operation's own account of shapes knows them: convolutions without groups, cuts as tuples."""
    name = type(op).__name__
    if name == "GetItem" and len(args) == 2 and (args[1] is None or args[1] is Ellipsis or isinstance(args[1], slice)):
        return (args[0], (args[1],))
    if name != "Conv" or len(args) < 2:
        return args
    x, kernel = args[0], args[1]
    channels = x.shape[1 if backend.standardize_data_format(op.data_format) == "channels_first" else -1]
    if kernel.shape[-2] == channels or channels % kernel.shape[-2]:
        return args
    return (x, KerasTensor((*kernel.shape[:-2], channels, kernel.shape[-1]), dtype=kernel.dtype), *args[2:])
