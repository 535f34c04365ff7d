"""What AutoInit adds to Haiku: `transform` gives a transformed function whose `init` makes planned weights.

    f = autoinit.haiku.transform(hk.transform(network))
    params = f.init(jax.random.key(0), x)
"""

from __future__ import annotations

from typing import Any, TypeVar

try:
    import haiku as hk
except ImportError as error:
    raise ImportError("autoinit.haiku needs Haiku: pip install dm-haiku") from error

from .core.options import GivenOptions
from .errors import ModelError
from .native_init import initialized

Transformed = TypeVar("Transformed", bound="hk.Transformed | hk.TransformedWithState")


def transform(transformed: Transformed, options: GivenOptions | None = None) -> Transformed:
    """The same pair of functions, but `init` draws the weights as planned for the inputs that it is called with.

    Keys and inputs count as in `autoinit.linen.init`; options are those of `autoinit.plan`. Works under `jit`.
    """
    if not isinstance(transformed, (hk.Transformed, hk.TransformedWithState)):
        raise ModelError("this is no transformed function", where="autoinit.haiku.transform",
                         received=type(transformed).__name__, fix="transform(hk.transform(f))")  # fmt: skip

    def make(rng: Any, args: Any, kwargs: Any) -> Any:
        return transformed.init(rng, *args, **kwargs)

    def init(rng: Any, *args: Any, **kwargs: Any) -> Any:
        return initialized(transformed, make, rng, rng, args, kwargs, options or {})

    made: Transformed = transformed._replace(init=init)
    return made
