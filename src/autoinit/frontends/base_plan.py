"""From a graph to its plan, as every front end comes to it."""

from __future__ import annotations

from typing import Any

from ..core.graph.graph import Graph
from ..core.options import Options
from ..core.plan.plan import PlanData
from ..core.signal.signal import Signal
from ..core.solve.build import build_plan
from ..core.solve.interpreter import propagate
from ..core.solve.outcome import RuleSet
from ..errors import ModelError


def planned(
    graph: Graph,
    signals: dict[int, Signal],
    options: Options,
    rules: RuleSet,
    *,
    model: str,
    framework: str,
    check: bool = False,
) -> PlanData:
    """Carry the signals of the inputs through the graph, and write down what comes out."""
    outcome = propagate(graph, signals, options, rules, check)
    return build_plan(graph, outcome, options, model=model, framework=framework, check=check)


def marks_activations(options: Options, check: bool) -> bool:
    """Whether a walk looks for activations to centre."""
    return options.center == "activation" and not check


def no_parameters(model: Any, fix: str) -> ModelError:
    return ModelError("the model has no parameters, so there is nothing to initialize",
                      where=type(model).__name__, received="0 parameters", fix=fix)  # fmt: skip
