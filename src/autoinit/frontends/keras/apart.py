"""Values of variables for code of others, which may write into them: copies, where a backend's tensors are mutable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from keras.src import backend
from keras.src.backend.common.stateless_scope import get_stateless_scope

Copies = dict[int, tuple[Any, Any]]
"""id of a variable -> the variable, and a copy of its value."""


class Apart(backend.StatelessScope):
    """No variable changes inside, neither by `assign` nor, while `foreign` code runs, in place."""

    def __init__(self, state_mapping: Any = None) -> None:
        super().__init__(state_mapping or [], initialize_variables=False)
        self.copies: Copies = {}
        self.is_foreign = False

    def get_current_value(self, variable: Any) -> Any:
        value = super().get_current_value(variable)
        return _copied(variable, self.copies) if value is None and self.is_foreign else value


@contextmanager
def code_of(op: Any) -> Iterator[None]:
    """Inside, an operation or layer is carried out; unless it is Keras' own it gets copies."""
    scope = get_stateless_scope()
    if not isinstance(scope, Apart):
        yield
        return
    before = scope.is_foreign
    scope.is_foreign = before or not type(op).__module__.startswith("keras.")
    try:
        yield
    finally:
        scope.is_foreign = before


def private_value(variable: Any, copies: Copies) -> Any:
    """A copy of the variable's value that the caller may write into; None where there is no need of one."""
    scope = get_stateless_scope()
    if scope is not None and scope.get_current_value(variable) is not None:
        return None
    return _copied(variable, copies)


def _copied(variable: Any, copies: Copies) -> Any:
    value = variable._value
    if value is None or backend.backend() not in ("tensorflow", "torch"):
        return None
    if id(variable) not in copies:
        if backend.backend() == "torch":
            copy = value.detach().clone()
        else:
            import tensorflow as tf

            if not tf.executing_eagerly() or not isinstance(value, tf.Variable):
                return None
            copy = tf.Variable(value, trainable=False)
        copies[id(variable)] = (variable, copy)
    return copies[id(variable)][1]
