"""Layers and functions with a rule of the user's own: while a model is traced, their calls are marked.

A jaxpr knows no layers. So `__call__` of the classes that there are rules for passes what it makes through a primitive
that does nothing but name the call: what went in, what came out, and the arrays that the layer holds. The tape takes
it for a whole (`Flattener`), and the graph gets one node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import get_ident
from typing import Any

import jax
from jax import numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ...core.checks import brief
from ...errors import OptionError
from ..custom import CustomRules, patched_functions
from ..lock import WALKING
from .names import is_array, is_key

OTHERS = frozenset({"torch", "keras", "tensorflow"})
"""Frameworks whose layers have rules in the same table."""

own_p = Primitive("autoinit_own")
own_p.multiple_results = True


@dataclass(frozen=True, eq=False)
class Own:
    """Whose call it is. The primitive is bound to what the call made, what it was given, and the layer's arrays."""

    rule: Callable[..., Any]
    name: str
    outputs: int
    inputs: int
    leaves: Sequence[Any]
    """Of the layer as a structure, with shapes in place of arrays."""
    structure: Any

    def layer(self, arrays: Sequence[Any]) -> Any:
        """The layer (or function) with these arrays; None: not known, it has the shape."""
        given = iter(arrays)
        filled = [leaf if not _is_held(leaf) or (a := next(given)) is None else a for leaf in self.leaves]
        return jax.tree_util.tree_unflatten(self.structure, filled)


@contextmanager
def marked(custom: CustomRules, unbound: Callable[[Any], Any]) -> Iterator[None]:
    """Here, calls that there are rules for are marked. `unbound`: a layer without what a call binds it to.

    One thread at a time may do so; for the others everything is what it was. What `jit` keeps is not mixed up.
    """
    if not custom.functions and not custom.classes:
        yield
        return
    marks = _Marks(unbound)
    with WALKING, ExitStack() as stack:
        if _context is not None:
            stack.enter_context(_context(marks))
        stack.enter_context(patched_functions(custom, marks, _Marks.mark))
        for cls in _calling(custom):
            called, put_back = _exchanged(cls, custom, marks)
            stack.callback(put_back)  # first: an interrupt may come at any line
            type.__setattr__(cls, "__call__", called)
        yield


def check_targets(targets: Sequence[Any]) -> None:
    """Raise if there is a class whose instances nobody calls."""
    wrong = next((t for t in targets if isinstance(t, type) and _definition(t) is None), None)
    if wrong is not None:
        raise OptionError("instances of this class are not called, so that a rule for one has no place",
                          where="option 'rules'", received=brief(wrong),
                          fix="a class with `__call__`, or a function")  # fmt: skip


_context = jax.make_user_context(default_value=None) if hasattr(jax, "make_user_context") else None


class _Marks:
    """Marks calls, but not those inside of one that is."""

    def __init__(self, unbound: Callable[[Any], Any]) -> None:
        self.unbound = unbound
        self.suppressed = 0
        self.thread = get_ident()

    def mark(self, rule: Any, owner: Any, given: Any, output: Any, name: str) -> Any:
        """What the call made, marked."""
        made, structure = jax.tree_util.tree_flatten(output)
        places = [k for k, item in enumerate(made) if is_array(item)]
        inputs = [x for x in jax.tree_util.tree_leaves(given) if is_array(x) and not is_key(x)]
        held, form = jax.tree_util.tree_flatten(self.unbound(owner))
        leaves = [jax.ShapeDtypeStruct(x.shape, x.dtype) if is_array(x) else x for x in held]
        arrays = [x for x in held if _is_held(x)]
        own = Own(rule, name, len(places), len(inputs), leaves, form)
        outputs = own_p.bind(*(made[k] for k in places), *inputs, *arrays, own=own) if places else []
        for k, out in zip(places, outputs, strict=True):
            made[k] = out
        return jax.tree_util.tree_unflatten(structure, made)


def _is_held(item: Any) -> bool:
    return is_array(item) and not is_key(item)


def _calling(custom: CustomRules) -> list[type]:
    """The classes whose `__call__` is marked: those with rules, and what is derived from them and has its own."""
    found: dict[type, None] = {}
    waiting = [cls for cls in custom.classes if not OTHERS & {c.__module__.partition(".")[0] for c in cls.__mro__}]
    while waiting:
        cls = waiting.pop()
        if _definition(cls) is not None and (cls in custom.classes or "__call__" in vars(cls)):
            found[cls] = None
        waiting.extend(cls.__subclasses__())
    return list(found)


def _definition(cls: type) -> Any:
    """What `__call__` is in a class or above; None if its instances are not called."""
    return next((vars(c)["__call__"] for c in cls.__mro__ if "__call__" in vars(c)), None)


def _exchanged(cls: type, custom: CustomRules, marks: _Marks) -> tuple[Callable[..., Any], Callable[[], None]]:
    """What takes the place of `__call__` of a class, and what puts that back."""
    original, is_own = _definition(cls), "__call__" in vars(cls)

    def called(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        bound = original.__get__(self, type(self))
        if get_ident() != marks.thread or marks.suppressed:
            return bound(*args, **kwargs)
        marks.suppressed += 1
        try:
            output = bound(*args, **kwargs)
        finally:
            marks.suppressed -= 1
        return marks.mark(custom.for_module(self), self, (args, kwargs), output, type(self).__name__)

    def put_back() -> None:
        if is_own:
            type.__setattr__(cls, "__call__", original)
        elif "__call__" in vars(cls):
            type.__delattr__(cls, "__call__")

    return called, put_back


# --- the primitive: it gives the outputs ------------------------------------------------------------------------------


def _outputs(*arrays: Any, own: Own) -> list[Any]:
    return list(arrays[: own.outputs])


def _derivative(arrays: Any, tangents: Any, *, own: Own) -> Any:
    return own_p.bind(*arrays, own=own), list(tangents[: own.outputs])


def _batched(arrays: Sequence[Any], axes: Sequence[Any], *, own: Own) -> tuple[list[Any], list[int]]:
    """With a batch in front of everything; arrays that the layer holds are the same for all, or stacked."""
    size = next(x.shape[a] for x, a in zip(arrays, axes, strict=True) if a is not None)
    whole = own.outputs + own.inputs
    made = [
        jnp.moveaxis(x, a, 0) if a is not None
        else jnp.broadcast_to(x, (size, *x.shape)) if k < whole else x
        for k, (x, a) in enumerate(zip(arrays, axes, strict=True))
    ]  # fmt: skip
    return own_p.bind(*made, own=own), [0] * own.outputs


own_p.def_impl(_outputs)
own_p.def_abstract_eval(_outputs)
ad.primitive_jvps[own_p] = _derivative
batching.primitive_batchers[own_p] = _batched
mlir.register_lowering(own_p, mlir.lower_fun(_outputs, multiple_results=True))
