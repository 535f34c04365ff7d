"""What is not installed is said in one line, with the command that installs it."""

from __future__ import annotations

import pytest

from .environments import Environment

pytestmark = pytest.mark.slow

EMPTY = "autoinit.Plan('Net', 'torch', 1.0, 'normal', 0, True, [], [], [])"


@pytest.mark.parametrize(
    ("code", "line"),
    [("import autoinit.keras", "autoinit.keras needs Keras 3: pip install 'autoinit-nn[keras]'"),
     ("import autoinit.watching.keras", "autoinit.watching.keras needs Keras 3: pip install 'autoinit-nn[keras]'"),
     (f"import autoinit; {EMPTY}.plot()", "plots need matplotlib: pip install 'autoinit-nn[plot]'"),
     (f"import autoinit; {EMPTY}.to_html()", "pages need plotly: pip install 'autoinit-nn[html]'")],
    ids=["keras", "watching", "plot", "html"],
)  # fmt: skip
def test_in_python(core: Environment, code: str, line: str) -> None:
    assert core.last_line(code) == f"autoinit.errors.MissingPackage: {line}"


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [(["autoinit", "--version"], 3, "autoinit: the command line needs typer: pip install 'autoinit-nn[cli]'"),
     (["python", "-m", "autoinit"], 3, "autoinit: the command line needs typer: pip install 'autoinit-nn[cli]'"),
     (["python", "-m", "autoinit.labs.pangaea"], 2,
      "autoinit.labs.pangaea needs typer: pip install 'autoinit-nn[labs]'"),
     (["python", "-m", "autoinit.labs.codeepneat"], 2,
      "autoinit.labs.codeepneat needs typer: pip install 'autoinit-nn[labs]'")],
    ids=["command", "module", "pangaea", "codeepneat"],
)  # fmt: skip
def test_on_the_command_line(core: Environment, words: list[str], code: int, line: str) -> None:
    found = core.run(*words)
    assert (found.returncode, found.stderr.strip(), found.stdout) == (code, line, "")
