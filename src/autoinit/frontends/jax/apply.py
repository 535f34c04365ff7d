"""Put a plan into a model: in place where its library has variables, else as a new model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import jax

from ...core.plan.plan import ParameterPlan, PlanData
from ...errors import PlanError
from ..base_apply import Application, Step, Write
from .drawing import filled, fillings, refuse_types
from .held import Adapted, Held


def apply(plan: PlanData, model: Adapted, seed: int) -> Any:
    HeldApplication(plan, seed, model).run()
    complete(model, (*model.arrays, *model.others))
    return model.holding()


class HeldApplication(Application[Held, Write[Held]]):
    def __init__(self, plan: PlanData, seed: int, model: Adapted) -> None:
        names = {name: held for held in model.parameters.values() for name in (held.name, *held.aliases)}
        super().__init__(plan, seed, names)
        self.model = model

    def run(self) -> list[Write[Held]]:
        kept = {part.of for entry in self.plan.changed() for part in entry.parts if part.kind == "centre"}
        kept -= {entry.name for entry in self.plan.changed()}
        present = {name: self._values(name) for name in kept if name in self.parameters}
        dtypes = {name: held.dtype for name, held in self.parameters.items()}
        self.fillings = fillings(self.plan, dtypes, present)
        return super().run()

    def _values(self, name: str) -> Any:
        values = self.parameters[name].values()
        if values is None:
            raise PlanError("a weight whose mean is cancelled has no values", where=name,
                            received="an abstract array", fix="build the model with real arrays")  # fmt: skip
        return values

    def shape(self, parameter: Held) -> tuple[int, ...]:
        return parameter.shape

    def is_frozen(self, parameter: Held) -> bool:
        return not parameter.trainable

    def refuse(self, entry: ParameterPlan, parameter: Held) -> None:
        super().refuse(entry, parameter)
        refuse_types(entry.name, parameter.array)
        if isinstance(parameter.array, jax.core.Tracer):
            raise PlanError("a plan cannot be applied inside of a traced function", where=entry.name,
                            received="a tracer", fix="apply it outside of jit, or use autoinit.linen.init, "
                            "autoinit.haiku.transform or autoinit.nnx.create")  # fmt: skip

    def write_of(self, entry: ParameterPlan, parameter: Held) -> Write[Held]:
        return Write(entry, parameter)

    def held(self, write: Write[Held]) -> Callable[[], Any]:
        return partial(self.model.put, write.parameter, write.parameter.array)

    def first(self, writes: list[Write[Held]]) -> list[Step]:
        """What keeps a part of its values gets those, if it has none yet."""
        needed = [w.parameter for w in writes if not self.fillings[w.entry.name].covers]
        return [Step("what the constructor gives", partial(complete, self.model, needed))]

    def draw(self, write: Write[Held]) -> None:
        made = filled(self.fillings[write.entry.name], self.seed, write.parameter.array)
        self.model.put(write.parameter, made)

    def centre(self, write: Write[Held]) -> None:
        """Nothing is left to do: values are functions of the seed, so `draw` knew the weight already."""


def complete(model: Adapted, arrays: Iterable[Held]) -> None:
    """Those without values get what the model's constructor gives; or nobody knows them."""
    left = [held for held in arrays if isinstance(held.array, jax.ShapeDtypeStruct)]
    if left and (model.made is None or model.made.complete is None):
        raise PlanError("arrays of an abstract model keep the values that its constructor gives, and nobody knows them",
                        where=left[0].name, received=f"{len(left)} such arrays",
                        fix="build the model with real arrays; or give the constructor to autoinit.nnx.create or "
                        "autoinit.equinox.create")  # fmt: skip
    if left and model.made is not None and model.made.complete is not None:
        for held, array in zip(left, model.made.complete([held.place for held in left]), strict=True):
            model.put(held, array)
