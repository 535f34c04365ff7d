"""The options that every entry point takes, checked in one place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from ..errors import OptionError

DISTRIBUTIONS = ("truncated_normal", "normal", "uniform", "orthogonal")
CENTRES = (None, "bias", "activation")


@dataclass(frozen=True, slots=True)
class Options:
    """See `autoinit.plan` for their meaning."""

    variance: float = 1.0
    distribution: str = "truncated_normal"
    seed: int = 0
    training: bool = True
    skip: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    keep_zeros: bool = True
    center: str | None = None
    exact: bool = False
    rules: Any = None
    max_ops: int = 200_000
    max_seconds: float = 600.0
    strict: bool = field(default=False)
    """Raise when a rule fails instead of falling back (for tests of rules)."""

    def covers(self, *names: str) -> bool:
        """Whether `skip` and `only` leave a parameter with these names to us."""
        if any(fnmatchcase(name, pattern) for name in names for pattern in self.skip):
            return False
        return not self.only or any(fnmatchcase(name, pattern) for name in names for pattern in self.only)


def read_options(given: dict[str, Any]) -> Options:
    """Build `Options`, or raise an `OptionError` that says what is wrong with which option."""
    names = list(Options.__slots__)
    for name in given:
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"known options: {', '.join(sorted(names))}"
            raise OptionError(f"unknown option '{name}'", where="options", received=f"{name}={given[name]!r}", fix=hint)
    values = dict(given)
    for name in ("skip", "only"):
        values[name] = _patterns(name, values.get(name))
    options = Options(**values)
    _positive("variance", options.variance)
    _limit("max_ops", options.max_ops, "200_000")
    _limit("max_seconds", options.max_seconds, "600.0")
    _one_of("distribution", options.distribution, DISTRIBUTIONS)
    _one_of("center", options.center, CENTRES)
    for name in ("training", "keep_zeros", "exact", "strict"):
        _one_of(name, getattr(options, name), (True, False))
    if isinstance(options.seed, bool) or not isinstance(options.seed, int):
        raise _refused("seed", "an integer", options.seed, "seed=0")
    return options


def _refused(name: str, takes: str, value: Any, fix: str) -> OptionError:
    return OptionError(f"'{name}' takes {takes}", where=f"option '{name}'", received=repr(value), fix=fix)


def _patterns(name: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    patterns = (value,) if isinstance(value, str) else value
    if not isinstance(patterns, Iterable) or not all(isinstance(p, str) for p in patterns):
        raise _refused(name, "name patterns", value, f"{name}='head.*'")
    return tuple(patterns)


def _positive(name: str, value: Any) -> None:
    try:
        good = 0 < float(value) < float("inf")
    except (TypeError, ValueError):
        good = False
    if not good:
        raise _refused(name, "a finite positive number", value, f"{name}=1.0")


def _limit(name: str, value: Any, example: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise _refused(name, "a positive number", value, f"{name}={example}")


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if not any(value is a or (isinstance(a, str) and value == a) for a in allowed):
        choices = ", ".join(repr(a) for a in allowed)
        raise _refused(name, f"one of {choices}", value, f"{name}={allowed[0]!r}")
