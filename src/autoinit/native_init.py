"""What `init` functions of JAX's libraries have in common when AutoInit takes their place: keys, examples, tracing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from .api import plan
from .core.inputs import UNKNOWN_BATCH, Input
from .core.options import GivenOptions, read_options
from .errors import OptionError
from .frontends.jax.abstract import Made, made
from .frontends.jax.adapters import adapted
from .frontends.jax.born import fill, fill_traced
from .frontends.jax.names import is_array
from .frontends.jax.seeds import seed_of, words_of
from .frontends.parameters_given import WithParameters

Make = Callable[[Any, Any, Any], Any]
"""make(keys, args, kwargs): the parameters, by the library's own `init`."""


def initialized(
    model: Any, make: Make, keys: Any, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], options: GivenOptions
) -> Any:
    """The structure that `make` makes, with planned weights; `key` seeds them."""
    leaves, structure = jax.tree_util.tree_flatten((args, kwargs), is_leaf=lambda x: isinstance(x, Input))
    known = _made(make, keys, leaves, structure)
    described = jax.tree_util.tree_unflatten(structure, _described(make, keys, leaves, structure, known))
    inputs = (*described[0], dict(described[1])) if described[1] else tuple(described[0])
    bound, words = WithParameters(model, known), words_of(key)
    if isinstance(words, jax.core.Tracer):
        if read_options(options).calibrate:
            raise OptionError("calibration is for the draw of one seed, and a traced key has none",
                              where="option 'calibrate'", received="a key under jit",
                              fix="call init outside of jit, or leave calibrate out")  # fmt: skip
        return fill_traced(adapted(bound), plan(bound, inputs, **options), words)
    seed = seed_of(words)
    seeded: GivenOptions = {**options, "seed": seed}
    found = plan(bound, inputs, **seeded)
    return fill(adapted(bound), found, seed, lambda name, shape: None)


def _made(make: Make, keys: Any, leaves: list[Any], structure: Any) -> Made:
    """What the constructor makes of arrays (examples of described ones)."""
    examples = [_example(x) for x in leaves]
    arrays = [x for x in examples if is_array(x)]

    def function(keys: Any, arrays: Any) -> Any:
        waiting = iter(arrays)
        args, kwargs = jax.tree_util.tree_unflatten(structure, [next(waiting) if is_array(x) else x for x in examples])
        return make(keys, args, kwargs)

    return made(function, keys, arrays, real=lambda: (keys, [_real(x) for x in arrays]))


def _example(item: Any) -> Any:
    """An array, or the shape of what is described."""
    if isinstance(item, Input):
        kind = item.dtype or ("int32" if item.integers is not None else "float32")
        return jax.ShapeDtypeStruct(item.sizes, jax.numpy.dtype(kind))
    return item


def _real(item: Any) -> Any:
    return jax.numpy.zeros(item.shape, item.dtype) if isinstance(item, jax.ShapeDtypeStruct) else item


def _described(make: Make, keys: Any, leaves: list[Any], structure: Any, known: Made) -> list[Any]:
    """What the plan is made for: shapes in place of arrays; a batch of one example stands for any batch, if the
    parameters are the same for a larger one."""
    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) if is_array(x) else x for x in leaves]
    batches = {x.shape[0] for x in shapes if is_array(x) and x.shape}
    if batches != {1} or any(isinstance(x, Input) for x in leaves):
        return shapes
    wide = [
        jax.ShapeDtypeStruct((UNKNOWN_BATCH, *x.shape[1:]), x.dtype) if is_array(x) and x.shape else x for x in shapes
    ]
    try:
        larger = _made(make, keys, wide, structure).tree
    except Exception:  # the first axis is no batch
        return shapes
    return wide if _shapes(larger) == _shapes(known.tree) else shapes


def _shapes(tree: Any) -> list[tuple[int, ...]]:
    return [leaf.shape for leaf in jax.tree_util.tree_leaves(tree)]
