"""Put a plan into a Keras model: all of it, or nothing.

What can be found out beforehand is; whatever goes wrong from the first write on is undone. Values are drawn in NumPy,
one variable at a time, and given to `Variable.assign`: the variables, the compiled functions and the optimizer's slots
stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.drawing import Draw, centred_bias, slabs
from ...core.drawing.regions import Region
from ...core.plan.plan import ParameterPlan, PlanData
from ...errors import PlanError
from ..transaction import Transaction
from .centring import prepared
from .variables import as_before, autograd_mode, give_values, parameters_of, shape_of, values_of


def apply(plan: PlanData, model: Any, seed: int) -> Any:
    parameters = parameters_of(model)
    planned = {entry.name: entry for entry in plan.parameters}
    for entry in plan.changed():
        _fits(entry, parameters.get(entry.name))
        for part in entry.parts:
            if part.kind == "centre":
                _fits(planned[part.of], parameters.get(part.of))
    changing = [entry for entry in plan.changed() if parameters[entry.name].trainable]
    centring = prepared(plan, model)
    centred = [entry for entry in changing if any(part.kind == "centre" for part in entry.parts)]
    weights = {part.of for entry in centred for part in entry.parts if part.kind == "centre"}
    before = {name: as_before(parameters[name]) for name in {e.name for e in changing} | weights}
    with Transaction() as writes:
        writes.undo("the mode of autograd", autograd_mode())
        for name in weights - {entry.name for entry in changing}:  # one that has no values yet gets them
            writes.undo(name, before[name])
            give_values(parameters[name])
        for entry in changing:
            variable = parameters[entry.name]
            writes.undo(entry.name, before[entry.name])
            give_values(variable)
            variable.assign(_drawn(variable, entry, plan, seed))
            writes.breathe()
        for entry in centred:
            parameters[entry.name].assign(_centred(parameters, entry))
            writes.breathe()
        for centre in centring:
            centre(writes)
    return model


def _drawn(variable: Any, entry: ParameterPlan, plan: PlanData, seed: int) -> NDArray[Any]:
    """New values for a variable (regions that no part covers keep theirs), leaving it alone."""
    draw = Draw(entry, plan.distribution, seed, plan.exact)
    made = np.empty(entry.shape, dtype=_dtype(variable)) if draw.covers else _present(variable)
    draw.into(made)
    return made


def _dtype(variable: Any) -> Any:
    return np.float64 if variable.dtype == "float64" else np.float32


def _present(variable: Any) -> NDArray[Any]:
    give_values(variable)
    array = values_of(variable)
    assert array is not None
    return np.array(array, dtype=_dtype(variable))


def _centred(parameters: dict[str, Any], entry: ParameterPlan) -> NDArray[Any]:
    """The biases that cancel the incoming mean of the (freshly drawn) weights."""
    made = _present(parameters[entry.name])
    for part in entry.parts:
        if part.kind == "centre":
            weight = _present(parameters[part.of])
            region = Region.of(entry.shape, part.shape, part.stride, part.offset)
            region.put(made, [0] * made.ndim, centred_bias(part, weight.shape, _pieces(weight)))
    return made


def _pieces(weight: NDArray[Any]) -> Iterator[tuple[list[int], NDArray[Any]]]:
    for low, shape in slabs(weight.shape):
        yield low, weight[tuple(slice(a, a + n) for a, n in zip(low, shape, strict=True))].astype(np.float64)


def _fits(entry: ParameterPlan, variable: Any) -> None:
    if variable is None:
        raise PlanError("the model has no parameter of that name", where="Plan.apply", received=entry.name,
                        fix="apply a plan to the model it was made for")  # fmt: skip
    shape = shape_of(variable)
    if list(shape) != list(entry.shape):
        raise PlanError("the parameter has another shape than in the plan", where=entry.name,
                        received=f"{shape}, planned {tuple(entry.shape)}",
                        fix="make a new plan for this model")  # fmt: skip
