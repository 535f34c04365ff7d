"""What AutoInit adds to Flax linen: `init`, in place of `Module.init`.

    variables = autoinit.linen.init(model, jax.random.key(0), x)
    variables = jax.jit(partial(autoinit.linen.init, model), out_shardings=shardings)(rngs, x)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

try:
    import flax.linen as nn
except ImportError as error:
    raise ImportError("autoinit.linen needs Flax: pip install flax") from error

from .core.options import GivenOptions
from .errors import ModelError
from .native_init import initialized

PARAMS = "params"
OTHERS = ("method", "mutable", "capture_intermediates")
"""Arguments of `Module.init` for other things than making variables."""


def init(
    module: nn.Module, rngs: Any, *args: Any, options: GivenOptions | None = None, **kwargs: Any
) -> Mapping[str, Any]:
    """The variables of a module, as `module.init(rngs, *args, **kwargs)` gives them, with planned weights.

    rngs: a key, or a dict of keys of which "params" counts; `jax.random.key(5)` draws what `seed=5` draws elsewhere.
    args, kwargs: what the module is called with. Of arrays, shape and type count and nothing else, as in `Module.init`:
        entries are taken to have mean 0 and variance 1. For other inputs give `autoinit.Input(shape, mean=...)`.
    options: those of `autoinit.plan`, as a dict. Without "training", the plan is for the mode that `args` and `kwargs`
        say, and for training where they say nothing.

    Works under `jit`. With ``out_shardings``, every device draws its own shards.
    """
    if not isinstance(module, nn.Module):
        raise ModelError("this is no module of Flax linen", where="module", received=type(module).__name__,
                         fix="autoinit.nnx.create for modules of NNX")  # fmt: skip
    wrong = next((name for name in OTHERS if name in kwargs), None)
    if wrong is not None:
        raise ModelError(f"'{wrong}' is not followed", where="autoinit.linen.init", received=wrong,
                         fix="call the method in `__call__`, or autoinit.initialize with a function")  # fmt: skip
    keys = dict(rngs) if isinstance(rngs, Mapping) else {PARAMS: rngs}
    key = keys.get(PARAMS, next(iter(keys.values()), None))
    if key is None:
        raise ModelError("there is no key", where="rngs", received="an empty dict", fix="jax.random.key(0)")

    def make(keys: Any, args: Any, kwargs: Any) -> Any:
        return module.init(keys, *args, **kwargs)

    return cast("Mapping[str, Any]", initialized(module, make, keys, key, args, kwargs, options or {}))
