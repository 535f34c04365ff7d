"""Exit code 1 means a bad signal and nothing else; whatever goes wrong is one message, without a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
testing = pytest.importorskip("typer.testing")

from autoinit.cli.app import app  # noqa: E402

SOURCE = """
import sys
from torch import nn

def fine():
    return nn.Linear(4, 4)

def small():
    model = nn.Linear(4, 4)
    nn.init.constant_(model.weight, 1e-9)
    nn.init.zeros_(model.bias)
    return model

def frozen():
    return nn.Linear(4, 4).requires_grad_(False)

def raises():
    raise RuntimeError("boom")

def leaves():
    sys.exit(1)

def interrupted():
    raise KeyboardInterrupt

def no_memory():
    raise MemoryError

def recursion():
    return recursion()

def nothing():
    return None

def number():
    return 5

def needs(argument):
    return argument

class Fails(nn.Linear):
    def forward(self, x):
        raise ValueError("in forward")

def fails():
    return Fails(4, 4)
"""
CASES = {
    "fine": (["check", "net.py:fine", "-i", "4"], 0, "1 weight layers"),
    "fine though frozen": (["plan", "net.py:frozen", "-i", "4"], 0, "no parameter is set"),
    "a bad signal that nobody asked for": (["check", "net.py:small", "-i", "4"], 0, "vanishing"),
    "a bad signal": (["check", "net.py:small", "-i", "4", "--fail-on", "bad"], 1, "vanishing"),
    "a bad signal, measured": (["measure", "net.py:small", "-i", "4", "--fail-on", "bad"], 1, "vanishing"),
    "an error while the model is made": (["check", "net.py:raises", "-i", "4"], 3, "RuntimeError: boom"),
    "a module that leaves": (["check", "net.py:leaves", "-i", "4"], 3, "SystemExit"),
    "an interrupt": (["check", "net.py:interrupted", "-i", "4"], 130, "interrupted"),
    "no memory": (["check", "net.py:no_memory", "-i", "4"], 3, "MemoryError"),
    "endless recursion": (["check", "net.py:recursion", "-i", "4"], 3, "RecursionError"),
    "nothing": (["check", "net.py:nothing", "-i", "4"], 3, "not a model"),
    "a number": (["check", "net.py:number", "-i", "4"], 3, "not a model"),
    "a function with arguments": (["check", "net.py:needs", "-i", "4"], 3, "needs no arguments"),
    "an error in forward": (["check", "net.py:fails", "-i", "4"], 3, "in forward"),
    "an error in forward, measured": (["measure", "net.py:fails", "-i", "4"], 3, "in forward"),
    "no such name": (["check", "net.py:nosuch", "-i", "4"], 3, "has no 'nosuch'"),
    "no such file": (["check", "nosuch.py:fine", "-i", "4"], 3, "no such file"),
    "a file that is no Python": (["check", "broken.py:fine", "-i", "4"], 3, "SyntaxError"),
    "a file that fails when it is read": (["check", "failing.py:fine", "-i", "4"], 3, "ZeroDivisionError"),
    "no such module": (["check", "nosuch_module:fine", "-i", "4"], 3, "no module"),
    "no input": (["check", "net.py:fine"], 2, "do not know their inputs"),
    "another shape": (["check", "net.py:fine", "-i", "5"], 3, "forward failed"),
    "a shape of zero": (["check", "net.py:fine", "-i", "0"], 2, "not zero"),
    "a shape that is none": (["check", "net.py:fine", "-i", "4by4"], 2, "sizes with x in between"),
    "an input of NaN": (["check", "net.py:fine", "-i", "4:mean=nan"], 2, "finite"),
    "an impossible correlation": (["check", "net.py:fine", "-i", "4:correlation=-0.9"], 2, "-1/(n - 1)"),
    "a negative variance": (["plan", "net.py:fine", "-i", "4", "--variance", "-1"], 2, "finite positive"),
    "a negative seed": (["plan", "net.py:fine", "-i", "4", "--seed", "-1"], 2, "from 0"),
    "an unknown distribution": (["plan", "net.py:fine", "-i", "4", "--distribution", "x"], 2, "one of"),
    "no folder for the page": (["plan", "net.py:fine", "-i", "4", "--html", "nosuch/page.html"], 3, "nosuch"),
    "no folder for the figure": (["plan", "net.py:fine", "-i", "4", "--plot", "nosuch/page.png"], 3, "nosuch"),
    "no folder for the plan": (["plan", "net.py:fine", "-i", "4", "--json", "nosuch/plan.json"], 3, "nosuch"),
    "a figure of no kind": (["plan", "net.py:fine", "-i", "4", "--plot", "page.xyz"], 3, "xyz"),
    "weights of no kind": (["init", "net.py:fine", "-i", "4", "-o", "weights.xyz"], 2, "safetensors"),
    "nothing to write": (
        ["init", "net.py:frozen", "-i", "4", "-o", "w.safetensors"],
        0,
        "warning: none of 2 parameters",
    ),
    "an unknown option": (["check", "net.py:fine", "--nosuch"], 2, "No such option"),
    "an unknown command": (["chekc", "net.py:fine"], 2, "No such command"),
    "a batch of zero": (["check", "net.py:fine", "-i", "4", "--batch", "0"], 2, "--batch"),
}


@pytest.mark.parametrize("name", CASES)
def test_exit_code(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, code, text = CASES[name]
    if "weights" in name or "write" in name:
        pytest.importorskip("safetensors")
    (tmp_path / "net.py").write_text(SOURCE)
    (tmp_path / "broken.py").write_text("def fine(:\n")
    (tmp_path / "failing.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    done = testing.CliRunner().invoke(app, words)
    assert done.exit_code == code, done.output
    assert text in done.output and "Traceback" not in done.output
