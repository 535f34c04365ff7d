"""Centred activations: f(x) - mu with mu = E f(x), for the signal x that really comes in.

With center="activation" front ends put a subtraction behind every activation that they can change (`graph.Site`). Here
its number is chosen while signals are carried through the graph, so that everything behind it is worked out with the
centred signal. The first call of an activation decides; gates, parts of other functions and outputs keep their mean.
"""

from __future__ import annotations

from math import isfinite, sqrt

from ..graph.activation_calls import NAMED, Readers
from ..graph.graph import Graph, Node, Site, Value
from ..options import Options
from ..plan.plan import CenterPlan
from ..signal.positive import shifted
from ..signal.signal import Signal
from .outcome import Outcome

NO_MEAN = 1e-6
"""A mean of fewer standard deviations than this is none."""
ANOTHER_MEAN = 0.05
"""From so many standard deviations on, a mean that stays is worth a note."""
LARGEST = 1e30


class Centres:
    """The shifts of one pass over the graph."""

    def __init__(self, graph: Graph, options: Options, check: bool, notes: list[tuple[int, str, str]]) -> None:
        self.graph, self.notes = graph, notes
        self.index = {id(node): k for k, node in enumerate(graph.nodes)} if graph.sites else {}
        self.wanted = options.center == "activation" and not check
        self.sites = {id(site.node): site for site in graph.sites}
        self.of: dict[str, CenterPlan | None] = {}
        """None: the activation had no mean at its first call."""
        self.kept = _kept(graph, options)

    def output(self, node: Node, signals: list[Signal | None]) -> tuple[Signal, ...] | None:
        """The output of a subtraction that stands behind an activation; None for any other node."""
        site = self.sites.get(id(node))
        x = signals[0] if site is not None else None
        if site is None or x is None:
            return None
        shift = self._shift(site, x)
        node.attrs["scalars"] = {1: shift}
        node.attrs["unreal"] = self.of.get(site.name) is None and site.present is None
        site.tell(shift)
        return (shifted(x, -shift),)

    def _shift(self, site: Site, x: Signal) -> float:
        name, deviation = site.name, sqrt(x.variance)
        if name in self.kept:
            self._note(site, "info", f"is not centred: {self.kept[name]}")
            return site.present or 0.0
        if name in self.of:
            known = self.of[name]
            shift = 0.0 if known is None else known.shift
            if known is not None:
                known.calls += 1
            if abs(x.mean - shift) > ANOTHER_MEAN * deviation:
                self._note(site, "info", "is called several times: the shift of the first call stays for all")
            return shift
        mean = float(x.mean)
        if not isfinite(mean) or abs(mean) > LARGEST:
            self._note(site, "warning", f"is not centred: its mean {mean:.3g} is out of range")
            return site.present or 0.0
        mean = 0.0 if abs(mean) <= NO_MEAN * deviation else mean
        centred = mean != 0.0 or site.present is not None
        self.of[name] = CenterPlan(name, site.function, mean, x.variance) if centred else None
        return mean

    def _note(self, site: Site, kind: str, text: str) -> None:
        self.notes.append((self.index[id((site.inner or [site.node])[-1])], kind, f"{site.function} {text}"))

    def report(self, outcome: Outcome) -> None:
        """After the last pass: the centred activations, and the functions that no module stands for."""
        outcome.centers = [center for center in self.of.values() if center is not None]
        if not self.wanted:
            return
        inside = {id(node) for site in self.graph.sites for node in (*site.inner, site.node)}
        readers = Readers(self.graph)
        for index, node in enumerate(self.graph.nodes):
            if node.attrs.get("fn") not in NAMED or id(node) in inside:
                continue
            (value,) = node.outputs
            signal = outcome.signals.get(value.id)
            if signal is None or value.id in readers.constant or readers.why_not(value) is not None:
                continue
            if abs(signal.mean) > ANOTHER_MEAN * sqrt(signal.variance):
                text = "no activation that can be replaced stands here, so its mean stays; center='bias' takes it off"
                outcome.notes.append((index, "info", text))


def _kept(graph: Graph, options: Options) -> dict[str, str]:
    """Activations that are not to be shifted, with the reason. One call that forbids it forbids it for all."""
    if not graph.sites:
        return {}

    def is_left(name: str) -> bool:
        parameter = graph.parameters[name]
        return not parameter.trainable or not options.covers(name, *parameter.aliases)

    readers = Readers(graph, is_left)
    kept: dict[str, str] = {}
    for site in graph.sites:
        reason = readers.why_not(site.node.outputs[0]) if options.covers(site.name) else "skipped by name"
        if reason is not None:
            kept.setdefault(site.name, reason)
    return kept


def put_behind(site: Site, x: Value) -> None:
    """Make the node of a site the subtraction of a number that is still to be chosen."""
    site.node.op, site.node.inputs = "elementwise", (x, None)
    site.node.attrs = {"fn": "sub", "params": (), "scalars": {1: site.present or 0.0}}
