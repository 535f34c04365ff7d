"""What `--json` writes, as JSON Schema: one file for each kind of document, printed from the types of its fields.

python -m autoinit.cli.schemas   writes the files beside this one anew.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from ...core.plan.file import FORMAT
from ...core.plan.plan import PlanData
from ..documents import FORMATS, DiffDocument, MeasurementDocument, PreflightDocument

HERE = Path(__file__).parent
DRAFT = "https://json-schema.org/draft/2020-12/schema"
KINDS: dict[str, tuple[int, Any]] = {
    "plan": (FORMAT, PlanData),
    "measurement": (FORMATS["measurement"], MeasurementDocument),
    "diff": (FORMATS["diff"], DiffDocument),
    "preflight": (FORMATS["preflight"], PreflightDocument),
}
PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean"}


def path_of(kind: str) -> Path:
    return HERE / f"{kind}.json"


def schema(kind: str) -> dict[str, Any]:
    """The schema of one kind of document, as its types say."""
    number, content = KINDS[kind]
    made = _object(content)
    made["properties"] = {f"autoinit_{kind}": {"const": number}, **made["properties"]}
    made["required"] = [f"autoinit_{kind}", *made["required"]]
    definitions = {one.__name__: _object(one) for one in _inside(content)}
    return {"$schema": DRAFT, "title": f"autoinit {kind}, format {number}", **made, "$defs": definitions}


def written(kind: str) -> str:
    return json.dumps(schema(kind), indent=1) + "\n"


def _object(content: Any) -> dict[str, Any]:
    hints = get_type_hints(content, include_extras=True)
    properties = {field.name: _value(hints[field.name]) for field in fields(content)}
    return {"type": "object", "properties": properties, "required": [f.name for f in fields(content) if _always(f)]}


def _always(field: Field[Any]) -> bool:
    """Whether a file needs it: what has a default may be missing in files of older versions."""
    return field.default is MISSING and field.default_factory is MISSING


def _value(hint: Any) -> dict[str, Any]:
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if is_dataclass(hint):
        return {"$ref": f"#/$defs/{getattr(hint, '__name__', hint)}"}
    if get_origin(hint) is list:
        return {"type": "array", "items": _value(get_args(hint)[0])}
    if get_origin(hint) is Annotated:
        base, limit = get_args(hint)
        made = {"type": PLAIN[base], "description": limit.wanted}
        return {**made, "type": [PLAIN[base], "null"]} if limit.may_be_missing else made
    kinds = [_value(kind) for kind in get_args(hint) if kind is not NoneType]
    return {"anyOf": [*kinds, {"type": "null"}]}


@cache
def _inside(content: Any) -> tuple[Any, ...]:
    """The data classes that fields hold, and those that they hold."""
    found: dict[Any, None] = {}
    waiting = [get_type_hints(content, include_extras=True)[field.name] for field in fields(content)]
    while waiting:
        hint = waiting.pop(0)
        if isinstance(hint, type) and is_dataclass(hint) and hint not in found:
            found[hint] = None
            waiting += get_type_hints(hint, include_extras=True).values()
        waiting += get_args(hint)
    return tuple(found)
