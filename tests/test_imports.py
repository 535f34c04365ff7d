"""Imports point one way, and importing the package imports no framework."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "autoinit"

ALLOWED = {
    "core": {"core", "errors", "names"},
    "rules": {"core", "rules", "errors"},
    "frontends": {"core", "rules", "frontends", "errors"},
    "keras": {"core", "rules", "frontends", "keras", "errors"},
    "testing": {"core", "rules", "frontends", "testing", "errors"},
    "watching": {"core", "frontends", "errors", "measurement", "api", "report", "watching", "names"},
    "labs": {"core", "errors", "labs", "api", "baselines", "names"},
    "names.py": set(),
    "errors.py": {"names"},
    "measurement.py": {"core", "errors", "names"},
    "telling.py": {"core", "errors", "names"},
}
"""What the modules of a part may import when they are loaded."""

LAZY = {
    # Plan.apply finds the front end and tells what it left alone, Plan.plot and print(plan) need the report
    "core/plan/plan.py": {"api", "report", "telling"},
    "measurement.py": {"report"},  # print(measurement)
}
"""Imports inside functions that point the other way, on purpose: methods of results that act or draw."""


def imported(path: Path) -> list[tuple[str, bool]]:
    """(part of the package that is imported, whether that happens inside a function), for one file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
    here = path.relative_to(SOURCE).parts[:-1]
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = list(here[: len(here) - node.level + 1]) + (node.module or "").split(".")
            names = [part for part in base if part] or [alias.name for alias in node.names]
            found.append((names[0], id(node) in inside))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autoinit"):
            found.append(((node.module or "").split(".")[1], id(node) in inside))
    return found


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_point_one_way(part: str) -> None:
    files = [SOURCE / part] if part.endswith(".py") else sorted((SOURCE / part).rglob("*.py"))
    assert files
    for path in files:
        name = path.relative_to(SOURCE).as_posix()
        for target, inside in imported(path):
            allowed = ALLOWED[part] | (LAZY.get(name, set()) if inside else set())
            assert target in allowed, f"{name} imports {target}"


def test_the_test_sees_imports() -> None:
    """So that the test above can fail."""
    assert ("core", False) in imported(SOURCE / "api.py")
    assert ("api", True) in imported(SOURCE / "core" / "plan" / "plan.py")


def test_no_framework_is_imported() -> None:
    frameworks = ("torch", "tensorflow", "keras", "jax", "matplotlib", "rich", "ray")
    modules = "autoinit, autoinit.labs.pangaea, autoinit.labs.evolution, autoinit.labs.data"
    code = f"import sys, {modules}; print([m for m in {frameworks!r} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                            env={"PYTHONPATH": str(SOURCE.parent)})  # fmt: skip
    assert answer.stdout.strip() == "[]"


def test_core_mentions_no_framework() -> None:
    for path in sorted((SOURCE / "core").rglob("*.py")) + sorted((SOURCE / "rules").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            outside = {n.split(".")[0] for n in names}
            assert not outside & {"torch", "tensorflow", "keras", "jax"}, path
