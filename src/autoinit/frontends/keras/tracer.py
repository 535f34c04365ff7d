"""Walking a model: Keras' own symbolic tensors through every layer's `call`, onto a tape of our own.

Requirements this file lives by:

* The model is never modified: no node is put on its layers, no variable is written, no loss is added.
* Layers are entered, not asked for their output shape; those with a lowering (or a rule of the user's) stay whole.
* Parameters are symbolic leaves, so that what is computed of weights alone keeps their identity.
* What cannot be followed (code of the backend itself inside a layer) becomes one opaque node for that layer alone.
* Everything that happens is on the tape, which can be run again on real arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from threading import get_ident
from typing import Any

import numpy as np
from keras import KerasTensor, Operation, layers
from keras.src import backend
from keras.src.backend.common.variables import Variable
from numpy.typing import NDArray

from ...core.graph.graph import Constant, ParameterView, Reference, Value
from ...errors import AutoInitError, TraceError
from ..base_tracer import BaseTracer
from ..budget import Budget
from ..custom import CustomRules
from ..views import whole_view
from .ancestry import TapeAncestry
from .apart import Copies
from .call import Call, is_tensor
from .centring import Marking
from .equivalents import equivalent, equivalent_operation
from .loops import CONTROL_OPERATIONS
from .lowering import layer_lowering, lower
from .parameters import viewed_parameter
from .replay import Replay, runner
from .specs import output_spec
from .tape import Entry, Tape, flattened, mapped, output_tensors
from .variables import as_array, is_float, shape_of, values_of
from .vocabularies import Vocabularies


class Tracer(BaseTracer):
    """Records the neutral graph, and the tape, of everything that happens while it is active."""

    def __init__(
        self, parameters: dict[str, Any], custom: CustomRules, training: bool, budget: Budget | None = None
    ) -> None:
        super().__init__()
        self.tape = Tape()
        self.training = training
        self.custom = custom
        self.names = {id(v): name for name, v in parameters.items()}
        self.depth = 0
        self.marking: Marking | None = None
        """Puts subtractions behind activations, if they are to be centred."""
        self.budget = Budget() if budget is None else budget
        self.closed = 0
        """Positive while code runs that cannot be followed."""
        self.foreign = True
        """Whether code of a layer that is not Keras' own is running: it reads copies of variables, in `private`."""
        self.private: Copies = {}
        self._paused = 0
        self._thread = get_ident()
        self.replay = Replay(self.tape)
        self.vocabularies = Vocabularies()
        self._references: dict[int, Reference] = {}
        self._leaves: dict[int, KerasTensor] = {}
        self.graph.ancestry = TapeAncestry(self)

    # --- tensors and what they stand for ---------------------------------------------------------------------------

    def set(self, tensor: KerasTensor, reference: Reference) -> None:
        self._references[id(tensor)] = reference

    def given(self, tensor: KerasTensor, position: int) -> None:
        """The tensor is the model's input number `position`."""
        self.tape.inputs[id(tensor)] = position
        self.tape.kept.append(tensor)
        self.vocabularies.given(tensor, position)

    def is_parameter(self, item: Any) -> bool:
        return isinstance(item, Variable) and id(item) in self.names

    def is_symbolic(self, item: Any) -> bool:
        return isinstance(item, KerasTensor) or self.is_parameter(item)

    def any_symbolic(self, structure: Any) -> bool:
        return any(self.is_symbolic(item) for item in flattened(structure))

    def leaf(self, variable: Any) -> KerasTensor:
        """The symbolic tensor that stands for a parameter."""
        leaf = self._leaves.get(id(variable))
        if leaf is None:
            shape = shape_of(variable)
            leaf = KerasTensor(shape, dtype=variable._dtype, name="weight")
            self._leaves[id(variable)] = leaf
            self.tape.leaves[id(leaf)] = variable
            self.tape.kept.append((leaf, variable))
            self.set(leaf, whole_view(self.names[id(variable)], shape))
        return leaf

    def with_constants(self, structure: Any) -> Any:
        """Arrays as symbolic tensors that stand for constants."""

        def symbolic(item: Any) -> Any:
            if isinstance(item, (KerasTensor, Variable)) or not is_tensor(item):
                return item
            tensor = KerasTensor(tuple(int(n) for n in item.shape), dtype=backend.standardize_dtype(item.dtype))
            self.set(tensor, self.reference(item))
            self.tape.leaves[id(tensor)] = item
            self.tape.kept.append((tensor, item))
            return tensor

        return mapped(symbolic, structure)

    @contextmanager
    def standing_for(self, variable: Any, tensor: KerasTensor) -> Iterator[None]:
        """Inside, whoever reads the variable gets `tensor`, which was computed from it."""
        leaf = self.leaf(variable)
        self._leaves[id(variable)] = tensor
        try:
            yield
        finally:
            self._leaves[id(variable)] = leaf

    def reference(self, item: Any) -> Reference:
        """What a tensor, variable, array or number stands for in the graph."""
        if item is None or isinstance(item, (Value, ParameterView, Constant)):
            return item
        if isinstance(item, KerasTensor):
            found = self._references.get(id(item))
            return Constant(tuple(item.shape), lambda: None) if found is None else found
        if isinstance(item, Variable):
            if self.is_parameter(item):
                return self._references[id(self.leaf(item))]
            return Constant(shape_of(item), lambda: values_of(item))
        if is_tensor(item):
            return Constant(tuple(int(n) for n in item.shape), lambda: as_array(item))
        array = np.asarray(item)
        return Constant(array.shape, lambda: array)

    def sampled(self, tensor: KerasTensor) -> Constant:
        """A constant that holds a sample of the tensor's values, drawn when somebody asks for it."""

        def array() -> NDArray[Any] | None:
            with self.pause():  # the trace may still be going on
                return self.replay.sample(tensor)

        return Constant(tuple(int(n) for n in tensor.shape), array)

    # --- operations --------------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether Keras is to work as it always does: in a pause, and in all other threads."""
        return self._paused > 0 or get_ident() != self._thread

    @property
    def elsewhere(self) -> bool:
        """Whether this is another thread than the one that walks: nothing of ours is its concern."""
        return get_ident() != self._thread

    def tick(self) -> None:
        """One more call of an operation, followed or not: a walk has to end."""
        if get_ident() == self._thread:
            self.budget.spend(f"layer '{self.module}'" if self.module else "")

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Keras as it is, without us."""
        self._paused += 1
        try:
            yield
        finally:
            self._paused -= 1

    def operation(self, op: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One operation on symbolic tensors: its outputs, after it was recorded."""
        args, kwargs = self._with_leaves(args), self._with_leaves(kwargs)
        name = type(op).__name__
        if name in CONTROL_OPERATIONS:
            return op.call(*args, **kwargs)
        if name in ("Ndim", "Size"):  # all sizes are known here
            shape = next(flattened((args, kwargs))).shape
            return len(shape) if name == "Ndim" else prod(shape)
        instead = equivalent_operation(op)
        if instead is not None:
            return instead(*args, **kwargs)
        if not type(op).__module__.startswith(("keras.", "autoinit.")):
            return self._entered(op, op.call, args, kwargs)
        return self.record(op, args, kwargs, self._specified(op, args, kwargs), whole=False)

    def _specified(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The outputs as the operation (or layer) describes them, or as a sample shows them.

        The latter where sizes depend on values: what is not zero, the words of a text.
        """
        with self.pause():
            try:
                outputs = output_spec(op, args, kwargs)
            except AutoInitError:
                raise
            except Exception as error:
                return self._shown_by_sample(op, args, kwargs, error)
            unknown = any(None in tensor.shape for tensor in output_tensors(outputs))
            return self.replay.outputs(op, args, kwargs) if unknown else outputs

    def _shown_by_sample(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Any:
        try:
            return self.replay.outputs(op, args, kwargs)
        except AutoInitError:
            raise
        except Exception:
            raise error from None

    def _with_leaves(self, structure: Any) -> Any:
        return mapped(lambda item: item.value if self.is_parameter(item) else item, structure)

    def record(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], outputs: Any, whole: bool) -> Any:
        name = type(op).__name__
        self.occurrence = self.counted(name)
        made = output_tensors(outputs)
        entry = Entry(op, args, kwargs, made, self.module, name, self.occurrence, whole)
        self.tape.add(entry)
        self.vocabularies.follow(entry)
        call = Call(self, op, args, kwargs, made)
        if self._from_constants(entry):
            for k in range(len(made)):
                call.constant(k)
        elif not viewed_parameter(call) and not lower(call):
            call.unknown()
        return outputs

    def _from_constants(self, entry: Entry) -> bool:
        """Whether nothing but constants (indices, masks, tables) went in."""
        tensors = entry.tensors()
        return bool(tensors) and all(isinstance(self.reference(t), Constant) for t in tensors) and not entry.whole

    def opaque(self, call: Call) -> None:
        """A node without a rule, which the real operation simulates; integer outputs become constants."""
        carrying = [k for k, out in enumerate(call.outputs) if is_float(out.dtype)]
        for k in range(len(call.outputs)):
            if k not in carrying:
                call.constant(k)
        if not carrying:
            return
        entry = self.tape.entries[-1]
        items = [t for t in flattened((call.args, call.kwargs)) if is_tensor(t)]
        references = [self.reference(t) for t in items]
        call.emit("opaque", references, [call.outputs[k] for k in carrying])
        if not self.suppressed:
            self.graph.nodes[-1].run = runner(entry, items, references, carrying)

    # --- layers ------------------------------------------------------------------------------------------------------

    def layer(self, layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One call of a layer: taken whole, or entered."""
        outer, foreign = self.module, self.foreign
        self.foreign = not type(layer).__module__.startswith("keras.")
        if self.depth:
            self.module = f"{outer}/{layer.name}" if outer else layer.name
        self.depth += 1
        try:
            self.vocabularies.layer(layer, args, kwargs)
            rule = self.custom.for_module(layer)
            if rule is not None and not self.suppressed:
                return self._with_rule(rule, layer, args, kwargs)
            if layer_lowering(layer) is not None:
                args, kwargs = self._with_leaves(args), self._with_leaves(kwargs)
                return self.record(layer, args, kwargs, self._specified(layer, args, kwargs), whole=True)
            quantized = getattr(layer, "quantization_mode", None) is not None
            function = equivalent(layer, self) or (layer.quantized_call if quantized else layer.call)
            if self.marking is None:
                return self._entered(layer, function, args, kwargs)
            begin = self.marking.count()
            return self.marking.layer(layer, args, self._entered(layer, function, args, kwargs), begin)
        finally:
            self.module, self.foreign = outer, foreign
            self.depth -= 1

    def _entered(self, op: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Follow what happens inside; if that is impossible, one opaque node for all of it."""
        nodes, entries, sites = len(self.graph.nodes), len(self.tape.entries), len(self.graph.sites)
        try:
            return function(*args, **kwargs)
        except AutoInitError:
            raise
        except Exception as error:
            for entry in self.tape.cut(entries):
                self.counts[entry.module, entry.name] -= 1
            del self.graph.nodes[nodes:]
            del self.graph.sites[sites:]
            return self._closed(op, args, kwargs, error)

    def _closed(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Any:
        args, kwargs = self._with_leaves(args), self._with_leaves(kwargs)
        try:
            outputs = self._found_out(op, args, kwargs)
        except AutoInitError:
            raise
        except Exception:
            raise TraceError(
                f"the model's call failed: {type(error).__name__}: {_first_lines(error)}",
                where=f"layer '{self.module}'" if self.module else type(op).__name__,
                received=", ".join(f"{tuple(t.shape)} {t.dtype}" for t in flattened((args, kwargs)) if is_tensor(t)),
                fix="check the shape (batch included) and dtype of inputs; does model(inputs) work?",
            ) from error
        self.graph.notes.append(
            f"{self.module or type(op).__name__}: cannot be followed inside ({type(error).__name__}: "
            f"{_first_lines(error)}); simulated as a whole, its weights are left alone"
        )
        name = type(op).__name__
        self.occurrence = self.counted(name)
        made = output_tensors(outputs)
        self.tape.add(Entry(op, args, kwargs, made, self.module, name, self.occurrence, isinstance(op, layers.Layer)))
        self.opaque(Call(self, op, args, kwargs, made))
        return outputs

    def _found_out(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The outputs of what cannot be followed: its backend traces it, or it runs on a sample."""
        self.closed += 1
        try:
            with self.pause():
                try:
                    outputs = backend.compute_output_spec(op.call, *args, **kwargs)
                except AutoInitError:
                    raise
                except Exception:
                    return self.replay.outputs(op, args, kwargs)
                unknown = any(None in tensor.shape for tensor in output_tensors(outputs))
                return self.replay.outputs(op, args, kwargs) if unknown else outputs
        finally:
            self.closed -= 1
            self.private.clear()

    def _with_rule(self, rule: Any, layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = self._with_leaves(args), self._with_leaves(kwargs)
        outputs = self._specified(layer, args, kwargs)
        return self.own_node(rule, layer, layer, args, kwargs, outputs, type(layer).__name__)

    def own_node(self, rule: Any, owner: Any, op: Any, args: Any, kwargs: Any, outputs: Any, name: str) -> Any:
        """One node for a layer or function that has a rule of the user's own."""
        occurrence = self.counted(name)
        made = output_tensors(outputs)
        if op is not None:
            self.tape.add(Entry(op, args, kwargs, made, self.module, name, occurrence, True))
        given = [args, *(v for k, v in kwargs.items() if not k.endswith("mask"))]
        references = tuple(self.reference(t) for t in flattened(given) if is_tensor(t))
        self.custom_node(references, made, name, occurrence, rule=rule, owner=owner)
        return outputs


def _first_lines(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else text[:197] + "..."
