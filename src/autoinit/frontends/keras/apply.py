"""Put a plan into a Keras model: all of it, or nothing.

Everything that can go wrong is found out before the first write. Values are drawn in NumPy, one variable at a time,
and given to `Variable.assign`: the variables, the compiled functions and the optimizer's slots stay what they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.drawing import centred_bias, check_part, covers, fill, kind_of, region
from ...core.plan import ParameterPlan, Plan
from ...errors import PlanError
from .centring import prepared
from .variables import give_values, parameters_of, shape_of, values_of


def apply(plan: Plan, model: Any, seed: int) -> Any:
    if plan.checked:
        raise PlanError("this plan only describes the present weights", where="Plan.apply",
                        fix="use autoinit.plan(...) instead of check(...)")  # fmt: skip
    parameters = parameters_of(model)
    for entry in plan.changed():
        _fits(entry, parameters.get(entry.name), plan)
    changing = [entry for entry in plan.changed() if parameters[entry.name].trainable]
    centring = prepared(plan, model)
    aside = {e.name: _drawn(parameters[e.name], e, plan, seed) for e in changing if _needs_work(e, plan)}
    for entry in changing:
        variable = parameters[entry.name]
        _give(variable, aside.pop(entry.name) if entry.name in aside else _drawn(variable, entry, plan, seed))
    for entry in changing:
        if any(part.kind == "centre" for part in entry.parts):
            _centre(parameters, entry)
    for centre in centring:
        centre()
    return model


def _needs_work(entry: ParameterPlan, plan: Plan) -> bool:
    return any(kind_of(part, plan.distribution) == "orthogonal" for part in entry.parts)


def _drawn(variable: Any, entry: ParameterPlan, plan: Plan, seed: int) -> NDArray[Any]:
    """New values for a variable (regions that no part covers keep theirs), leaving it alone."""
    flat = _present(variable) if not covers(entry) else np.empty(int(np.prod(entry.shape)), dtype=_dtype(variable))
    fill(flat, entry, plan.distribution, seed, plan.exact)
    return flat.reshape(entry.shape)


def _dtype(variable: Any) -> Any:
    return np.float64 if variable.dtype == "float64" else np.float32


def _present(variable: Any) -> NDArray[Any]:
    give_values(variable)
    array = values_of(variable)
    assert array is not None
    return np.array(array, dtype=_dtype(variable)).reshape(-1)


def _give(variable: Any, array: NDArray[Any]) -> None:
    give_values(variable)
    variable.assign(array)


def _centre(parameters: dict[str, Any], entry: ParameterPlan) -> None:
    """Write the biases that cancel the incoming mean of the (freshly drawn) weights."""
    variable = parameters[entry.name]
    flat = _present(variable)
    for part in entry.parts:
        weight = parameters.get(part.of)
        if part.kind == "centre" and weight is not None:
            target = region(flat, part.shape, part.stride, part.offset)
            target[...] = centred_bias(_present(weight), part)
    _give(variable, flat.reshape(entry.shape))


def _fits(entry: ParameterPlan, variable: Any, plan: Plan) -> None:
    if variable is None:
        raise PlanError("the model has no parameter of that name", where="Plan.apply", received=entry.name,
                        fix="apply a plan to the model it was made for")  # fmt: skip
    shape = shape_of(variable)
    if list(shape) != entry.shape:
        raise PlanError("the parameter has another shape than in the plan", where=entry.name,
                        received=f"{shape}, planned {tuple(entry.shape)}",
                        fix="make a new plan for this model")  # fmt: skip
    for part in entry.parts:
        check_part(entry, part, plan.distribution)
