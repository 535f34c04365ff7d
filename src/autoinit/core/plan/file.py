"""Plan files: a plan as plain data and back, and which older formats are still read.

Anybody may have written a file. The JSON in it is parsed within bounds, every field is read as its type says
(`plan.fields`), and what was read has to fit together (`plan.check`).
"""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import fields, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from ...errors import AutoInitWarning
from .check import check_all
from .fields import MEND, Wrong, reader, shown
from .plan import Note, PlanData, SomePlan

FORMAT = 2
OLDER = {1: "written by an older version, whose seeds gave other weights (of the same standard deviations)"}
"""Formats that are still read, and what to know of them."""
LARGEST_FILE = 2**30
DEEPEST = 32
"""Plans are nested six deep."""
MOST_DIGITS = 41
TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
"""Texts and brackets. (A text that does not end goes to the end: looking at every quote in it again takes for ever.)"""


def plan_to_dict(plan: PlanData) -> dict[str, Any]:
    return {"autoinit_plan": FORMAT, **_plain(plan)}


def _plain(value: Any) -> Any:
    """As JSON has it, which has no infinity and no NaN: they become None."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return {f.name: _plain(getattr(value, f.name)) for f in fields(value)} if is_dataclass(value) else value


def plan_from_dict(kind: type[SomePlan], data: Any, where: str) -> SomePlan:
    """A plan of that class. Anything that is not what `plan_to_dict` gives is a `PlanError` with its place."""
    try:
        if not isinstance(data, dict) or "autoinit_plan" not in data:
            raise Wrong("this is no plan: there is no field autoinit_plan", type(data).__name__)
        number = data["autoinit_plan"]
        if type(number) is not int or (number != FORMAT and number not in OLDER):
            newer = type(number) is int and number > FORMAT
            raise Wrong("a newer version wrote this plan" if newer else "not a plan of this format", shown(number),
                        "update autoinit" if newer else MEND, ("autoinit_plan",))  # fmt: skip
        hint: Any = kind
        plan: SomePlan = reader(hint)({k: v for k, v in data.items() if k != "autoinit_plan"})
        check_all(plan)
    except Wrong as wrong:
        raise wrong.error(where) from None
    if number in OLDER:
        plan.notes.append(Note("warning", "seed", OLDER[number]))
        warnings.warn(f"{where}: {OLDER[number]}", AutoInitWarning, stacklevel=3)
    return plan


def parsed(path: str | Path) -> Any:
    """The JSON in a file, within bounds: size, nesting, digits, no NaN, no field twice."""
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise Wrong("the file is too large for a plan", f"more than {LARGEST_FILE} bytes")
        if not content.strip():
            raise Wrong("the file is empty", f"{len(content)} bytes")
        text = content.decode("utf-8-sig")
        _check_nesting(text)
        return json.loads(text, parse_int=_integer, parse_float=_finite, parse_constant=_no_constant,
                          object_pairs_hook=_fields_once)  # fmt: skip
    except Wrong as wrong:
        raise wrong.error(str(path)) from None
    except IsADirectoryError as error:
        raise Wrong("this is a folder, and no file", "a folder").error(str(path)) from error
    except (ValueError, RecursionError) as error:
        raise Wrong("the file is not JSON as a plan has it", shown(str(error))).error(str(path)) from error


def _check_nesting(text: str) -> None:
    depth = 0
    for token in TOKENS.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth > DEEPEST:
            raise ValueError(f"brackets nested more than {DEEPEST} deep")


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
