"""Prints the table of ops as a page of the documentation: ``python docs/ops.py`` writes ops.md anew."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from pathlib import Path

from autoinit.core.graph.specs import FAMILIES, Attribute, OpSpec, Role
from autoinit.core.graph.specs import spec as source

HEAD = """# Ops

Every operation that a front end may emit, with its operands, attributes and facts. Rules, roles of parameters and the
canonical form go by this table; nodes are checked against it when they are made. Operands in brackets may be missing,
of those with a star there may be any number; they are data where no other role is named. Axes are non-negative integers
into the first operand's shape; sizes come from shapes. An attribute without a default has to be given.

This page is printed from `autoinit.core.graph.specs` by `python docs/ops.py`.
"""


def _facts() -> dict[str, str]:
    """What may be true of an op, with the line that says so beside it in the source."""
    classes = [one for one in ast.parse(inspect.getsource(source)).body if isinstance(one, ast.ClassDef)]
    body = next(one.body for one in classes if one.name == OpSpec.__name__)
    found: dict[str, str] = {}
    for one, text in pairwise(body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.value, ast.Constant) and isinstance(text, ast.Expr):
            found[ast.unparse(one.target)] = ast.literal_eval(text.value)
    return found


FACTS = _facts()


def page() -> str:
    parts = [HEAD, "## Facts\n", *(f"- **{_words(name)}**: {meaning}" for name, meaning in FACTS.items()), ""]
    for title, family in FAMILIES.items():
        parts += [f"## {title}\n", *map(_op, family)]
    return "\n".join(parts)


def _op(spec: OpSpec) -> str:
    lines = [f"### `{spec.signature}`\n", f"{spec.meaning}.\n"]
    if spec.attributes:
        lines += ["| attribute | holds | default | meaning |", "|---|---|---|---|"]
        lines += [*map(_attribute, spec.attributes), ""]
    roles = [f"{o.name} is {o.role.value}" for o in spec.operands if o.role is not Role.DATA]
    facts = [_words(name) for name in FACTS if getattr(spec, name) is True]
    if spec.degree is not None:
        facts.append(f"degree {spec.degree}")
    told = [f"{name}: {', '.join(items)}." for name, items in (("Roles", roles), ("Facts", facts)) if items]
    return "\n".join([*lines, " ".join(told) + "\n"] if told else lines)


def _attribute(one: Attribute) -> str:
    default = "" if one.default is source.REQUIRED else f"`{one.default!r}`"
    return f"| {one.name} | {one.expected} | {default} | {one.meaning} |"


def _words(name: str) -> str:
    return name.replace("_", " ")


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(page(), encoding="utf-8")
