"""An activation function of the search space: its graph, and everything that can be made of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.lazy import lazy
from ...errors import OptionError
from . import formula, records
from .graph import LIMIT, FunctionError, Node, evaluate
from .operators import OPERATORS

if TYPE_CHECKING:
    import keras

    from .compiled_jax import Apply
    from .compiled_torch import Activation

REFERENCE = {name: operator.value for name, operator in OPERATORS.items()}


@dataclass(frozen=True)
class Function:
    """f(x) as a graph of operators with at most three learnable parameters. Equal graphs are equal functions."""

    graph: Node

    def __post_init__(self) -> None:
        if not isinstance(self.graph, Node):
            raise FunctionError("a function is made of a graph", where="Function", received=repr(self.graph),
                                fix='Function.parse("tanh(x)") reads a formula')  # fmt: skip
        if self.graph.size > LIMIT:
            raise FunctionError(f"a function has at most {LIMIT} operators", where="Function",
                                received=f"{self.graph.size}", fix="remove some")  # fmt: skip

    # --- where functions come from --------------------------------------------------------------------

    @classmethod
    def random(cls, rng: np.random.Generator, mutations: int = 3, parameters: int = 3) -> Function:
        """A minimal graph, so many mutations, then up to so many parameters; see `creation`."""
        from .creation import random_function

        return random_function(rng, mutations, parameters)

    @classmethod
    def parse(cls, text: str) -> Function:
        """The function that a formula describes; see the module `formula` for what may be written."""
        return cls(formula.read(text))

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Function:
        return cls(records.read(record))

    def mutate(self, rng: np.random.Generator) -> Function:
        """Another function, one mutation away; see `mutation`."""
        from .mutation import mutate

        return mutate(self, rng)

    # --- what it is -----------------------------------------------------------------------------------

    @lazy
    def formula(self) -> str:
        return formula.write(self.graph)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the learnable parameters in use."""
        return self.graph.parameters

    @property
    def size(self) -> int:
        """The number of operators."""
        return self.graph.size

    def to_dict(self) -> dict[str, Any]:
        """Nested dictionaries and lists that JSON can hold."""
        return records.write(self.graph)

    @lazy
    def key(self) -> str:
        """Twelve hexadecimal digits that follow from the graph alone, the same on every machine."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def __str__(self) -> str:
        return self.formula

    def __repr__(self) -> str:
        return f"Function.parse({self.formula!r})"

    # --- what it does ---------------------------------------------------------------------------------

    def __call__(self, x: Any, **parameters: Any) -> Any:
        """The value in NumPy and double precision: the reference for all compilers. Parameters default to one."""
        unknown = sorted(set(parameters) - set(self.parameters))
        if unknown:
            raise OptionError(f"{self.formula} has no such parameter", where="Function", received=", ".join(unknown),
                              fix=f"its parameters: {', '.join(self.parameters) or 'none'}")  # fmt: skip
        values = {name: np.asarray(parameters.get(name, 1.0), np.float64) for name in self.parameters}
        with np.errstate(all="ignore"):
            return evaluate(self.graph, np.asarray(x, np.float64), REFERENCE, values)

    def torch(self, channels: int, axis: int = 1) -> Activation:
        """A PyTorch module with one value of each parameter per channel; `axis` is where the channels are."""
        from .compiled_torch import Activation

        return Activation(self, channels, axis)

    def keras(self, **layer_options: Any) -> keras.layers.Layer:
        """A Keras layer with one value of each parameter per channel; channels come last."""
        from .compiled_keras import PangaeaActivation

        return PangaeaActivation(self.formula, **layer_options)

    def jax(self, channels: int) -> tuple[dict[str, Any], Apply]:
        """(parameters, fn) with `fn(parameters, x)`, one value of each parameter per channel; channels come last."""
        from .compiled_jax import compiled

        return compiled(self, channels)
