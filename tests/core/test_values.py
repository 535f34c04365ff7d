"""Signals are values: nobody changes one after it was made."""

from __future__ import annotations

import ast
from pathlib import Path

import autoinit
from autoinit.core.signal.signal import Signal, iid

SOURCE = Path(autoinit.__file__).parent
FACETS = {name.lstrip("_") for name in Signal.__slots__} - {"once", "lazy_volatility", "problem"}
OWN = SOURCE / "core" / "signal" / "signal.py"


def changed(path: Path) -> list[str]:
    """Facets that are assigned to something that is not the object itself."""
    targets = [
        target
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    flat = [t for target in targets for t in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [
        f"{path.name}:{t.lineno} {ast.unparse(t)}"
        for t in flat
        if isinstance(t, ast.Attribute) and t.attr.lstrip("_") in FACETS and ast.unparse(t.value) != "self"
    ]


def test_no_facet_is_assigned() -> None:
    folders = (SOURCE / "rules", *(SOURCE / "core" / part for part in ("signal", "dependence", "graph", "solve")))
    files = [path for folder in folders for path in sorted(folder.rglob("*.py")) if path != OWN]
    assert [where for path in files for where in changed(path)] == []
    assert changed(OWN), "the class itself does, so the test can fail"


def test_but_makes_another_signal() -> None:
    x = iid((3, 4))
    y = x.but(deficiency=0.5)
    assert (x.deficiency, y.deficiency) == (0.0, 0.5)
    assert y.source is y and y.K is x.K
    f = x.scaled(2.0)
    assert f.but(live=None).source is x
