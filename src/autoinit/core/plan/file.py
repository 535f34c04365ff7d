"""Reading plans that anybody may have written: every field is looked at before a plan is made of it.

`PlanReader` walks the types of the plan's dataclasses (and the limits that `plan_fields` puts beside them) together
with the data. Whether it fits together, and lies inside of the parameters, is then checked by `plan_check`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from reprlib import Repr
from types import NoneType
from typing import Annotated, Any, NoReturn, get_args, get_origin, get_type_hints

import numpy as np

from ...errors import PlanError
from .fields import LONGEST, Between, MayBeMissing

LARGEST_FILE = 2**30
DEEPEST = 32
"""Plans are nested six deep."""
MOST_DIGITS = 41
TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
"""Texts and brackets. (A text that does not end goes to the end: looking at every quote in it again takes for ever.)"""
MEND = "load a file that Plan.save wrote"

Place = tuple[str | int, ...]


def parsed(path: str | Path) -> Any:
    """The JSON in a file, within bounds: size, nesting, digits, no NaN, no field twice."""
    where = str(path)
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except IsADirectoryError as error:
        raise PlanError("this is a folder, and no file", where=where, received="a folder", fix=MEND) from error
    if len(content) > LARGEST_FILE:
        raise PlanError("the file is too large for a plan", where=where, received=f"more than {LARGEST_FILE} bytes",
                        fix=MEND)  # fmt: skip
    if not content.strip():
        raise PlanError("the file is empty", where=where, received=f"{len(content)} bytes", fix=MEND)
    try:
        text = content.decode("utf-8-sig")
        _check_nesting(text)
        return json.loads(text, parse_int=_integer, parse_float=_finite, parse_constant=_no_constant,
                          object_pairs_hook=_fields_once)  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise PlanError("the file is not JSON as a plan has it", where=where, received=shown(str(error)),
                        fix=MEND) from error  # fmt: skip


def _check_nesting(text: str) -> None:
    depth = 0
    for token in TOKENS.finditer(text):
        sign = token[0]
        if sign in "[{":
            depth += 1
            if depth > DEEPEST:
                raise ValueError(f"brackets nested more than {DEEPEST} deep")
        elif sign in "]}":
            depth -= 1


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise ValueError(f"{shown(digits)} is too large for a number")
    return value


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _fields_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {shown(twice)} is there twice")
    return made


class PlanReader:
    """Values of the types that a plan's fields have, made from plain data; anything else is a `PlanError`."""

    def __init__(self, where: str) -> None:
        self.where = where

    def refuse(self, why: str, place: Place, received: Any, fix: str = MEND) -> NoReturn:
        raise PlanError(why, where=f"{self.where}: {written(place)}" if place else self.where,
                        received=received if isinstance(received, str) else shown(received), fix=fix)  # fmt: skip

    def read(self, hint: Any, value: Any, place: Place = ()) -> Any:
        """The value as its type says; `place` leads to it, for errors."""
        if hint is float:
            return self._float(value, place)
        if hint is int:
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
                self._another("an integer", value, place)
            return int(value)
        if hint is str:
            return self._text(value, place)
        if hint is bool:
            if not isinstance(value, (bool, np.bool_)):
                self._another("true or false", value, place)
            return bool(value)
        origin = get_origin(hint)
        if origin is Annotated:
            return self._limited(hint, value, place)
        if origin is list:
            if not isinstance(value, (list, tuple)):
                self._another("a list", value, place)
            (inner,) = get_args(hint)
            return [self.read(inner, item, (*place, k)) for k, item in enumerate(value)]
        if is_dataclass(hint):
            return self._fields(hint, value, place)
        (inner,) = (kind for kind in get_args(hint) if kind is not NoneType)  # X | None
        return None if value is None else self.read(inner, value, place)

    def _another(self, wanted: str, value: Any, place: Place) -> NoReturn:
        self.refuse(f"this has to be {wanted}", place, f"{shown(value)} ({type(value).__name__})")

    def _float(self, value: Any, place: Place) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            self._another("a number", value, place)
        try:
            return float(value)
        except OverflowError:
            self._another("a finite number", value, place)

    def _text(self, value: Any, place: Place) -> str:
        if not isinstance(value, str):
            self._another("a text", value, place)
        if len(value) > LONGEST:
            self.refuse(f"a text has at most {LONGEST} characters", place, f"{len(value)} characters")
        return value

    def _limited(self, hint: Any, value: Any, place: Place) -> Any:
        base, *limits = get_args(hint)
        if value is None and any(isinstance(limit, MayBeMissing) for limit in limits):
            return None
        made = self.read(base, value, place)
        for limit in limits:
            wanted = limit.wrong(made)
            if wanted:
                self.refuse(f"this has to be {wanted}", place, value)
        return made

    def _fields(self, cls: Any, value: Any, place: Place) -> Any:
        known = _known(cls)
        if isinstance(value, cls):
            given = {name: getattr(value, name) for name in known}
        elif isinstance(value, dict):
            given = value
        else:
            self._another(f"the fields of a {cls.__name__}", value, place)
        if given.keys() - known.keys():
            unknown = next(name for name in given if name not in known)
            self.refuse("an unknown field: the plan is damaged, or a newer version wrote it", (*place, str(unknown)),
                        "a field that this version does not have",
                        "update autoinit, or save the plan with this version")  # fmt: skip
        made = {}
        for name, (hint, plain, required) in known.items():
            if name in given:
                item = given[name]
                made[name] = item if plain(item) else self.read(hint, item, (*place, name))
            elif required:
                self.refuse("a field is missing: the plan is damaged", (*place, name), "nothing", "save it again")
        return cls(**made)


@cache
def _known(cls: Any) -> dict[str, tuple[Any, Callable[[Any], bool], bool]]:
    """Field -> its type with limits, the quick test for it, and whether it has to be there."""
    hints = get_type_hints(cls, include_extras=True)
    return {
        f.name: (hints[f.name], is_plain(hints[f.name]), f.default is MISSING and f.default_factory is MISSING)
        for f in fields(cls)
    }


@cache
def is_plain(hint: Any) -> Callable[[Any], bool]:
    """A quick test that says yes to values that are what `PlanReader.read` would return; anything else it must look at.

    (A plan of a thousand layers has a hundred thousand fields.)
    """
    if hint is str:
        return lambda v: type(v) is str and v.isascii() and len(v) <= LONGEST
    if hint in (int, float, bool):
        return lambda v: type(v) is hint
    origin = get_origin(hint)
    if origin is Annotated:
        base, *limits = get_args(hint)
        inner, (limit,) = is_plain(base), limits
        if isinstance(limit, Between):
            least, most = limit.least, limit.most
            return lambda v: type(v) is int and least <= v <= most
        return lambda v: inner(v) and not limit.wrong(v)
    if origin is list:
        inner = is_plain(get_args(hint)[0])
        return lambda v: type(v) is list and all(map(inner, v))
    if isinstance(hint, type) and is_dataclass(hint):
        tests = [(name, plain) for name, (_, plain, _) in _known(hint).items()]
        return lambda v: type(v) is hint and all(plain(getattr(v, name)) for name, plain in tests)
    (inner,) = (is_plain(kind) for kind in get_args(hint) if kind is not NoneType)
    return lambda v: v is None or inner(v)


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
