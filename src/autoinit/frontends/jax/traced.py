"""Drawing under `jit`: an operation that is split as its result is, so that every device draws its own shard.

Random numbers of our own are made by NumPy, so a compiled program calls back to the host. An ordinary callback is run
once, for the whole array; here each device calls back for the rectangle that it holds: `custom_partitioning` splits
the operation, and index arrays that are split in the same way (one per axis) tell where a shard begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax.experimental.custom_partitioning import custom_partitioning
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jax.sharding import NamedSharding, PartitionSpec
from numpy.typing import NDArray

Host = Callable[[NDArray[np.uint32], Sequence[int], Sequence[int], NDArray[Any] | None], NDArray[Any]]
"""host(words of the key, where the rectangle begins, its shape, what is there now): the values of the rectangle."""

_LETTERS = "abcdefghijklmnopqr"
_PLATFORMS = {"cpu": "cpu", "cuda": "gpu", "rocm": "gpu"}
"""Where callbacks of split programs are known: platform -> the name in the target of the call."""

shard_p = Primitive("autoinit_shard")


def drawn(words: Any, shape: Sequence[int], dtype: Any, host: Host, present: Any = None) -> jax.Array:
    """An array whose values `host` knows, from the words of a key that may be traced."""
    if not shape:
        return _whole(words, (), np.dtype(dtype), host, present)
    operands = (words,) if present is None else (words, present)
    made: jax.Array = shard_p.bind(*operands, shape=tuple(shape), dtype=np.dtype(dtype), host=host)
    return made


def _whole(words: Any, shape: tuple[int, ...], dtype: Any, host: Host, present: Any) -> jax.Array:
    """By an ordinary callback."""

    def call(words: Any, *present: Any) -> NDArray[Any]:
        there = np.asarray(present[0]) if present else None
        return host(np.asarray(words), [0] * len(shape), shape, there)

    operands = (words,) if present is None else (words, present)
    made: jax.Array = jax.pure_callback(call, jax.ShapeDtypeStruct(shape, dtype), *operands, vmap_method="sequential")
    return made


@shard_p.def_abstract_eval  # type: ignore[untyped-decorator]
def _abstract(words: Any, *present: Any, shape: tuple[int, ...], dtype: Any, host: Host) -> Any:
    return jax.core.ShapedArray(shape, dtype)


@shard_p.def_impl  # type: ignore[untyped-decorator]
def _run(words: Any, *present: Any, shape: tuple[int, ...], dtype: Any, host: Host) -> jax.Array:
    there = np.asarray(present[0]) if present else None
    return jnp.asarray(host(np.asarray(words), [0] * len(shape), shape, there))


def _batched(operands: Sequence[Any], axes: Sequence[Any], **params: Any) -> tuple[Any, int]:
    """One after the other."""
    size = next(x.shape[a] for x, a in zip(operands, axes, strict=True) if a is not None)
    rows = [
        jnp.broadcast_to(x, (size, *x.shape)) if a is None else jnp.moveaxis(x, a, 0)
        for x, a in zip(operands, axes, strict=True)
    ]
    return jax.lax.map(lambda row: shard_p.bind(*row, **params), tuple(rows)), 0


def _lowered(ctx: Any, *operands: Any, shape: tuple[int, ...], dtype: Any, host: Host) -> Any:
    platforms = ctx.module_context.platforms
    if len(platforms) > 1 or platforms[0] not in _PLATFORMS:
        whole = partial(_ordinary, shape=shape, dtype=dtype, host=host)
        return mlir.lower_fun(whole, multiple_results=False)(ctx, *operands)
    rank = len(shape)

    def called(words: Any, *rest: Any) -> tuple[NDArray[Any]]:
        places, there = [np.asarray(place) for place in rest[:rank]], rest[rank:]
        low, size = [int(place[0]) for place in places], [len(place) for place in places]
        return (np.asarray(host(np.asarray(words), low, size, np.asarray(there[0]) if there else None)),)

    ctx.module_context.add_host_callback(called)
    index = np.uint64(len(ctx.module_context.host_callbacks) - 1)
    target = f"xla_ffi_python_{_PLATFORMS[platforms[0]]}_callback"

    def local(words: Any, *rest: Any) -> Any:
        made = jax.ShapeDtypeStruct(tuple(place.shape[0] for place in rest[:rank]), dtype)
        return jax.ffi.ffi_call(target, made)(words, *rest, index=index)

    split = custom_partitioning(local)
    split.def_partition(
        partition=partial(_split, local, rank), infer_sharding_from_operands=_nowhere,
        sharding_rule=_rule(rank, len(operands) > 1), need_replication_factors=("z",),
    )  # fmt: skip

    def placed(words: Any, *there: Any) -> Any:
        return split(words, *(jnp.arange(n, dtype=jnp.int32) for n in shape), *there)

    return mlir.lower_fun(placed, multiple_results=False)(ctx, *operands)


def _ordinary(words: Any, *present: Any, shape: tuple[int, ...], dtype: Any, host: Host) -> Any:
    return _whole(words, shape, dtype, host, present[0] if present else None)


def _rule(rank: int, present: bool) -> str:
    """The words are the same everywhere; each place, and what is there, is split as the result is."""
    axes = " ".join(_LETTERS[:rank])
    return ", ".join(["z", *_LETTERS[:rank], *([axes] if present else [])]) + f" -> {axes}"


def _split(local: Callable[..., Any], rank: int, mesh: Any, arguments: Any, result: Any) -> Any:
    spec = (*result.sharding.spec, *(None,) * (rank - len(result.sharding.spec)))
    whole = NamedSharding(mesh, PartitionSpec(*spec))
    places = [NamedSharding(mesh, PartitionSpec(axis)) for axis in spec]
    there = [whole] * (len(arguments) - 1 - rank)
    return mesh, local, whole, (NamedSharding(mesh, PartitionSpec()), *places, *there)


def _nowhere(mesh: Any, arguments: Any, result: Any) -> Any:
    """What goes in does not say how the result is split."""
    return NamedSharding(mesh, PartitionSpec())


def _register() -> None:
    """Where JAX has changed what this rests on, programs draw by ordinary callbacks: the same bits, whole arrays."""
    try:
        from jax._src import dispatch

        dispatch.prim_requires_devices_during_lowering.add(shard_p)
        mlir.register_lowering(shard_p, _lowered, cacheable=False)
    except (ImportError, AttributeError, TypeError):
        mlir.register_lowering(shard_p, mlir.lower_fun(_ordinary, multiple_results=False))


batching.primitive_batchers[shard_p] = _batched
_register()
