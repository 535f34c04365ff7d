"""The options that every entry point takes, checked in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from fnmatch import fnmatchcase
from inspect import Parameter, signature
from math import inf
from typing import Any, Literal, TypedDict, TypeVar, get_args

import numpy as np

from ..errors import OptionError
from .checks import brief, real, whole

Distribution = Literal["truncated_normal", "normal", "uniform", "orthogonal"]
Centre = Literal["bias", "activation"]
Recipe = Literal["paper", "train"]
Residual = Literal["depth", "zero"]
Tables = Literal["matched", "kept", "scaled"]
Stable = Literal["stable"]
Variance = float | Stable | Mapping[str, float | Stable]
DISTRIBUTIONS: tuple[Distribution, ...] = get_args(Distribution)
CENTRES: tuple[Centre | None, ...] = (None, *get_args(Centre))
SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-20, 1e20
"""Beyond these, signals or their squares leave the range of single precision."""
VARIANCE = 1.0
LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Options:
    """See `autoinit.plan` for their meaning."""

    recipe: Recipe = "paper"
    variance: Variance = VARIANCE
    distribution: Distribution = "truncated_normal"
    residual: Residual | None = None
    tables: Tables = "kept"
    seed: int = 0
    training: bool = True
    skip: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    keep_zeros: bool = True
    center: Centre | None = None
    exact: bool = False
    calibrate: bool = False
    gradients: bool = False
    rules: Any = None
    max_ops: float = 200_000
    max_seconds: float = 120.0
    warn: bool = True
    progress: bool = True
    strict: bool = False
    """Raise when a rule fails instead of falling back (for tests of rules)."""

    def covers(self, *names: str) -> bool:
        """Whether `skip` and `only` leave a parameter with these names to us."""
        if any(fnmatchcase(name, pattern) for name in names for pattern in self.skip):
            return False
        return not self.only or any(fnmatchcase(name, pattern) for name in names for pattern in self.only)


DEFAULTS = Options()
RECIPES: Mapping[Recipe, Mapping[str, Any]] = {
    "paper": {},
    "train": {"variance": "stable", "distribution": "orthogonal", "residual": "depth", "tables": "scaled"},
}
"""Named sets of options; what is given beside one wins."""


class OptionsButSeed(TypedDict, total=False):
    """What users may give, for functions that take the seed in another place."""

    recipe: Recipe
    variance: Variance
    distribution: Distribution
    residual: Residual | None
    tables: Tables
    training: bool
    skip: str | Iterable[str] | None
    only: str | Iterable[str] | None
    keep_zeros: bool
    center: Centre | None
    exact: bool
    calibrate: bool
    gradients: bool
    rules: Any
    max_ops: float
    max_seconds: float
    warn: bool
    progress: bool
    strict: bool


class GivenOptions(OptionsButSeed, total=False):
    """What users may give: ``**options: Unpack[GivenOptions]``. Defaults are those of `Options`."""

    seed: int


def with_layers(names: Sequence[str]) -> list[str]:
    """Names of parameters, and of the layers that they belong to: what patterns of `variance` are compared with."""
    return [*names, *(name[: max(name.rfind("."), name.rfind("/"), 0)] for name in names)]


Function = TypeVar("Function", bound=Callable[..., Any])


def shows_options(function: Function) -> Function:
    """A function of ``**options``: `help`, `inspect.signature` and notebooks see each of them, with its default."""
    written = signature(function)
    own = [p for p in written.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    hints = {**OptionsButSeed.__annotations__, **GivenOptions.__annotations__}
    options = [
        Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default,
                  annotation=getattr(hints[f.name], "__forward_arg__", hints[f.name]))  # as it is written here
        for f in fields(Options)
        if f.name not in written.parameters
    ]  # fmt: skip
    shown: Any = function
    shown.__signature__ = written.replace(parameters=[*own, *options])
    return function


def read_options(given: Mapping[str, Any]) -> Options:
    """Build `Options`, or raise an `OptionError` that says what is wrong with which option."""
    names = list(Options.__slots__)
    for name in given:
        if name not in names:
            close = get_close_matches(str(name), names, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"known options: {', '.join(sorted(names))}"
            received = f"{name}={brief(given[name])}"
            raise OptionError(f"unknown option '{name}'", where="options", received=received, fix=hint)
    values = {name: _READERS[name](name, value) if name in _READERS else value for name, value in given.items()}
    return Options(**{**RECIPES[values.get("recipe", DEFAULTS.recipe)], **values})


def read_seed(value: Any, name: str = "seed") -> int:
    """A seed is a whole number that every generator takes: 0 to 2^63 - 1."""
    seed = whole(value)
    if seed is None or not 0 <= seed <= LARGEST_SEED:
        raise refused(name, "an integer from 0 to 2**63 - 1", value, f"{name}=0")
    return seed


def read_count(name: str, value: Any, most: int) -> int:
    """A positive integer."""
    count = whole(value)
    if count is None or not 1 <= count <= most:
        raise refused(name, f"a positive integer, at most {most}", value, f"{name}=1")
    return count


def refused(name: str, takes: str, value: Any, fix: str) -> OptionError:
    return OptionError(f"'{name}' takes {takes}", where=f"option '{name}'", received=brief(value), fix=fix)


def _variances(name: str, value: Any) -> Variance:
    """One number or "stable", or one for each pattern of names."""
    if not isinstance(value, Mapping):
        return _variance(name, value)
    if not value or not all(isinstance(pattern, str) for pattern in value):
        raise refused(name, "a number, or numbers by name pattern", value, f'{name}={{"head": 0.1, "*": 1.0}}')
    return {pattern: _variance(name, one, pattern) for pattern, one in value.items()}


def _variance(name: str, value: Any, pattern: str | None = None) -> float | Stable:
    if isinstance(value, str) and value == "stable":
        return "stable"
    number = real(value)
    if number is None or not SMALLEST_VARIANCE <= number <= LARGEST_VARIANCE:
        takes = f"a finite positive number between {SMALLEST_VARIANCE:g} and {LARGEST_VARIANCE:g}, or 'stable'"
        if pattern is not None:
            raise refused(name, f"{takes} (for {pattern!r})", value, f"{name}={ {pattern: 1.0}!r}")
        raise refused(name, takes, value, f"{name}=1.0")
    return number


def _patterns(name: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    fits = isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray, Mapping))
    patterns = (value,) if isinstance(value, str) else tuple(value) if fits else (None,)
    if not all(isinstance(p, str) for p in patterns):
        raise refused(name, "name patterns", value, f"{name}='head.*'")
    return patterns


def read_flag(name: str, value: Any) -> bool:
    """True or False; 0 and 1 are neither."""
    if not isinstance(value, (bool, np.bool_)):
        raise refused(name, "one of True, False", value, f"{name}=True")
    return bool(value)


def _limit(name: str, value: Any) -> float:
    """Positive, and possibly infinite."""
    number = inf if isinstance(value, float) and value == inf else real(value)
    if number is None or number <= 0:
        raise refused(name, "a positive number", value, f"{name}={getattr(DEFAULTS, name)}")
    return number


def _one_of(*allowed: str | None) -> Callable[[str, Any], Any]:
    def read(name: str, value: Any) -> Any:
        if not any(value is a or (isinstance(value, str) and value == a) for a in allowed):
            choices = ", ".join(repr(a) for a in allowed)
            close = get_close_matches(value, [a for a in allowed if a], n=1) if isinstance(value, str) else []
            raise refused(name, f"one of {choices}", value, f"{name}={(close or allowed)[0]!r}")
        return value

    return read


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "recipe": _one_of(*get_args(Recipe)),
    "variance": _variances,
    "distribution": _one_of(*DISTRIBUTIONS),
    "residual": _one_of(None, *get_args(Residual)),
    "tables": _one_of(*get_args(Tables)),
    "seed": lambda name, value: read_seed(value, name),
    "skip": _patterns,
    "only": _patterns,
    "center": _one_of(*CENTRES),
    "max_ops": _limit,
    "max_seconds": _limit,
    **dict.fromkeys(
        ("training", "keep_zeros", "exact", "calibrate", "gradients", "strict", "warn", "progress"), read_flag
    ),
}
