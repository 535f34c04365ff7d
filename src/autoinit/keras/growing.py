"""Signals along a functional graph that is still being built.

A layer that is called on a KerasTensor builds its weights at once, and what feeds it is known by then: the tensor
remembers how it came about. Every operation is followed once, on a twin of the tensor that has a size on every axis;
layers that are built already count with the weights that they have.
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import KerasTensor

from ..core.graph.graph import Graph
from ..core.inputs import Input
from ..core.options import Options
from ..core.plan.plan import PlanData
from ..core.signal.signal import Signal
from ..core.solve.interpreter import propagate
from ..core.solve.outcome import RuleSet
from ..frontends.base_plan import planned
from ..frontends.custom import CustomRules
from ..frontends.keras.front import NAME
from ..frontends.keras.inputs import Leaf
from ..frontends.keras.patches import tracing
from ..frontends.keras.tracer import Tracer
from ..frontends.keras.variables import as_array, describe_parameters, parameters_of
from ..frontends.keras.walk import introduce
from ..rules import RULES

TWIN = "_autoinit_twin"


class Growing:
    """What is known of one graph so far."""

    def __init__(self) -> None:
        self.options = Options()
        self.tracer = Tracer({}, CustomRules(), training=True)
        self.tracer.depth = 1  # the graph is the model, its layers have names
        self.leaves: list[Leaf] = []
        self.tracer.replay.sample_input = self._sample
        self.signals: dict[int, Signal] = {}
        self.done = 0

    def plan(self, layer: Any, args: Any, kwargs: Any, options: Options) -> PlanData:
        """A plan for a layer that was just made, fed with the given tensors (or arrays) of the graph."""
        self._follow([t for t in keras.tree.flatten((args, kwargs)) if isinstance(t, KerasTensor)])
        args, kwargs = keras.tree.map_structure(self.twin, (args, kwargs))
        graph, _ = self._traced(layer, args, kwargs)
        return planned(graph, self.signals, options, RuleSet(RULES), model=type(layer).__name__, framework=NAME)

    def twin(self, item: Any) -> Any:
        """The followed tensor that stands for one of the graph's; an input's is made when it is first met."""
        if isinstance(item, KerasTensor):
            known = getattr(item, TWIN, None)
            if known is not None and known[0] is self:
                return known[1]
            made = self._input(Leaf(Input(tuple(item.shape)), keras.backend.standardize_dtype(item.dtype)))
            setattr(item, TWIN, (self, made))
            return made
        if keras.ops.is_tensor(item):
            array = as_array(item)
            return self._input(Leaf(array, keras.backend.standardize_dtype(array.dtype)))
        return item

    def _input(self, leaf: Leaf) -> KerasTensor:
        leaf.position = len(self.leaves)
        self.leaves.append(leaf)
        return introduce(self.tracer, leaf, self.signals)

    def _sample(self, position: int) -> Any:
        return self.leaves[position].sample(np.random.default_rng(position), self.tracer.vocabularies.get(position))

    def _follow(self, tensors: list[KerasTensor]) -> None:
        """Carry signals up to these tensors, through all operations that were not followed before."""
        for node in _nodes_before(tensors, lambda t: getattr(t, TWIN, (None,))[0] is self):
            twins = {id(t): self.twin(t) for t in node.input_tensors}
            args, kwargs = node.arguments.fill_in(twins)
            graph, outputs = self._traced(node.operation, args, kwargs)
            self.signals.update(propagate(graph, self.signals, self.options, RuleSet(RULES), check=True).signals)
            for tensor, made in zip(node.outputs, keras.tree.flatten(outputs), strict=True):
                setattr(tensor, TWIN, (self, made))

    def _traced(self, operation: Any, args: Any, kwargs: Any) -> tuple[Graph, Any]:
        """The nodes of one call, and the tensors that it returned."""
        parameters = parameters_of(operation) if isinstance(operation, keras.layers.Layer) else {}
        self.tracer.names.update({id(v): name for name, v in parameters.items()})
        with tracing(self.tracer):
            outputs = operation(*args, **kwargs)
        nodes = self.tracer.graph.nodes[self.done :]
        self.done = len(self.tracer.graph.nodes)
        return Graph(nodes=nodes, parameters=describe_parameters(parameters)), outputs


def growing_of(structure: Any) -> Growing:
    """The record that the tensors of a call belong to; a new one for a new graph."""
    pending = [t for t in keras.tree.flatten(structure) if isinstance(t, KerasTensor)]
    seen: set[int] = set()
    while pending:
        tensor = pending.pop()
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        known = getattr(tensor, TWIN, None)
        if known is not None:
            found: Growing = known[0]
            return found
        node = _node_of(tensor)
        if node is not None:
            pending.extend(node.input_tensors)
    return Growing()


def _node_of(tensor: KerasTensor) -> Any:
    """The call that made a tensor; None for inputs."""
    history = getattr(tensor, "_keras_history", None)
    if history is None or history.operation is None:
        return None
    node = history.operation._inbound_nodes[history.node_index]
    return None if node.is_input else node


def _nodes_before(tensors: list[KerasTensor], is_known: Any) -> list[Any]:
    """Calls that these tensors come of and that are not known yet, in order of execution."""
    order: list[Any] = []
    seen: set[int] = set()
    pending: list[tuple[Any, bool]] = [(n, False) for n in map(_node_of, tensors) if n is not None]
    while pending:
        node, ready = pending.pop()
        if ready:
            order.append(node)
            continue
        if id(node) in seen or all(is_known(t) for t in node.outputs):
            continue
        seen.add(id(node))
        pending.append((node, True))
        pending.extend((n, False) for n in map(_node_of, node.input_tensors) if n is not None)
    return order
