"""An attribute that is worked out once, without a lock.

`functools.cached_property` of Python 3.11 and below holds a lock that all instances share; a Ctrl-C at the wrong moment
leaves it locked, and whoever comes next in another thread waits for ever. Here two threads may do the same work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):
    """Decorates a method without arguments; its first result is the attribute from then on."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.name = function, function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> lazy[T] | T:
        if instance is None:
            return self
        found = self.function(instance)
        instance.__dict__[self.name] = found
        return found
