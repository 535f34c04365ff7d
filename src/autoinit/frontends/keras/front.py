"""The Keras 3 front end behind the public API."""

from __future__ import annotations

from typing import Any

import keras

from ...core.build import build_plan
from ...core.options import Options
from ...core.outcome import RuleSet
from ...core.plan import Plan
from ...core.propagate import propagate
from ...errors import ModelError
from ..budget import Budget
from ..collection import no_garbage_collection
from ..custom import CustomRules
from ..lock import WALKING
from .apply import apply
from .inputs import call_arguments
from .measure import record
from .state import looking
from .variables import parameters_of
from .walk import build, walk

NAME = "keras"


def understands(model: Any) -> bool:
    return isinstance(model, keras.layers.Layer)


def frozen(model: Any) -> set[str]:
    """Names of parameters that are not to be trained."""
    return {name for name, variable in parameters_of(model).items() if not variable.trainable}


def analyse(model: Any, inputs: Any, options: Options, rules: RuleSet, custom: CustomRules, check: bool) -> Plan:
    with WALKING, looking(model) as looks, no_garbage_collection():
        centring = options.center == "activation" and not check
        made = walk(model, inputs, options.training, custom, centring, Budget.start(options), looks)
        if not parameters_of(model):
            raise ModelError("the model has no parameters, so there is nothing to initialize",
                             where=type(model).__name__, received="0 parameters",
                             fix="give a model with weights")  # fmt: skip
        outcome = propagate(made.graph, made.signals, options, rules, check)
        return build_plan(made.graph, outcome, options, model=type(model).__name__, framework=NAME, check=check)


def prepare(model: Any, inputs: Any) -> None:
    """Give a model that has no weights yet its weights, before they are set."""
    args, kwargs, _ = call_arguments(model, inputs)
    build(model, args, kwargs)


def measure(
    model: Any, inputs: Any, options: Options, seed: int
) -> dict[tuple[str, str, int, int], tuple[float, float]]:
    return record(model, inputs, training=options.training, seed=seed, budget=Budget.start(options))


__all__ = ["NAME", "CustomRules", "analyse", "apply", "frozen", "measure", "prepare", "understands"]
