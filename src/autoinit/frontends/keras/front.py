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
from ..collection import no_garbage_collection
from ..custom import CustomRules
from .apply import apply
from .measure import record
from .variables import parameters_of
from .walk import walk

NAME = "keras"


def understands(model: Any) -> bool:
    return isinstance(model, keras.layers.Layer)


def frozen(model: Any) -> set[str]:
    """Names of parameters that are not to be trained."""
    return {name for name, variable in parameters_of(model).items() if not variable.trainable}


def analyse(model: Any, inputs: Any, options: Options, rules: RuleSet, custom: CustomRules, check: bool) -> Plan:
    with no_garbage_collection():
        made = walk(model, inputs, options.training, custom, options.center == "activation" and not check)
        if not parameters_of(model):
            raise ModelError("the model has no parameters, so there is nothing to initialize",
                             where=type(model).__name__, received="0 parameters",
                             fix="give a model with weights")  # fmt: skip
        outcome = propagate(made.graph, made.signals, options, rules, check)
        return build_plan(made.graph, outcome, options, model=type(model).__name__, framework=NAME, check=check)


def measure(
    model: Any, inputs: Any, options: Options, seed: int
) -> dict[tuple[str, str, int, int], tuple[float, float]]:
    return record(model, inputs, training=options.training, seed=seed)


__all__ = ["NAME", "CustomRules", "analyse", "apply", "frozen", "measure", "understands"]
