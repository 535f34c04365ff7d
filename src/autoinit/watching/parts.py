"""Which part of a larger module a plan is of."""

from __future__ import annotations

from typing import Any

from ..errors import ModelError, PlanError
from ..frontends.torch.front import shapes
from ..plans import Plan


def part_of(whole: Any, plan: Plan | None, name: str | None = None) -> Any:
    """The submodule called `name`, or the outermost module with exactly the parameters of `plan`, or the whole."""
    if name is not None:
        found = dict(whole.named_modules()).get(name)
        if found is None:
            raise ModelError("the model has no module of that name", where="option 'module'", received=repr(name),
                             fix=f"one of: {', '.join(n for n, _ in whole.named_children())} ...")  # fmt: skip
        return found
    if plan is None:
        return whole
    planned = {p.name: tuple(p.shape) for p in plan.parameters}
    for module in whole.modules():
        if shapes(module) == planned:
            return module
    raise PlanError("no part of the model has the parameters that the plan is of", where=type(whole).__name__,
                    received=f"a plan of {plan.model}", fix="make a plan of this model or of a part")  # fmt: skip
