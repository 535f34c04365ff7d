"""A part of a plan by its name: ``plan["blocks.3"]``."""

from __future__ import annotations

from dataclasses import dataclass

from ...names import shown
from .plan import ParameterPlan, PlanData, TensorPlan
from .verdicts import WORST_FIRST, Judge, Verdict

SEPARATORS = (".", "/", "[")
"""Between a module's name and that of what is inside."""


@dataclass(frozen=True, slots=True, repr=False)
class LayerPlan:
    """What a plan knows of one module, and of all modules inside: a layer, a block, half of the model."""

    name: str
    parameters: tuple[ParameterPlan, ...]
    tensors: tuple[TensorPlan, ...]
    """What comes out of its operations, in the order of execution."""
    verdict: Verdict | None
    """The worst of its weight layers'; None if it has none."""

    @property
    def weight_layers(self) -> list[TensorPlan]:
        return [t for t in self.tensors if t.weight is not None]

    @property
    def std(self) -> float | None:
        """That its (first) weight gets."""
        return next((p.std for p in self.parameters if p.action == "set"), None)

    @property
    def shape(self) -> list[int] | None:
        """Of what comes out in the end; None if nothing was predicted there."""
        return self.tensors[-1].shape if self.tensors else None

    @property
    def mean(self) -> float | None:
        """Predicted for what comes out in the end."""
        return self.tensors[-1].mean if self.tensors else None

    @property
    def variance(self) -> float | None:
        """Predicted for what comes out in the end, over the whole tensor."""
        return self.tensors[-1].tensor_variance if self.tensors else None

    def __repr__(self) -> str:
        counts = f"{len(self.parameters)} parameters, {len(self.tensors)} tensors"
        return f"<Layer {shown(self.name)}: {counts}{f', {self.verdict}' if self.verdict else ''}>"


def is_inside(name: str, module: str) -> bool:
    """Whether something of this name is the module, or in it."""
    return name == module or (name.startswith(module) and name[len(module) : len(module) + 1] in SEPARATORS)


def layer(plan: PlanData, name: str) -> LayerPlan | None:
    """The part of the plan about a module; None if it has none of that name."""
    if not name:
        return None
    parameters = tuple(p for p in plan.parameters if any(is_inside(n, name) for n in (p.name, *p.aliases)))
    tensors = tuple(t for t in plan.tensors if is_inside(t.module, name))
    if not parameters and not tensors:
        return None
    judge = Judge(plan)
    words = [judge.predicted(t) for t in tensors if t.weight is not None]
    return LayerPlan(name, parameters, tensors, min(words, key=WORST_FIRST.index, default=None))
