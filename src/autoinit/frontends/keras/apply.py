"""Put a plan into a Keras model.

Values are drawn in NumPy, one variable at a time, and given to `Variable.assign`: the variables, the compiled functions
and the optimizer's slots stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.drawing import Draw, centred_bias, slabs
from ...core.drawing.regions import Region
from ...core.plan.plan import ParameterPlan, PlanData
from ..base_apply import Application, Step, Write
from .centring import prepared
from .variables import as_before, autograd_mode, give_values, parameters_of, shape_of, values_of


def apply(plan: PlanData, model: Any, seed: int) -> Any:
    VariableApplication(plan, seed, model).run()
    return model


class VariableApplication(Application[Any, Write[Any]]):
    def __init__(self, plan: PlanData, seed: int, model: Any) -> None:
        super().__init__(plan, seed, parameters_of(model))
        self.model = model

    def shape(self, parameter: Any) -> tuple[int, ...]:
        return shape_of(parameter)

    def is_frozen(self, parameter: Any) -> bool:
        return not parameter.trainable

    def write_of(self, entry: ParameterPlan, parameter: Any) -> Write[Any]:
        return Write(entry, parameter)

    def held(self, write: Write[Any]) -> Callable[[], Any]:
        return as_before(write.parameter)

    def draw(self, write: Write[Any]) -> None:
        give_values(write.parameter)
        write.parameter.assign(_drawn(write.parameter, write.entry, self.plan, self.seed))

    def centre(self, write: Write[Any]) -> None:
        write.parameter.assign(_centred(write.entry, lambda name: _present(self.parameters[name])))

    def first(self, writes: list[Write[Any]]) -> list[Step]:
        """A weight whose mean is cancelled, and that has no values yet and is not drawn, gets them."""
        needed = {part.of for write in writes for part in write.centring} - {write.entry.name for write in writes}
        weights = {name: self.parameters[name] for name in needed}
        return [
            Step("the mode of autograd", lambda: None, autograd_mode()),
            *(Step(name, partial(give_values, v), as_before(v)) for name, v in weights.items()),
        ]

    def last(self) -> list[Step]:
        return prepared(self.plan, self.model)


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


def planned_values(plan: PlanData, parameters: Mapping[str, Any], seed: int) -> dict[str, NDArray[Any]]:
    """What applying the plan would write, by name; nothing is written."""
    made = {
        entry.name: _drawn(parameters[entry.name], entry, plan, seed)
        for entry in plan.changed()
        if parameters[entry.name].trainable
    }
    for entry in plan.changed():
        if entry.name in made and any(part.kind == "centre" for part in entry.parts):
            made[entry.name] = _centred(entry, lambda name: made[name] if name in made else _present(parameters[name]))
    return made


def _centred(entry: ParameterPlan, values: Callable[[str], NDArray[Any]]) -> NDArray[Any]:
    """The biases that cancel the incoming mean of the (freshly drawn) weights."""
    made = values(entry.name)
    for part in entry.parts:
        if part.kind == "centre":
            weight = values(part.of)
            region = Region.of(entry.shape, part.shape, part.stride, part.offset)
            region.put(made, [0] * made.ndim, centred_bias(part, weight.shape, _pieces(weight)))
    return made


def _pieces(weight: NDArray[Any]) -> Iterator[tuple[list[int], NDArray[Any]]]:
    for low, shape in slabs(weight.shape):
        yield low, weight[tuple(slice(a, a + n) for a, n in zip(low, shape, strict=True))].astype(np.float64)
