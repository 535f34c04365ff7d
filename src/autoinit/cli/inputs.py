"""`--input 3x224x224`, `--input ids=128:vocabulary=32000`: descriptions of inputs as words."""

from __future__ import annotations

import re
from typing import Any

from ..core.inputs import Input
from ..errors import InputError

EXAMPLES = "--input 3x224x224, --input 128:vocabulary=32000, --input mask=1x64:mean=0.5,variance=0.25"
_NUMBERS = {"mean": float, "variance": float, "correlation": float, "vocabulary": int, "dtype": str}
_SIZES = re.compile(r"^\d+(x\d+)*$")


def read_inputs(words: list[str], batch: int) -> Any:
    """One description, a tuple of several, or a dict if they have names. The batch axis is put in front."""
    if not words:
        return None
    found = [_one(word, batch) for word in words]
    named = {name: item for name, item in found if name is not None}
    if named and len(named) < len(found):
        raise InputError("either all inputs have names, or none", where="--input", received=" ".join(words),
                         fix=EXAMPLES)  # fmt: skip
    if named:
        return named
    return found[0][1] if len(found) == 1 else tuple(item for _, item in found)


def _one(word: str, batch: int) -> tuple[str | None, Input]:
    shape, _, rest = word.partition(":")
    name, equals, sizes = shape.rpartition("=")
    if not _SIZES.match(sizes):
        raise InputError("a shape is sizes with x in between, without the batch", where="--input", received=word,
                         fix=EXAMPLES)  # fmt: skip
    options = dict(_option(part, word) for part in rest.split(",") if part)
    return (name if equals else None), Input((batch, *(int(n) for n in sizes.split("x"))), **options)


def _option(part: str, word: str) -> tuple[str, Any]:
    key, _, value = part.partition("=")
    if key not in _NUMBERS:
        raise InputError(f"unknown property '{key}' of an input", where="--input", received=word,
                         fix=f"known are {', '.join(_NUMBERS)}")  # fmt: skip
    try:
        return key, _NUMBERS[key](value)
    except ValueError:
        raise InputError(f"'{key}' takes a number", where="--input", received=word, fix=EXAMPLES) from None
