"""Every command of the README and of the documentation: run as it is typed, or (where it takes long) read.

They run in a shell, in processes of their own, with what is installed here: nothing stands in for anything.
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


@pytest.mark.slow
@pytest.mark.parametrize(("name", "line"), OURS, ids=lambda value: value)
def test_command(name, line, tmp_path):
    """What a page's first model is called is in its file `net.py`; a plan that is compared was written before."""
    (tmp_path / "net.py").write_text(re.search(r"```python\n(.*?)```", CLI, re.DOTALL)[1])
    words = shlex.split(line, comments=True)
    if "plan.json" in words and "--json" not in words:
        written = next(other for _, other in OURS if "--json plan.json" in other)
        assert typed(written, tmp_path).returncode == 0
    found = typed(line, tmp_path)
    bad = "# exit code 1" in line or line == "autoinit check timm:resnet18 --fail-on bad"  # as timm initializes it
    assert found.returncode == (1 if bad else 0), found.stderr
    assert found.stdout and "Traceback" not in found.stderr
    for option in ("--json", "--plot", "--html", "--output"):
        if option in words and words[words.index(option) + 1] != "-":
            assert (tmp_path / words[words.index(option) + 1]).stat().st_size > 100


def typed(line, folder):
    """A line in a shell whose commands are those of this environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": path})  # fmt: skip


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
