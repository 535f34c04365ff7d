"""What was seen: one weight layer at one step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import isfinite, nan

from ..core.plan.plan import PlanData, TensorPlan


@dataclass(frozen=True, slots=True)
class Observation:
    """Mean and variance of a weight layer's output at a training step, over the whole tensor."""

    step: int
    """Updates of the weights before this one; 0 is the initialization."""
    layer: str
    mean: float
    variance: float
    nonfinite: int
    """Entries that are inf or nan; mean and variance are nan then."""
    predicted: TensorPlan

    @property
    def ratio(self) -> float:
        """Variance over the predicted one."""
        expected = self.predicted.tensor_variance
        return self.variance / expected if expected and expected > 0 else nan

    def to_dict(self) -> dict[str, float | int | str | None]:
        numbers = {"mean": self.mean, "variance": self.variance, "ratio": self.ratio}
        return {
            "step": self.step,
            "layer": self.layer,
            **{name: value if isfinite(value) else None for name, value in numbers.items()},
            "nonfinite": self.nonfinite,
        }


def layer_names(plan: PlanData) -> dict[int, str]:
    """A name of its own for every weight layer, by index: the module, numbered where it holds several."""
    names = [(t.index, t.module or "(model)") for t in plan.weight_layers]
    several = Counter(name for _, name in names)
    met: Counter[str] = Counter()
    made = {}
    for index, name in names:
        met[name] += 1
        made[index] = name if several[name] == 1 else f"{name}:{met[name]}"
    return made
