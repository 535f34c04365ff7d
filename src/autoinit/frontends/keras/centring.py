"""Finding the activations of a Keras model while it is walked, and centring them when a plan is applied."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import keras
from keras import KerasTensor, layers, ops

from ...core.graph.activation_calls import is_activation
from ...core.graph.graph import Node, Reference, Site
from ...core.plan.plan import CenterPlan, PlanData
from ..base_apply import Step, another_activation
from ..base_centring import add_site, gave
from .centred import Centered, CenteredLayer, as_it_was, centre_layer, centred_class, name_of
from .variables import layers_in_order

if TYPE_CHECKING:
    from .tracer import Tracer


def named_layers(model: Any) -> dict[str, Any]:
    """The layers in a model by their place; where two have the same one, the later ones are numbered."""
    named: dict[str, Any] = {}
    for layer, prefix in layers_in_order(model):
        place, k = prefix.removesuffix("/"), 1
        while place in named:
            k += 1
            place = f"{prefix.removesuffix('/')}#{k}"
        named[place] = layer
    return named


def activation_of(layer: Any) -> Any:
    """The function that a layer was given as its activation; None if there is none that could be another one.

    The inner functions of recurrent layers and cells are no activations of theirs: they make the gates and the state.
    """
    function = vars(layer).get("activation")
    recurrent = isinstance(layer, layers.RNN) or hasattr(layer, "state_size")
    return function if callable(function) and not isinstance(function, layers.Layer) and not recurrent else None


class Marking:
    """Puts a subtraction behind every activation that can be replaced; `activation_centring` chooses the numbers."""

    def __init__(self, tracer: Tracer, model: Any) -> None:
        self.tracer = tracer
        self.places = {id(layer): place for place, layer in named_layers(model).items()}
        self._kept = list(named_layers(model).values())

    def replace_activations(self) -> None:
        """Every activation argument becomes one that marks its output. The walk puts the model's own back."""
        for layer in self._kept:
            function = activation_of(layer)
            if function is not None:
                vars(layer)["activation"] = MarkedActivation(self, self.places[id(layer)], function)

    def count(self) -> tuple[int, int]:
        """Where a layer begins: how many nodes and sites there are."""
        return len(self.tracer.graph.nodes), len(self.tracer.graph.sites)

    def layer(self, layer: Any, args: tuple[Any, ...], out: Any, begin: tuple[int, int]) -> Any:
        """The output of a layer that was entered at `begin`: centred, if the layer is an activation."""
        place = self.places.get(id(layer))
        if not place or self.tracer.suppressed or isinstance(layer, keras.Model) or not isinstance(out, KerasTensor):
            return out
        graph, tracer = self.tracer.graph, self.tracer
        nodes = graph.nodes[begin[0] :]
        x = tracer.reference(args[0]) if len(args) == 1 and isinstance(args[0], KerasTensor) else None
        y = tracer.reference(out)
        if isinstance(layer, CenteredLayer):
            if nodes and nodes[-1].outputs[0] == y:
                self._add(place, layer, nodes[-1], nodes[:-1], nodes[-1].inputs[0], begin[1], layer.center_shift)
            return out
        if gave(graph, begin[1], y) or not is_activation(nodes, x, y):
            return out
        return self.marked(place, layer, nodes, out, begin[1])

    def marked(
        self, place: str, what: Any, nodes: list[Node], out: KerasTensor, sites: int, present: float | None = None
    ) -> Any:
        """The output with a subtraction behind it; sites from `sites` on are parts of this one."""
        y, made = self.tracer.reference(out), ops.subtract(out, 0.0)
        self._add(place, what, self.tracer.graph.nodes[-1], nodes, y, sites, present)
        return made

    def _add(
        self, place: str, what: Any, node: Node, inner: list[Node], y: Reference, sites: int, present: float | None
    ) -> None:
        entry = self.tracer.tape.entries[-1]

        def tell(shift: float) -> None:
            entry.args, entry.kwargs = (entry.args[0], shift), {}

        add_site(self.tracer.graph, Site(place, name_of(what), node, inner, tell, present), y, sites)


class MarkedActivation:
    """Stands for a layer's activation during a walk."""

    def __init__(self, marking: Marking, place: str, function: Any) -> None:
        self.marking, self.place, self.given = marking, place, function
        self.__name__ = name_of(function)

    def __call__(self, x: Any) -> Any:
        tracer = self.marking.tracer
        if tracer.idle or tracer.suppressed or not isinstance(x, KerasTensor):
            return self.given(x)
        is_centred = isinstance(self.given, Centered)
        function, present = (self.given.function, self.given.shift) if is_centred else (self.given, None)
        nodes, sites = self.marking.count()
        out = function(x)
        made = tracer.graph.nodes[nodes:]
        alike = isinstance(out, KerasTensor) and is_activation(made, tracer.reference(x), tracer.reference(out))
        if not alike:
            return out if present is None else out - present
        return self.marking.marked(self.place, self.given, made, out, sites, present)


def prepared(plan: PlanData, model: Any) -> list[Step]:
    """What centres the planned activations, after everything that can go wrong was looked at."""
    if not plan.centers:
        return []
    named = named_layers(model)
    compiled = dict.fromkeys(("train_function", "test_function", "predict_function"))  # made anew when needed
    return [
        *(_change(center, named.get(center.place)) for center in plan.centers),
        *(_set(layer.name, layer, compiled) for layer in named.values() if isinstance(layer, keras.Model)),
    ]


def _change(center: CenterPlan, layer: Any) -> Step:
    function = None if layer is None else activation_of(layer)
    if function is not None and name_of(function) == center.function:
        inner = function.function if isinstance(function, Centered) else function
        return _set(center.place, layer, {"activation": Centered(inner, center.shift)})
    if layer is not None and name_of(layer) == center.function:
        if not isinstance(layer, CenteredLayer):
            centred_class(type(layer))  # a class that cannot be derived from says so now
        return Step(center.place, partial(centre_layer, layer, center.shift), as_it_was(layer))
    raise another_activation(center, "no layer" if layer is None else type(layer).__name__)


def _set(place: str, owner: Any, attributes: dict[str, Any]) -> Step:
    before = {name: getattr(owner, name, None) for name in attributes}
    return Step(place, partial(_set_all, owner, attributes), partial(_set_all, owner, before))


def _set_all(owner: Any, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        setattr(owner, name, value)
