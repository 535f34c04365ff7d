"""The Keras 3 front end behind the public API."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import keras

from ...core.options import Options
from ...core.plan.measured import Moments
from ...core.plan.plan import PlanData
from ...core.plan.preflight import Preflight
from ...core.solve.outcome import RuleSet
from ..base_plan import marks_activations, no_parameters, planned
from ..budget import Budget
from ..collection import no_garbage_collection
from ..custom import CustomRules
from ..lock import WALKING
from . import apply as applying
from .centred import centred_activation, on_arrays
from .centring import named_layers
from .inputs import call_arguments
from .measure import record
from .state import looking
from .variables import parameters_of
from .walk import build, walk
from .watching import Probe

NAME = "keras"

_WITHOUT_WEIGHTS: WeakKeyDictionary[Any, tuple[list[Any], dict[str, Any]]] = WeakKeyDictionary()
"""Models that were planned before they had weights, which planning does not give them, and their inputs."""


def understands(model: Any) -> bool:
    return isinstance(model, keras.layers.Layer)


def bound(model: Any, inputs: Any, values: bool) -> Any:
    """Models hold their parameters."""
    return model


def frozen(model: Any) -> set[str]:
    """Names of parameters that are not to be trained."""
    return {name for name, variable in parameters_of(model).items() if not variable.trainable}


def identities(model: Any) -> dict[str, int]:
    """Which parameter has which name."""
    return {name: id(variable) for name, variable in parameters_of(model).items()}


def shapes(model: Any) -> dict[str, tuple[int, ...]]:
    """The parameters that a plan of `model` names."""
    return {name: tuple(variable.shape) for name, variable in parameters_of(model).items()}


def names(model: Any) -> set[str]:
    """Names of all parameters and layers."""
    return {*parameters_of(model), *named_layers(model)}


def analyse(model: Any, inputs: Any, options: Options, rules: RuleSet, custom: CustomRules, check: bool) -> PlanData:
    with WALKING, looking(model) as looks, no_garbage_collection():
        centring = marks_activations(options, check)
        made = walk(model, inputs, options.training, custom, centring, Budget.start(options), looks)
        if not looks.was_built:
            _WITHOUT_WEIGHTS[model] = call_arguments(model, inputs)[:2]
        if not parameters_of(model):
            raise no_parameters(model, "give a model with weights")
        name = type(model).__name__
        return planned(made.graph, made.signals, options, rules, model=name, framework=NAME, check=check)


def apply(plan: PlanData, model: Any, seed: int) -> Any:
    """Put a plan into a model. One that had no weights when it was planned gets them now, as it was planned."""
    planned = _WITHOUT_WEIGHTS.pop(model, None)
    if planned is not None:
        build(model, *planned)
    return applying.apply(plan, model, seed)


def measure(model: Any, inputs: Any, options: Options, seed: int) -> Moments:
    return record(model, inputs, training=options.training, seed=seed, budget=Budget.start(options))


def preflight(model: Any) -> Preflight | None:
    """Keras models know their inputs: without any, `check` predicts."""
    return None


def probe(model: Any, training: bool) -> Probe:
    return Probe(model, training)


__all__ = [
    "NAME", "analyse", "apply", "bound", "centred_activation", "frozen", "identities", "measure", "names", "on_arrays",
    "preflight", "probe", "shapes", "understands",
]  # fmt: skip
