"""The JAX front end behind the public API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.options import Options
from ...core.plan.calibration import Place
from ...core.plan.measured import Moments
from ...core.plan.plan import PlanData
from ...core.plan.preflight import Preflight
from ...core.solve.outcome import RuleSet
from ...errors import OptionError
from ..base_plan import marks_activations, no_parameters, planned
from ..collection import no_garbage_collection
from ..custom import CustomRules
from ..parameters_given import WithParameters
from . import apply as applying
from . import calibrating
from .adapters import adapted, adapter_of, is_structure
from .centred import centred_activation, on_arrays
from .gradients import gradients
from .made import bound
from .measure import record
from .own import check_targets
from .trace import trace
from .watching import Probe

NAME = "jax"


def understands(model: Any) -> bool:
    """Modules of the libraries; functions that come with their parameters; parameters alone, to apply a plan to."""
    return isinstance(model, WithParameters) or adapter_of(model) is not None or is_structure(model)


def frozen(model: Any) -> set[str]:
    """Names of parameters that are not to be trained."""
    return {name for name, held in adapted(model).parameters.items() if not held.trainable}


def identities(model: Any) -> dict[str, int]:
    """Which parameter has which name."""
    parameters = adapted(model).parameters.values()
    return {name: id(held) for held in parameters for name in (held.name, *held.aliases)}


def shapes(model: Any) -> dict[str, tuple[int, ...]]:
    """The parameters that a plan of `model` names."""
    return {name: held.shape for name, held in adapted(model).parameters.items()}


def names(model: Any) -> set[str]:
    """Names of all parameters and modules."""
    made = adapted(model)
    return {*made.modules(), *(name for held in made.arrays for name in (held.name, *held.aliases))}


def analyse(model: Any, inputs: Any, options: Options, rules: RuleSet, custom: CustomRules, check: bool) -> PlanData:
    if marks_activations(options, check):
        raise OptionError("activations of JAX's models are functions in their code, which a plan cannot exchange",
                          where="option 'center'", received=repr(options.center),
                          fix='center="bias", or autoinit.centered(jax.nn.relu) in the model')  # fmt: skip
    if isinstance(options.rules, Mapping):
        check_targets(list(options.rules))
    made = adapted(model)
    if not made.parameters:
        raise no_parameters(model, "give a model with weights")
    with no_garbage_collection():
        program, inputs = made.program(inputs, options.training)
        traced = trace(program, inputs, options, custom)
        return planned(traced.graph, traced.signals, options, rules, model=made.name, framework=NAME, check=check)


def apply(plan: PlanData, model: Any, seed: int) -> Any:
    return applying.apply(plan, adapted(model), seed)


def calibration(plan: PlanData, model: Any, inputs: Any, seed: int) -> tuple[dict[Place, float], list[str]]:
    return calibrating.calibration(plan, adapted(model), inputs, seed)


def measure(model: Any, inputs: Any, options: Options, seed: int) -> Moments:
    program, inputs = adapted(model).program(inputs, options.training)
    return record(program, inputs, options, seed)


def measure_gradients(model: Any, inputs: Any, options: Options, seed: int) -> dict[str, float]:
    program, inputs = adapted(model).program(inputs, options.training)
    return gradients(program, inputs, options, seed)


def preflight(model: Any) -> Preflight | None:
    """Models of JAX have no memory that nobody wrote to: without inputs, `check` says that it needs them."""
    return None


def probe(model: Any, training: bool) -> Probe:
    return Probe(model, training)


__all__ = [
    "NAME", "analyse", "apply", "bound", "calibration", "centred_activation", "frozen", "identities", "measure",
    "measure_gradients",
    "names", "on_arrays", "preflight", "probe", "shapes", "understands",
]  # fmt: skip
