"""One model of a zoo: how to build it and what to feed it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """`name` is "zoo:model". `inputs` is what `autoinit.plan` takes, or a function of the model that returns it."""

    name: str
    family: str
    build: Callable[[], Any]
    inputs: Any
    note: str = ""
    small: bool = False
    """Known to be small: never built without memory first, which some libraries do not survive."""

    @property
    def zoo(self) -> str:
        return self.name.split(":", 1)[0]

    def inputs_of(self, model: Any) -> Any:
        return self.inputs(model) if callable(self.inputs) else self.inputs
