"""What a front end is: one module for each framework, which the rest of the package asks through this protocol.

A front end translates; it holds no formula. Where the frameworks need the same, it is in the files beside this one:
`base_tracer` and `base_call` make the graph, `base_plan` the plan of it, `base_apply` puts one into a model,
`base_centring` finds activations, `base_ancestry` follows tensors back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..core.options import Options
from ..core.plan.measured import Key, Moments
from ..core.plan.plan import PlanData
from ..core.plan.preflight import Preflight
from ..core.solve.outcome import RuleSet
from .custom import CustomRules

Statistics = tuple[float, float, int]
"""Mean, variance, and how many entries are not finite."""


class FrontEnd(Protocol):
    """The functions of ``autoinit.frontends.<framework>.front``."""

    NAME: str
    """The framework."""

    def understands(self, model: Any) -> bool:
        """Whether this is a model of the framework."""

    def bound(self, model: Any, inputs: Any, values: bool) -> Any:
        """The model with parameters, where it keeps none and none were given; `values`: with real ones."""

    def analyse(
        self, model: Any, inputs: Any, options: Options, rules: RuleSet, custom: CustomRules, check: bool
    ) -> PlanData:
        """Walk the model without touching it, and plan it; `check`: for the weights that it has."""

    def apply(self, plan: PlanData, model: Any, seed: int) -> Any:
        """Write what is planned, all of it or nothing; returns the model (a new one, where models are values)."""

    def measure(self, model: Any, inputs: Any, options: Options, seed: int) -> Moments:
        """Mean and variance of every tensor in a real run, by the keys of the plan's rows. Changes nothing."""

    def preflight(self, model: Any) -> Preflight | None:
        """What parameters and buffers hold, without a run; None where `check` without inputs means a prediction."""

    def names(self, model: Any) -> set[str]:
        """Of all parameters and modules, as plans have them."""

    def shapes(self, model: Any) -> dict[str, tuple[int, ...]]:
        """The parameters that a plan of the model names."""

    def frozen(self, model: Any) -> set[str]:
        """Names of parameters that are not to be trained: they are never written."""

    def identities(self, model: Any) -> dict[str, int]:
        """Which parameter has which name: the same number for names of the same one."""

    def probe(self, model: Any, training: bool) -> Probe:
        """What looks at the model while it is trained."""

    def centred_activation(self, activation: Any, mean: float, variance: float) -> Any:
        """A copy of the framework's activation with its mean taken off; None if this is none of its."""

    def on_arrays(self, function: Callable[..., Any]) -> Callable[[Any], Any]:
        """A function of the framework's tensors as one of NumPy arrays."""


class Probe(Protocol):
    """Takes statistics of a model that is being trained, and changes nothing about it."""

    model: Any
    """What is analysed: without wrappers."""

    @property
    def calls_back(self) -> bool:
        """Whether `attach` hears of training forwards by itself."""

    def attach(self, seen: Callable[[Any], None]) -> Callable[[], None]:
        """Call `seen(inputs)` before every training forward; returns what takes the hook away again."""

    def aside(self) -> AbstractContextManager[None]:
        """Where the model can be analysed in the middle of a training step."""

    def look(self, inputs: Any, wanted: set[Key], seed: int) -> dict[Key, Statistics]:
        """The statistics of the wanted tensors in a forward with `inputs`."""
