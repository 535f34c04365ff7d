"""Rules of the user's own for layers and functions, in any framework."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from threading import get_ident
from typing import Any

from .lock import WALKING


class CustomRules:
    """The user's rules, global ones and those of one call; the latter win."""

    def __init__(self, *tables: Mapping[Any, Callable[..., Any]]) -> None:
        self.classes: dict[type, Callable[..., Any]] = {}
        self.functions: dict[Any, Callable[..., Any]] = {}
        for table in tables:
            for target, function in table.items():
                if isinstance(target, type):
                    self.classes[target] = function
                elif callable(target):
                    self.functions[target] = function

    def for_module(self, module: Any) -> Callable[..., Any] | None:
        if not self.classes:
            return None
        return next((self.classes[c] for c in type(module).__mro__ if c in self.classes), None)


@contextmanager
def patched_functions(custom: CustomRules, tracer: Any, own_node: Callable[..., Any]) -> Iterator[None]:
    """While walking, module-level functions with a rule become one node each, wherever they were imported to.

    `own_node` makes it, and returns what stands for the output from there on (None: the output).

    One walk at a time may do so; for other threads the functions are what they were.
    """
    if not custom.functions:
        yield
        return
    undo: list[tuple[dict[str, Any], str, Any]] = []
    with WALKING:
        try:
            for function, rule in custom.functions.items():
                replacement = _recording(function, rule, tracer, own_node)
                for module in list(sys.modules.values()):
                    names = getattr(module, "__dict__", None)
                    if not isinstance(names, dict):
                        continue
                    for name in [n for n, v in list(names.items()) if v is function]:
                        undo.append((names, name, function))
                        names[name] = replacement
            yield
        finally:
            for names, name, function in reversed(undo):
                names[name] = function


def _recording(function: Any, rule: Any, tracer: Any, own_node: Callable[..., Any]) -> Any:
    walking = get_ident()

    @wraps(function)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        if get_ident() != walking:
            return function(*args, **kwargs)
        tracer.suppressed += 1
        try:
            output = function(*args, **kwargs)
        finally:
            tracer.suppressed -= 1
        if tracer.suppressed:
            return output
        made = own_node(tracer, rule, function, (args, kwargs), output, getattr(function, "__name__", "function"))
        return output if made is None else made

    return recorded
