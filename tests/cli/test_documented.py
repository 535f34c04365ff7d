"""Every command of the README and of the documentation: run as it is typed, or (where it takes long) read.

One runs in a shell, in a process of its own, with what is installed here; the others do in `make thorough`.
"""

import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from autoinit.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^(?:\$ )?((?:autoinit|python -m autoinit[\w.]*) .*)$", re.MULTILINE)
INLINE = re.compile(r"`(autoinit [a-z][^`]*[:-][^`]*)`|^- run: (autoinit .*)$", re.MULTILINE)
"""In sentences, and as steps of a workflow."""
CLI = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


def in_blocks():
    """(file, command) for each line of a block that is one."""
    return [(path.name, line) for path in FILES for block in FENCE.findall(path.read_text(encoding="utf-8"))
            for line in LINE.findall(block)]  # fmt: skip


OURS = [(name, line) for name, line in in_blocks() if line.startswith("autoinit ")]
LABS = [(name, line) for name, line in in_blocks() if line.startswith("python -m autoinit.labs")]
SPOKEN = [(path.name, one or two) for path in FILES for one, two in INLINE.findall(path.read_text(encoding="utf-8"))]


def test_there_are_commands():
    assert len([1 for name, _ in OURS if name == "cli.md"]) >= 8
    assert "autoinit check timm:resnet18 --fail-on bad" in [line for _, line in OURS]
    assert len(LABS) >= 8 and SPOKEN


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the model of the page, `net.py`; it is forgotten afterwards."""
    (tmp_path / "net.py").write_text(re.search(r"```python\n(.*?)```", CLI, re.DOTALL)[1])
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "net", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def in_a_shell(line):
    """A line in a shell whose commands are those of this environment: exit code, what it printed, what went wrong."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    found = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env={**os.environ, "PATH": path})
    return found.returncode, found.stdout, found.stderr


def in_this_process(line):
    found = CliRunner().invoke(app, shlex.split(line, comments=True)[1:])
    return found.exit_code, found.stdout, found.stderr


IN_A_SHELL = next(line for name, line in OURS if name == "cli.md" and "--json plan.json" in line)
"""The one with the most options, and a pattern that a shell would take for its own."""


@pytest.mark.parametrize(("name", "line"), OURS, ids=lambda value: value)
def test_command(name, line, here):
    """As somebody types it, but in this process: starting one takes seconds."""
    does_what_is_said(line, here, in_this_process)


@pytest.mark.slow
@pytest.mark.parametrize("line", [
    pytest.param(line, marks=() if line == IN_A_SHELL else pytest.mark.thorough, id=line) for _, line in OURS
])  # fmt: skip
def test_command_in_a_shell(line, here):
    does_what_is_said(line, here, in_a_shell)


def does_what_is_said(line, here, typed):
    """A plan that is compared was written before."""
    words = shlex.split(line, comments=True)
    if "plan.json" in words and "--json" not in words:
        assert typed(next(other for _, other in OURS if "--json plan.json" in other))[0] == 0
    code, printed, wrong = typed(line)
    bad = "# exit code 1" in line or line == "autoinit check timm:resnet18 --fail-on bad"  # as timm initializes it
    assert code == (1 if bad else 0), wrong
    assert printed and "Traceback" not in wrong
    for option in ("--json", "--plot", "--html", "--output"):
        if option in words and words[words.index(option) + 1] != "-":
            assert (here / words[words.index(option) + 1]).stat().st_size > 100


@pytest.mark.parametrize(("name", "line"), LABS, ids=lambda value: value)
def test_commands_of_labs_are_understood(name, line):
    """Trainings of hours are not run: the command's own parser takes their options."""
    module, command, *words = shlex.split(line, comments=True)[2:]
    if module == "autoinit.labs.data":  # whose words are names
        assert command in importlib.import_module("autoinit.labs.data.sets").SETS and not words
        return
    lab = typer.main.get_command(importlib.import_module(f"{module}.command").app)
    assert lab.commands[command].make_context(command, words) is not None


@pytest.mark.parametrize(("name", "line"), SPOKEN, ids=lambda value: value)
def test_commands_in_sentences_are_understood(name, line):
    command, *words = shlex.split(line, comments=True)[1:]
    if command.startswith("-"):
        assert command in CliRunner().invoke(app, ["--help"]).stdout
    else:
        assert typer.main.get_command(app).commands[command].make_context(command, words).params


def test_every_option_that_is_named_exists():
    commands = ("plan", "check", "measure", "init", "diff")
    text = " ".join(CliRunner().invoke(app, [name, "--help"]).stdout for name in commands)
    known = set(re.findall(r"--[a-z-]+", text)) | {"--install-completion"}
    assert set(re.findall(r"--[a-z][a-z-]+", CLI)) <= known
