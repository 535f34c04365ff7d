"""Names of the arrays in a structure: their paths, as users write them with dots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import jax
from jax import numpy as jnp
from jax import tree_util

ALONE = "params"
"""What a structure that is one array is called."""


def named_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[tuple[str, Any]]:
    """(name, leaf) in the order of the structure. Names are unique: where dots within keys would make two the same,
    both are written as JAX writes paths."""
    paths, _ = tree_util.tree_flatten_with_path(tree, is_leaf=is_leaf)
    short = [path_name(path) for path, _ in paths]
    counts = Counter(short)
    return [
        (name if counts[name] == 1 else tree_util.keystr(path), leaf)
        for name, (path, leaf) in zip(short, paths, strict=True)
    ]


def path_name(path: Iterable[Any]) -> str:
    return tree_util.keystr(tuple(path), simple=True, separator=".") or ALONE


def owner(name: str) -> str:
    """The module that a parameter belongs to: its name without the last part."""
    return name.rpartition(".")[0]


def modules_of(names: Iterable[str]) -> set[str]:
    """Every path that parameters lie below."""
    found: set[str] = set()
    for name in names:
        at = owner(name)
        while at and at not in found:
            found.add(at)
            at = owner(at)
    return found


def is_array(item: Any) -> bool:
    """An array of JAX or NumPy, or the shape of one."""
    return hasattr(item, "shape") and hasattr(item, "dtype") and not isinstance(item, type)


def is_key(item: Any) -> bool:
    return bool(jnp.issubdtype(item.dtype, jax.dtypes.prng_key))


def is_number(item: Any) -> bool:
    """Whether an array is of floating or complex numbers: what can be trained."""
    return bool(jnp.issubdtype(item.dtype, jnp.inexact))
