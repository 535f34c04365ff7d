"""How the API reference reads the code: docstrings as they are written here, and functions with all of their options.

In docstrings ``name: what it means`` is an item and ``::`` begins code.
"""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature
from typing import Any

from griffe import Extension, Function, Object, Parameter, ParameterKind

ITEM = re.compile(r"^(\*{0,2}\w+(?:, \w+)*): (.+(?:\n    .+)*)$", re.MULTILINE)


def as_markdown(text: str) -> str:
    """One docstring."""
    listed = ITEM.sub(_item, text)
    return re.sub(r"::$", ":", listed, flags=re.MULTILINE)


def _item(found: re.Match[str]) -> str:
    names = ", ".join(f"`{name}`" for name in found[1].split(", "))
    before = "" if found.string[: found.start()].endswith("\n\n") else "\n" * (not _follows_item(found))
    return f"{before}- {names}: {found[2]}"


def _follows_item(found: re.Match[str]) -> bool:
    """Whether the lines just before are an item, too: one list, then."""
    return any(one.end() + 1 == found.start() for one in ITEM.finditer(found.string, 0, found.start()))


class AsWritten(Extension):
    """For the API reference (see mkdocs.yml)."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_function(self, *, func: Function, **_: Any) -> None:
        """``**options`` are those that the function itself shows, with their defaults."""
        last = next(reversed(list(func.parameters)), None)
        if last is None or not str(last.annotation).startswith("Unpack["):
            return
        shown = signature(getattr(import_module(func.module.path), func.name)).parameters
        if last.name in shown:
            return
        del func.parameters[last.name]
        for name, one in shown.items():
            if name not in func.parameters:
                default, kind = repr(one.default), ParameterKind.keyword_only
                func.parameters.add(Parameter(name, annotation=one.annotation, default=default, kind=kind))
