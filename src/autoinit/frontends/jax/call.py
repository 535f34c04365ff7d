"""One step of the tape, as lowerings see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import numpy as jnp
from numpy.typing import NDArray

from ...core.graph.graph import Constant, ParameterView, Reference, Shape, Value
from ..base_call import BaseCall
from ..views import constant_view, permuted_view
from .tape import Atom, Step, array_of, evaluated, number_of

if TYPE_CHECKING:
    from .tracer import Tracer


class Call(BaseCall["Tracer"]):
    """`values` are the parameters of the primitive; `args` the arrays that go in."""

    __slots__ = ("args", "step")

    def __init__(self, tracer: Tracer, step: Step) -> None:
        super().__init__(tracer, step.label, step.params, list(step.outputs))
        self.step, self.args = step, step.inputs

    @staticmethod
    def is_traced(item: Any) -> bool:
        return isinstance(item, Atom)

    @staticmethod
    def number(item: Any) -> float | None:
        return float(item) if isinstance(item, (int, float)) else None

    @property
    def out(self) -> Atom:
        out: Atom = self.outputs[0]
        return out

    def entries(self, fn: str, operands: list[Any], outputs: list[Any] | None = None, params: tuple[float, ...] = ()
                ) -> list[Value]:  # fmt: skip
        """A function of entries: operands are broadcast, and constants that are one number are numbers."""
        shape = tuple(self.out.shape if outputs is None else getattr(outputs[0], "shape", outputs[0]))
        items = [self._entry(item) for item in operands]
        shapes = [tuple(i.shape) for i in items if isinstance(i, (Value, ParameterView, Constant))]
        if not shapes or np.broadcast_shapes(*shapes) != shape:
            items = [self.reference(o) if isinstance(o, Atom) and o.shape == shape else i
                     for o, i in zip(operands, items, strict=True)]  # fmt: skip
        return self.emit("elementwise", items, outputs, fn=fn, params=params)

    def _entry(self, item: Any) -> Any:
        if not isinstance(item, Atom):
            return item
        number = number_of(item)
        return self.tracer.narrow(item) if number is None else number

    def layer(self, op: str, inputs: list[Any], shape: Shape, **attrs: Any) -> Value:
        """A layer with a weight: what stands for this call in tables, whatever its output is turned into."""
        (made,) = self.emit(op, inputs, [shape], **attrs)
        tracer = self.tracer
        if not tracer.suppressed:
            node = tracer.graph.nodes[-1]
            node.call = tracer.occurrence
            tracer.layers[id(self.out)] = node
        return made

    def permuted(self, item: Any, perm: tuple[int, ...]) -> Reference:
        """The item with its axes in another order: a view of a parameter, or a node of its own."""
        ref = self.reference(item)
        if ref is None or perm == tuple(range(len(perm))):
            return ref
        shape = tuple(ref.shape[a] for a in perm)
        if isinstance(ref, ParameterView):
            return permuted_view(ref, perm)
        if isinstance(ref, Constant):
            return constant_view(ref, shape, lambda a: np.transpose(a, perm))
        return self.emit("permute", [ref], [shape], perm=perm)[0]

    def reshaped(self, item: Any, shape: Shape) -> Reference:
        """The item in another shape: a view where its entries lie so, or a node of its own."""
        ref = self.reference(item)
        if ref is None or tuple(ref.shape) == tuple(shape):
            return ref
        made = self.tracer.reshaped(ref, shape)
        return self.emit("reshape", [ref], [shape])[0] if made is None else made

    def known(self, item: Atom) -> NDArray[Any] | None:
        """The values of an array, or a sample of them, if they depend on no signal."""
        return array_of(item) if item.is_given else None

    def unknown(self) -> None:
        """No rule: simulated with the real primitive, or passed through, and reported. Integers become constants."""
        carrying = [k for k, out in enumerate(self.outputs) if out.is_float]
        for k, out in enumerate(self.outputs):
            if k not in carrying:
                self.tracer.set(out, Constant(out.shape, lambda: None))
        if not carrying:
            return
        self.emit("opaque", list(self.args), [self.outputs[k] for k in carrying])
        step = self.step

        def run(arrays: list[Any]) -> list[NDArray[Any]] | None:
            given = [self._real(atom, array) for atom, array in zip(step.inputs, arrays, strict=True)]
            made = step.run(given)
            return [np.asarray(made[k], np.result_type(made[k], np.float64)) for k in carrying]

        self.tracer.graph.nodes[-1].run = run

    @staticmethod
    def _real(atom: Atom, array: Any) -> Any:
        """A sample as the primitive takes it; constants are what they are."""
        known = evaluated(atom)
        if known is not None:
            return known
        if jnp.issubdtype(atom.dtype, jax.dtypes.prng_key):
            return jax.random.split(jax.random.key(0), atom.shape) if atom.shape else jax.random.key(0)
        array = np.zeros(atom.shape) if array is None else np.asarray(array)
        if atom.dtype == np.bool_:
            array = array > array.mean()
        return jnp.asarray(array if atom.is_float else np.round(array).clip(min=0), atom.dtype)
