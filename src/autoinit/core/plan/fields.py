"""What the fields of a plan may hold, said beside their types (``shape: list[Size]``), and reading plain data as that.

A plan of a thousand layers has a hundred thousand fields: what a type asks for is worked out once, as a function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from math import isfinite
from reprlib import Repr
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

from ...errors import PlanError
from ..options import DISTRIBUTIONS

LARGEST = 2**63 - 1
"""Of sizes, strides, offsets and indices."""
LONGEST = 10_000
"""Of texts, in characters."""
KINDS = ("random", *DISTRIBUTIONS, "constant", "centre")
"""What a part of a parameter can be filled with; `random` stands for the plan's distribution."""
ACTIONS = ("set", "gain", "zero", "centre", "kept", "unreached")
MEND = "load a file that Plan.save wrote"

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """What values of a type have to be beyond that; None passes if they `may_be_missing`."""

    holds: Callable[[Any], bool]
    wanted: str
    may_be_missing: bool = False


def _between(least: int, most: int = LARGEST) -> Limit:
    return Limit(lambda n: least <= n <= most, f"an integer of at least {least}, up to {most}")


def _one_of(words: tuple[str, ...]) -> Limit:
    return Limit(lambda word: word in words, f"one of {', '.join(words)}")


Size = Annotated[int, _between(0)]
"""A size, a stride, an offset, an index."""
Count = Annotated[int, _between(1)]
Seed = Annotated[int, _between(-(10**40), 10**40)]
Number = Annotated[float, Limit(isfinite, "a finite number")]
Prediction = Annotated[float, Limit(lambda x: True, "a number", may_be_missing=True)]
"""null in the file stands for what is no number (JSON has no infinity)."""
Kind = Annotated[str, _one_of(KINDS)]
Action = Annotated[str, _one_of(ACTIONS)]
Distribution = Annotated[str, _one_of(DISTRIBUTIONS)]


class Wrong(Exception):
    """What is wrong with a plan; `place` leads there."""

    def __init__(self, why: str, received: str, fix: str = MEND, place: Place = ()) -> None:
        self.why, self.received, self.fix, self.place = why, received, fix, place

    def error(self, where: str) -> PlanError:
        place = f"{where}: {written(self.place)}" if self.place else where
        return PlanError(self.why, where=place, received=self.received, fix=self.fix)


PLAIN: dict[Any, tuple[str, Any]] = {
    int: ("an integer", (int, np.integer)),
    float: ("a number", (int, float, np.integer, np.floating)),
    bool: ("true or false", (bool, np.bool_)),
    str: ("a text", (str,)),
}


@cache
def reader(hint: Any) -> Callable[[Any], Any]:
    """A function that gives a value as this type has it, or raises `Wrong`."""
    if hint in PLAIN:
        return _plain_reader(hint)
    if is_dataclass(hint):
        return _fields_reader(hint)
    base = next(kind for kind in get_args(hint) if kind is not NoneType)
    inner = reader(base)
    if get_origin(hint) is list:
        return lambda value: _items(inner, value)
    if get_origin(hint) is not Annotated:  # X | None
        return lambda value: None if value is None else inner(value)
    (limit,) = hint.__metadata__
    holds = limit.holds

    def read(value: Any) -> Any:
        if value is None and limit.may_be_missing:
            return None
        made = value if type(value) is base else inner(value)
        if not holds(made):
            raise Wrong(f"this has to be {limit.wanted}", shown(value))
        return made

    return read


def _another(wanted: str, value: Any) -> Wrong:
    return Wrong(f"this has to be {wanted}", f"{shown(value)} ({type(value).__name__})")


def _plain_reader(hint: Any) -> Callable[[Any], Any]:
    wanted, kinds = PLAIN[hint]

    def read(value: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and hint is not bool):
            raise _another(wanted, value)
        if hint is str and len(value) > LONGEST:
            raise Wrong(f"a text has at most {LONGEST} characters", f"{len(value)} characters")
        try:
            return value if hint is str else hint(value)
        except OverflowError:
            raise _another("a finite number", value) from None

    return read


def _items(read: Callable[[Any], Any], value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise _another("a list", value)
    made: list[Any] = []
    try:
        for item in value:
            made.append(read(item))
    except Wrong as wrong:
        wrong.place = (len(made), *wrong.place)
        raise
    return made


def _fields_reader(cls: Any) -> Callable[[Any], Any]:
    """Of a dataclass, from one or from a dict of its fields."""
    hints = get_type_hints(cls, include_extras=True)
    required = {f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING}
    known = {f.name: reader(hints[f.name]) for f in fields(cls)}

    def read(value: Any) -> Any:
        if not isinstance(value, (cls, dict)):
            raise _another(f"the fields of a {cls.__name__}", value)
        given = value if isinstance(value, dict) else {name: getattr(value, name) for name in known}
        if given.keys() - known.keys():
            unknown = next(name for name in given if name not in known)
            raise Wrong("an unknown field: the plan is damaged, or a newer version wrote it", shown(unknown),
                        "update autoinit, or save the plan with this version", (str(unknown),))  # fmt: skip
        made: dict[str, Any] = {}
        try:
            for name, inner in known.items():
                if name in given:
                    made[name] = inner(given[name])
                elif name in required:
                    raise Wrong("a field is missing: the plan is damaged", "nothing", "save it again")
        except Wrong as wrong:
            wrong.place = (name, *wrong.place)
            raise
        return cls(**made)

    return read


def written(place: Place) -> str:
    """``parameters[3].parts[0].stride``"""
    words = "".join(f"[{p}]" if isinstance(p, int) else f".{p if p.isidentifier() else shown(p)}" for p in place)
    return words.removeprefix(".")


def shown(value: Any) -> str:
    """A short text for any value, with control characters escaped."""
    short = Repr()
    short.maxstring = short.maxother = 120
    short.maxlong = 45
    try:
        return short.repr(value)
    except ValueError:  # an integer of very many digits
        return f"a {type(value).__name__} with a very large integer"
