"""JSON that keeps what JSON has no words for.

A float that is not finite is written as an object, `{"$float": "nan"}` (also "inf" and "-inf"), so that every
line is valid JSON and a NaN comes back as a NaN. NumPy's numbers and arrays become plain numbers and lists, tuples
become lists. Everything else that JSON does not know is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

TAG = "$float"


def encode(value: Any) -> str:
    """One line of JSON; TypeError names the place of what cannot be written."""
    return json.dumps(_plain(value, "value"), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def decode(text: str | bytes) -> Any:
    return json.loads(text, object_hook=_restore, parse_constant=_refuse)


def normalised(value: Any) -> Any:
    """What `value` is after it was written and read again."""
    return decode(encode(value))


def same(one: Any, other: Any) -> bool:
    """Whether both are written alike, whatever the order of their keys (a NaN is like a NaN)."""
    return _sorted(one) == _sorted(other)


def _sorted(value: Any) -> str:
    return json.dumps(_plain(value, "value"), allow_nan=False, sort_keys=True)


def _plain(value: Any, place: str) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {TAG: str(float(value))}
    if isinstance(value, Mapping):
        if value.keys() == {TAG}:
            raise TypeError(f"{place} has '{TAG}' as its only key, which stands for a number that is not finite")
        return {_name(key, place): _plain(item, f"{place}[{key!r}]") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{place}[{k}]") for k, item in enumerate(value)]
    raise TypeError(f"{place} is a {type(value).__name__}, which cannot be written as JSON")


def _name(key: Any, place: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{place} has the key {key!r}; JSON has texts as keys only")
    return key


def _restore(item: dict[str, Any]) -> Any:
    return float(item[TAG]) if item.keys() == {TAG} else item


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
