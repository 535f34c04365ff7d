"""What AutoInit adds to Equinox: `create` makes a module with planned weights, without drawing its own before.

    model, plan = autoinit.equinox.create(lambda: Net(key=jax.random.key(0)), x)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

try:
    import equinox as eqx
except ImportError as error:
    raise ImportError("autoinit.equinox needs Equinox: pip install equinox") from error

from .api import plan as make_plan
from .core.options import GivenOptions
from .frontends.jax.abstract import made
from .frontends.jax.adapters.equinox import EquinoxModule
from .frontends.jax.born import fill, places
from .frontends.parameters_given import WithParameters
from .plans import Plan

if TYPE_CHECKING:
    from typing_extensions import Unpack

Module = TypeVar("Module", bound=eqx.Module)


def create(
    make: Callable[[], Module], inputs: Any, *, shardings: Any = None, **options: Unpack[GivenOptions]
) -> tuple[Module, Plan]:
    """The module that `make` makes, with planned weights, and the plan. Arguments as of `autoinit.nnx.create`."""
    module = eqx.filter_eval_shape(make)
    known = made(lambda: eqx.filter(make(), eqx.is_array))
    plan = make_plan(WithParameters(module, known), inputs, **options)
    return fill(EquinoxModule(module, known), plan, plan.seed, places(shardings)), plan
