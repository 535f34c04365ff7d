"""The PyTorch front end behind the public API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import nn

from ...core.options import Options
from ...core.plan.plan import PlanData
from ...core.solve.build import build_plan
from ...core.solve.interpreter import propagate
from ...core.solve.outcome import RuleSet
from ...errors import ModelError
from ..collection import no_garbage_collection
from ..custom import CustomRules
from .apply import apply
from .inputs import call_arguments
from .materialise import without_memory
from .measure import record
from .names import Names, parameters_of, tensors_of, unwrapped
from .preflight import preflight
from .shards import refuse_shards
from .walk import walk

NAME = "torch"


def understands(model: Any) -> bool:
    return isinstance(model, nn.Module)


def frozen(model: nn.Module) -> set[str]:
    """Names of parameters that are not to be trained."""
    return {name for name, p in parameters_of(model).items() if not p.requires_grad}


def identities(model: nn.Module) -> dict[str, int]:
    """Which parameter has which name: the same number for names of the same one."""
    return {name: id(p) for name, p in Names(model).all_parameters()}


def names(model: nn.Module) -> set[str]:
    """Names of all parameters and modules."""
    return {*tensors_of(model), *Names(model).modules()}


def analyse(
    model: nn.Module, inputs: Any, options: Options, rules: RuleSet, custom: CustomRules, check: bool
) -> PlanData:
    model = unwrapped(model)
    args, kwargs = call_arguments(inputs, model)
    if not any(True for _ in model.parameters()):
        raise ModelError(
            "the model has no parameters, so there is nothing to initialize",
            where=type(model).__name__,
            received="0 parameters",
            fix="give a model with weights (lazy modules: run one forward first)",
        )
    parameters = parameters_of(model)
    lazy = [n for n, p in parameters.items() if nn.parameter.is_lazy(p)]
    if lazy:
        raise ModelError(
            "the model has lazy parameters without a shape",
            where=lazy[0],
            received="LazyLinear or similar",
            fix="run one forward with a real batch first: model(batch)",
        )
    refuse_shards(parameters)
    with no_garbage_collection():
        graph, signals = walk(
            model, args, kwargs, options, custom, centring=options.center == "activation" and not check
        )
        outcome = propagate(graph, signals, options, rules, check)
        made = build_plan(graph, outcome, options, model=type(model).__name__, framework=NAME, check=check)
        return made if check else replace(made, fills=without_memory(made, model, options))


def measure(
    model: nn.Module, inputs: Any, options: Options, seed: int
) -> dict[tuple[str, str, int, int], tuple[float, float]]:
    model = unwrapped(model)
    args, kwargs = call_arguments(inputs, model)
    refuse_shards(parameters_of(model))
    return record(model, args, kwargs, training=options.training, seed=seed).moments


__all__ = [
    "NAME",
    "CustomRules",
    "analyse",
    "apply",
    "frozen",
    "identities",
    "measure",
    "names",
    "preflight",
    "understands",
]
