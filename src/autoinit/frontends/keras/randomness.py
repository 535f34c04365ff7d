"""Random numbers while a model is looked at: afterwards NumPy's, Python's, the backend's go on as if nothing were.

A generator that all threads share must not be wound back: a thread that draws meanwhile would get its numbers twice. So
the functions of `random` and `numpy.random` draw from a copy while they are called in the thread that walks, and from
the original in all others. Where nobody can step in (functions that were imported by name, the backend's own), the
generator is wound back if it was used and no other thread is there that could have used it.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..carried_out import carried_out

OWN = threading.local()
"""In the thread that walks: copies of the generators, `python` and `numpy`."""


class Randomness:
    """Context in which the shared generators of random numbers are not used by this thread."""

    def __enter__(self) -> Randomness:
        self._outer = getattr(OWN, "numpy", None), getattr(OWN, "python", None)
        self._undo: list[tuple[Any, str, Any]] = []
        self._alone = threading.active_count() == 1
        self._states = [(get(), get, put) for get, put in _shared()]
        try:
            OWN.numpy = np.random.RandomState()
            OWN.numpy.set_state(np.random.mtrand._rand.get_state(legacy=False))
            OWN.python = random.Random()
            OWN.python.setstate(_PYTHON.getstate())
            for module, name, original, replacement in _functions():
                self._undo.append((module, name, original))
                setattr(module, name, replacement)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        carried_out(self._put_back)

    def _put_back(self) -> None:
        for module, name, original in self._undo:
            setattr(module, name, original)
        OWN.numpy, OWN.python = self._outer
        if self._alone and threading.active_count() == 1:
            for state, get, put in self._states:
                if not _same(get(), state):
                    put(state)


_PYTHON: random.Random = random._inst
_REDIRECTED: list[tuple[Any, str, Any, Any]] = []


def _functions() -> list[tuple[Any, str, Any, Any]]:
    """(module, name, function, one that draws from this thread's copy) for all methods of the shared generators."""
    if not _REDIRECTED:
        for module, shared, which in ((np.random, np.random.mtrand._rand, "numpy"), (random, _PYTHON, "python")):
            for name, function in list(vars(module).items()):
                if getattr(function, "__self__", None) is shared:
                    _REDIRECTED.append((module, name, function, _redirected(function, which)))
    return _REDIRECTED


def _redirected(function: Callable[..., Any], which: str) -> Callable[..., Any]:
    name = function.__name__

    @wraps(function)
    def drawn(*args: Any, **kwargs: Any) -> Any:
        own = getattr(OWN, which, None)
        return (function if own is None else getattr(own, name))(*args, **kwargs)

    return drawn


def _shared() -> list[tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """How the state of every shared generator is read and set."""
    numpy = np.random.mtrand._rand
    found: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [
        (lambda: numpy.get_state(legacy=False), numpy.set_state),
        (_PYTHON.getstate, _PYTHON.setstate),
    ]
    torch = sys.modules.get("torch")
    if torch is not None:
        found.append((torch.get_rng_state, torch.set_rng_state))
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            found.append((torch.cuda.get_rng_state_all, torch.cuda.set_rng_state_all))
    if "tensorflow" in sys.modules:
        rng = getattr(sys.modules["tensorflow.python.eager.context"].context(), "_rng", None)
        if rng is not None:  # there is one after tf.random.set_seed
            found.append((rng.getstate, rng.setstate))
    return found


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return all(_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if hasattr(a, "shape"):
        return bool((a == b).all())
    return bool(a == b)
