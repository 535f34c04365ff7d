"""Finding the activations of a model while it is walked, and centring them when a plan is applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from ...core.graph.activation_calls import is_activation
from ...core.graph.graph import Reference, Site
from ...core.plan.plan import PlanData
from ..base_apply import Step, another_activation
from ..base_centring import add_site, gave
from .centred import SHIFT, Centered, as_it_was, can_be_centred, centre, centred_class, function_of
from .inputs import device_of
from .names import Names
from .tracer import Tracer

CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)


@dataclass(slots=True)
class Open:
    """A module that is running."""

    nodes: int
    sites: int
    x: Reference
    number: torch.Tensor | None = None
    """Of a centred one: stands for its shift while it is walked."""
    present: float | None = None


class Marking:
    """Puts a subtraction behind every module that is an activation; `activation_centring` chooses the numbers."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.running: list[Open] = []

    def enter(self, module: nn.Module, args: Any) -> None:
        graph = self.tracer.graph
        x = args[0] if len(args) == 1 and isinstance(args[0], torch.Tensor) else None
        reference = None if x is None else self.tracer.reference(self.tracer.incoming(x))
        made = Open(len(graph.nodes), len(graph.sites), reference)
        if isinstance(module, Centered):
            made.present = 0.0 if module.center_shift.device.type == "meta" else float(module.center_shift)
            made.number = module._buffers[SHIFT] = torch.zeros(())  # the walk puts the model's own back
        self.running.append(made)

    def leave(self, name: str, module: nn.Module, output: Any, raised: bool) -> torch.Tensor | None:
        """The centred output in place of the module's own; None if it stays."""
        known = self.running.pop()
        if raised or self.tracer.suppressed or not isinstance(output, torch.Tensor):
            return None
        if known.number is not None:
            self._centred_already(name, module, output, known)
            return None
        if not name or isinstance(module, CONTAINERS) or not can_be_centred(module):
            return None
        return self._marked(name, module, output, known)

    def _marked(self, name: str, module: nn.Module, output: torch.Tensor, known: Open) -> torch.Tensor | None:
        tracer, graph = self.tracer, self.tracer.graph
        nodes = graph.nodes[known.nodes :]
        y = tracer.reference(tracer.incoming(output))
        if gave(graph, known.sites, y) or not is_activation(nodes, known.x, y):
            return None
        number = torch.zeros(())
        made = torch.sub(output, number)
        add_site(graph, Site(name, function_of(module), graph.nodes[-1], nodes, _teller(number)), y, known.sites)
        return made

    def _centred_already(self, name: str, module: nn.Module, output: torch.Tensor, known: Open) -> None:
        """The subtraction is there: its number is chosen anew."""
        graph = self.tracer.graph
        node = graph.nodes[-1]
        assert known.number is not None
        if len(graph.nodes) <= known.nodes or self.tracer.reference(self.tracer.incoming(output)) != node.outputs[0]:
            return
        inner, tell = graph.nodes[known.nodes : -1], _teller(known.number)
        site = Site(name, function_of(module), node, inner, tell, known.present)
        add_site(graph, site, node.inputs[0], known.sites)


def _teller(number: torch.Tensor) -> Callable[[float], None]:
    def tell(shift: float) -> None:
        number.fill_(shift)

    return tell


def prepared(plan: PlanData, model: nn.Module) -> list[Step]:
    """What centres the planned activations, after everything that can go wrong was looked at."""
    modules = Names(model).modules()
    device = device_of(model)
    todo = []
    for center in plan.centers:
        module = modules.get(center.place)
        if module is None or not can_be_centred(module) or function_of(module) != center.function:
            raise another_activation(center, "no module" if module is None else type(module).__name__)
        if not isinstance(module, Centered):
            centred_class(type(module))  # a class that cannot be derived from says so now
        todo.append(Step(center.place, partial(centre, module, float(center.shift), device), as_it_was(module)))
    return todo
