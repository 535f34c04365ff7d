"""Global random numbers, for one thread out of generators of its own.

A forward may call ``random.random()`` or ``np.random.rand()``. While a thread looks at a model these names lead to
generators of its own, so that the global ones do not move. They are not saved and rewound: another thread that draws
meanwhile would see its numbers repeated. For every other thread the names do what they always did.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import BuiltinMethodType, MethodType
from typing import Any

import numpy as np

from ..core.lazy import lazy
from .lock import WALKING

Names = dict[str, Any]
Function = Callable[..., Any]


class Sources:
    """What one thread draws from. `others`: functions in place of others, which are named by their id."""

    def __init__(self, seed: int, others: dict[int, Function]) -> None:
        self._seed, self.others = seed, others

    @lazy
    def python(self) -> random.Random:
        return random.Random(self._seed)

    @lazy
    def numpy(self) -> np.random.RandomState:
        return np.random.RandomState(self._seed % 2**32)


class _Current(threading.local):
    sources: Sources | None = None


class Redirected:
    """A global function, or for a thread with sources of its own the function of these."""

    def __init__(self, original: Function, own: Callable[[Sources], Function]) -> None:
        self.original, self.own = original, own

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        sources = _current.sources
        return (self.original if sources is None else self.own(sources))(*args, **kwargs)


_current = _Current()
_patched: dict[int, tuple[Names, int]] = {}
"""Namespaces whose functions are replaced, by identity, and for how many threads."""


@contextmanager
def private_random(
    seed: int, namespaces: Iterable[Names] = (), others: Mapping[Function, Function] | None = None
) -> Iterator[None]:
    """Draw from generators of one's own: under the names of `random` and `numpy.random`, and under those that the
    `namespaces` have for them (``from random import uniform``). `others` are functions of a framework's own."""
    before = _current.sources
    own = {id(original): function for original, function in (others or {}).items()}
    opened: list[Names] = []
    try:
        _current.sources = Sources(seed, own)
        table = {**replacements(), **{id(f): Redirected(f, _other(f)) for f in others or ()}}
        for names in (vars(random), vars(np.random), *namespaces):
            opened.append(names)
            _open(names, table)
        yield
    finally:
        for names in opened:
            _close(names)
        _current.sources = before


def _open(names: Names, table: Mapping[Any, Redirected]) -> None:
    with WALKING:
        _, count = _patched.get(id(names), (names, 0))
        _patched[id(names)] = (names, count + 1)
        if count:
            return
        found = {
            name: table.get(_key(v))
            for name, v in list(names.items())
            if id(v) in table or (type(v) in _BOUND and (v.__self__ is _PYTHON or v.__self__ is _NUMPY))
        }
        names.update({name: made for name, made in found.items() if made is not None})


def _close(names: Names) -> None:
    with WALKING:
        _, count = _patched.get(id(names), (names, 0))
        if count > 1:
            _patched[id(names)] = (names, count - 1)
            return
        _patched.pop(id(names), None)
        names.update({k: v.original for k, v in list(names.items()) if type(v) is Redirected})


def original_of(function: Function) -> Function:
    """What a name stood for before it was redirected."""
    return function.original if isinstance(function, Redirected) else function


def _key(value: Any) -> Any:
    """Bound methods are told apart by what they are bound to and their name."""
    owner = value.__self__ if type(value) in _BOUND else None
    return (id(owner), value.__name__) if owner is not None and (owner is _PYTHON or owner is _NUMPY) else id(value)


def _other(function: Function) -> Callable[[Sources], Function]:
    return lambda sources: sources.others.get(id(function), function)


def _method(source: str, name: str) -> Callable[[Sources], Function]:
    return lambda sources: getattr(getattr(sources, source), name)


_BOUND = (MethodType, BuiltinMethodType)
_PYTHON: Any = random._inst
_NUMPY: Any = np.random.mtrand._rand


@cache
def replacements() -> dict[Any, Redirected]:
    """Every function of `random` and `numpy.random` that draws from the global generator or sets it."""
    found: dict[Any, Redirected] = {}
    for name, value in list(vars(random).items()):
        if getattr(value, "__self__", None) is _PYTHON:
            found[_key(value)] = Redirected(value, _method("python", name))
    for name, value in list(vars(np.random).items()):
        method = {"sample": "random_sample", "ranf": "random_sample"}.get(name, name)
        if callable(value) and not isinstance(value, type) and hasattr(np.random.RandomState, method):
            found[_key(value)] = Redirected(value, _method("numpy", method))
    return found
