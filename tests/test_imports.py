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
    "report": {"core", "errors", "names", "report"},
    "watching": {"core", "frontends", "errors", "measurement", "api", "plans", "report", "watching", "names"},
    "baselines": {"core", "rules", "frontends", "errors", "measurement", "api", "plans", "baselines", "names"},
    "labs": {"core", "errors", "labs", "api", "baselines", "names"},
    "linen.py": {"core", "errors", "native_init"},
    "haiku.py": {"core", "errors", "native_init"},
    "nnx.py": {"api", "core", "frontends", "plans"},
    "equinox.py": {"api", "core", "frontends", "plans"},
    "native_init.py": {"api", "core", "errors", "frontends"},
    "names.py": set(),
    "errors.py": {"names"},
    "installed.py": {"errors"},
    "telling.py": {"core", "errors", "names"},
    "plans.py": {"core", "errors", "frontends", "report", "telling"},
    "measurement.py": {"core", "plans", "report"},
    "api.py": {"core", "errors", "frontends", "keras", "measurement", "plans", "report", "rules", "telling"},
}
"""What the modules of a part may import, when they are loaded, inside of functions, and for types alone."""

LAYERS = (
    {"lazy", "checks", "files", "progress"},
    {"options"},
    {"gaussian"},
    {"signal"},
    {"graph", "inputs"},
    {"plan"},
    {"drawing", "dependence"},
    {"solve"},
    {"backward"},
)
"""The folders and files of the core: each imports itself and what stands before it."""


def imported(path: Path, depth: int = 1) -> set[str]:
    """What a file imports of this package, wherever in it: "core", or for depth 2 "core.plan"."""
    here = path.relative_to(SOURCE).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        module = node.module.split(".") if node.module else []
        if node.level:
            base = [*here[: len(here) - node.level + 1], *module]
        elif module[:1] == ["autoinit"]:
            base = module[1:]
        else:
            continue
        ways = [base] if len(base) >= depth else [[*base, alias.name] for alias in node.names]
        found |= {".".join(way[:depth]) for way in ways}
    return found


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_point_one_way(part: str) -> None:
    files = [SOURCE / part] if part.endswith(".py") else sorted((SOURCE / part).rglob("*.py"))
    assert files
    for path in files:
        wrong = imported(path) - ALLOWED[part]
        assert not wrong, f"{path.relative_to(SOURCE)} imports {wrong}"


def test_the_core_is_layered() -> None:
    core = SOURCE / "core"
    wrong = set()
    for k, layer in enumerate(LAYERS):
        earlier = set().union(*LAYERS[:k])
        for part in layer:
            files = sorted((core / part).rglob("*.py")) or [core / f"{part}.py"]
            for path in files:
                targets = {name.split(".")[1] for name in imported(path, 2) if name.startswith("core.")}
                wrong |= {(path.relative_to(core).as_posix(), t) for t in targets - earlier - {part}}
    assert not wrong


def test_every_part_of_the_core_has_its_layer() -> None:
    parts = {path.stem for path in (SOURCE / "core").iterdir() if not path.name.startswith("__")}
    assert parts == set().union(*LAYERS)


def test_the_test_sees_imports() -> None:
    """So that the tests above can fail."""
    assert {"core", "plans"} <= imported(SOURCE / "api.py")
    assert "keras" in imported(SOURCE / "api.py"), "imported inside of a function"
    assert "core.plan" in imported(SOURCE / "core" / "solve" / "build.py", 2)


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
