"""The commands of docs/cli.md do what it says."""

import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autoinit.cli.app import app

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ autoinit (.*)$", TEXT, re.MULTILINE)


def test_there_are_commands():
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("line", COMMANDS)
def test_command(line, tmp_path, monkeypatch):
    (tmp_path / "net.py").write_text(re.search(r"```python\n(.*?)```", TEXT, re.DOTALL)[1])
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "net", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    words = shlex.split(line, comments=True)
    found = CliRunner().invoke(app, words)
    assert found.exit_code == (1 if "# exit code 1" in line else 0), found.output
    for option in ("--json", "--plot", "--output"):
        if option in words:
            assert (tmp_path / words[words.index(option) + 1]).stat().st_size > 100


def test_every_option_that_is_named_exists():
    text = " ".join(CliRunner().invoke(app, [name, "--help"]).stdout for name in ("plan", "check", "measure", "init"))
    known = set(re.findall(r"--[a-z-]+", text)) | {"--install-completion"}
    assert set(re.findall(r"--[a-z][a-z-]+", TEXT)) <= known
