"""A distribution `autoinit` that is somebody else's, really installed: before ours, after it, as package and module."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoinit.installed import namesake as found_in

from .environments import Environment, namesake, new_environment

pytestmark = pytest.mark.slow

PACKAGE = {"autoinit/__init__.py": "def autoinit(function):\n    return function\n"}
MODULE = {"autoinit.py": PACKAGE["autoinit/__init__.py"]}
WARNING = "autoinit 9.9 is installed, too: another package, whose module has the same name"
MEND = "pip uninstall autoinit autoinit-nn"


def both(folder: Path, wheel: Path, other: dict[str, str], ours_last: bool) -> Environment:
    made = new_environment(folder / "env", "numpy", "scipy", "typer")
    theirs = namesake(folder, other)
    for file in (theirs, wheel) if ours_last else (wheel, theirs):
        made.install(file)
    return made


@pytest.mark.parametrize(
    ("other", "ours_last"), [(PACKAGE, True), (MODULE, True), (MODULE, False)],
    ids=["package before", "module before", "module after"],
)  # fmt: skip
def test_where_ours_is_imported_it_warns(tmp_path: Path, wheel: Path, other: dict[str, str], ours_last: bool) -> None:
    made = both(tmp_path, wheel, other, ours_last)
    (made.folder / "mine.py").write_text("import sys\n\nimport autoinit\n\nprint(autoinit.Plan.__name__)\n")
    found = made.run("python", "mine.py")
    assert found.stdout == "Plan\n"
    (line, *_) = found.stderr.splitlines()
    assert "mine.py:3: AutoInitWarning" in line and WARNING in line and MEND in line
    assert made.run("autoinit", "--version").returncode == 0


def test_where_theirs_is_imported_the_command_says_so(tmp_path: Path, wheel: Path) -> None:
    made = both(tmp_path, wheel, PACKAGE, ours_last=False)
    found = made.run("autoinit", "--version")
    assert found.returncode == 3 and not found.stdout
    assert found.stderr.count("\n") == 1 and MEND in found.stderr
    assert str(made.packages / "autoinit" / "__init__.py") in found.stderr


def test_alone_it_says_nothing(core: Environment) -> None:
    assert core.run("python", "-c", "import autoinit").stderr == ""


@pytest.mark.parametrize("record", ["__editable__.autoinit-0.1.0.pth,,\n", "autoinit_other/a.py,,\n", None])
def test_other_metadata_of_that_name_does_no_harm(tmp_path: Path, record: str | None) -> None:
    """An older editable installation of this package was called so, too."""
    folder = tmp_path / "autoinit-0.1.0.dist-info"
    folder.mkdir()
    if record is not None:
        (folder / "RECORD").write_text(record)
    assert found_in(tmp_path) == ""
    assert found_in(tmp_path / "nowhere") == ""
