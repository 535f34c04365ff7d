"""Finding the activations of a model while it is walked, and centring them when a plan is applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from ...core.graph.activation_calls import is_activation
from ...core.graph.graph import Reference, Site, Value
from ...core.plan.plan import CenterPlan, PlanData
from ...core.solve.activation_centring import put_behind
from ...errors import PlanError
from ..transaction import Transaction
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
        if any(y == site.node.outputs[0] for site in graph.sites[known.sites :]):  # what an inner one gave
            return None
        if not is_activation(nodes, known.x, y):
            return None
        self._forget(known.sites)
        number = torch.zeros(())
        made = torch.sub(output, number)
        self._add(Site(name, function_of(module), graph.nodes[-1], nodes, number.fill_), y)
        return made

    def _centred_already(self, name: str, module: nn.Module, output: torch.Tensor, known: Open) -> None:
        """The subtraction is there: its number is chosen anew."""
        graph = self.tracer.graph
        node = graph.nodes[-1]
        assert known.number is not None
        if len(graph.nodes) <= known.nodes or self.tracer.reference(self.tracer.incoming(output)) != node.outputs[0]:
            return
        self._forget(known.sites)
        site = Site(name, function_of(module), node, graph.nodes[known.nodes : -1], known.number.fill_, known.present)
        self._add(site, node.inputs[0])

    def _add(self, site: Site, y: Reference) -> None:
        assert isinstance(y, Value)
        put_behind(site, y)
        self.tracer.graph.sites.append(site)

    def _forget(self, first: int) -> None:
        """The outer module is the activation: what is inside of it is a part of that."""
        for site in self.tracer.graph.sites[first:]:
            site.tell(site.present or 0.0)
            site.node.attrs["unreal"] = site.present is None
        del self.tracer.graph.sites[first:]


def prepared(plan: PlanData, model: nn.Module) -> list[Callable[[Transaction], None]]:
    """What centres the planned activations, after everything that can go wrong was looked at."""
    modules = Names(model).modules()
    device = device_of(model)
    todo: list[Callable[[Transaction], None]] = []
    for center in plan.centers:
        module = modules.get(center.place)
        if module is None or not can_be_centred(module) or function_of(module) != center.function:
            found = "no module" if module is None else type(module).__name__
            raise PlanError("the model has another activation there than in the plan", where=center.place,
                            received=f"{found}, planned {center.function}",
                            fix="apply a plan to the model it was made for")  # fmt: skip
        if not isinstance(module, Centered):
            centred_class(type(module))  # a class that cannot be derived from says so now
        todo.append(partial(_centre, module, center, device))
    return todo


def _centre(module: nn.Module, center: CenterPlan, device: torch.device | str, writes: Transaction) -> None:
    writes.undo(center.place, as_it_was(module))
    centre(module, float(center.shift), device)
    writes.breathe()
