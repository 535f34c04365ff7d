"""The PyTorch front end behind the public API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from ...core.options import Options
from ...core.plan.measured import Moments
from ...core.plan.plan import PlanData
from ...core.solve.outcome import RuleSet
from ...errors import ModelError
from ..base_plan import marks_activations, no_parameters, planned
from ..collection import no_garbage_collection
from ..custom import CustomRules
from .apply import apply
from .calibrating import calibration
from .centred import centred_activation, on_arrays
from .gradients import gradients
from .inputs import call_arguments
from .materialise import without_memory
from .measure import record
from .names import Names, parameters_of, tensors_of, unwrapped
from .preflight import preflight
from .shards import refuse_shards
from .walk import walk
from .watching import Probe

NAME = "torch"


def understands(model: Any) -> bool:
    return isinstance(model, nn.Module)


def bound(model: Any, inputs: Any, values: bool) -> Any:
    """Models hold their parameters."""
    if not hasattr(model, "_parameters"):
        raise ModelError("the model's class does not call its parent's constructor", where=type(model).__name__,
                         received=f"a {type(model).__name__} without parameters and modules",
                         fix="super().__init__() first in its __init__")  # fmt: skip
    return model


def frozen(model: nn.Module) -> set[str]:
    """Names of parameters that are not to be trained."""
    return {name for name, p in parameters_of(model).items() if not p.requires_grad}


def identities(model: nn.Module) -> dict[str, int]:
    """Which parameter has which name: the same number for names of the same one."""
    return {name: id(p) for name, p in Names(model).all_parameters()}


def shapes(model: nn.Module) -> dict[str, tuple[int, ...]]:
    """The parameters that a plan of `model` names."""
    return {name: tuple(p.shape) for name, p in parameters_of(model).items()}


def names(model: nn.Module) -> set[str]:
    """Names of all parameters and modules."""
    return {*tensors_of(model), *Names(model).modules()}


def analyse(
    model: nn.Module, inputs: Any, options: Options, rules: RuleSet, custom: CustomRules, check: bool
) -> PlanData:
    model = unwrapped(model)
    args, kwargs = call_arguments(inputs, model)
    if not any(True for _ in model.parameters()):
        raise no_parameters(model, "give a model with weights (lazy: run one forward first; quantized: before)")
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
    _refuse_inference(parameters)
    with no_garbage_collection():
        return _analysed(model, args, kwargs, options, rules, custom, check)


def _analysed(
    model: nn.Module, args: list[Any], kwargs: dict[str, Any], options: Options, rules: RuleSet, custom: CustomRules,
    check: bool,
) -> PlanData:  # fmt: skip
    graph, signals = walk(model, args, kwargs, options, custom, centring=marks_activations(options, check))
    made = planned(graph, signals, options, rules, model=type(model).__name__, framework=NAME, check=check)
    bare = graph.other_names and not check
    return replace(made, fills=without_memory(made, model, options)) if bare else made


def _refuse_inference(parameters: Mapping[str, torch.Tensor]) -> None:
    """Tensors made in inference mode can be written to there alone, and never be trained."""
    made = [] if torch.is_inference_mode_enabled() else [n for n, p in parameters.items() if p.is_inference()]
    if made:
        raise ModelError("the parameter was made in inference mode, it cannot be trained", where=made[0],
                         received="a model made under torch.inference_mode()",
                         fix="make the model outside of it")  # fmt: skip


def measure(model: nn.Module, inputs: Any, options: Options, seed: int) -> Moments:
    model = unwrapped(model)
    args, kwargs = call_arguments(inputs, model)
    refuse_shards(parameters_of(model))
    return record(model, args, kwargs, training=options.training, seed=seed).moments


def measure_gradients(model: nn.Module, inputs: Any, options: Options, seed: int) -> dict[str, float]:
    model = unwrapped(model)
    args, kwargs = call_arguments(inputs, model)
    refuse_shards(parameters_of(model))
    return gradients(model, args, kwargs, training=options.training, seed=seed)


def probe(model: nn.Module, training: bool) -> Probe:
    return Probe(model, training)


__all__ = [
    "NAME", "analyse", "apply", "bound", "calibration", "centred_activation", "frozen", "identities", "measure",
    "measure_gradients",
    "names", "on_arrays", "preflight", "probe", "shapes", "understands",
]  # fmt: skip
