"""Models that keep no parameters of their own: these come with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.checks import brief
from ..errors import ModelError


@dataclass(frozen=True, eq=False)
class WithParameters:
    """A function (or what makes one), and the structure of arrays or shapes that it is called with first."""

    model: Any
    parameters: Any


def keeps_its_own(model: Any, parameters: Any) -> Any:
    """The model, of a framework whose models hold their parameters: none can be given."""
    if parameters is not None:
        raise ModelError("this model holds its parameters, none can be given with it", where="option 'params'",
                         received=brief(parameters), fix="leave params out")  # fmt: skip
    return model
