"""What AutoInit adds to Flax NNX: `create` makes a module with planned weights, without drawing its own before.

    model, plan = autoinit.nnx.create(lambda: Net(nnx.Rngs(0)), x)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

try:
    from flax import nnx
except ImportError as error:
    raise ImportError("autoinit.nnx needs Flax: pip install flax") from error

from .api import plan as make_plan
from .core.options import GivenOptions
from .frontends.jax.abstract import made
from .frontends.jax.adapters.nnx import NnxModule
from .frontends.jax.born import fill, places
from .frontends.parameters_given import WithParameters
from .plans import Plan

if TYPE_CHECKING:
    from typing_extensions import Unpack

Module = TypeVar("Module", bound=nnx.Module)


def create(
    make: Callable[[], Module], inputs: Any, *, shardings: Any = None, **options: Unpack[GivenOptions]
) -> tuple[Module, Plan]:
    """The module that `make` makes, with planned weights, and the plan.

    Weights that the plan sets are not drawn by the constructor at all. Everything else, keys of random streams too, is
    what the constructor makes.

    inputs, options: as for `autoinit.plan`.
    shardings: where arrays are put, each made where it belongs and nowhere else: one sharding for all, a mapping from
        names in the plan, a state of shardings (`nnx.get_named_sharding`), or a function of name and shape.
    """
    module = nnx.eval_shape(make)
    known = made(lambda: nnx.split(make())[1])
    plan = make_plan(WithParameters(module, known), inputs, **options)
    return fill(NnxModule(module, known), plan, plan.seed, places(shardings)), plan
