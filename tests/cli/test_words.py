"""What the commands print: how wide, in which colours, in whose words, and what each exit code means."""

import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import fields
from typing import get_args

import pytest
import typer
from typer.testing import CliRunner

import autoinit
from autoinit.cli import settings
from autoinit.cli.app import app
from autoinit.cli.speaking import in_our_words
from autoinit.core.options import CENTRES, DISTRIBUTIONS, Options, Recipe, Residual, Tables

NETS = """
import torch
from torch import nn

print("said by the user's file")

def small():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

def larger():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4), nn.ReLU(), nn.Linear(4, 4))

def vanishing():
    torch.manual_seed(0)
    return nn.Sequential(*(part for _ in range(8) for part in (nn.Linear(16, 16), nn.Tanh())))

class Scan(nn.Module):
    def __init__(self):
        super().__init__()
        self.a_layer_with_quite_a_long_name_that_goes_on = nn.Linear(16, 16)

    def forward(self, x):
        return torch.cummax(self.a_layer_with_quite_a_long_name_that_goes_on(x), 1)[0].frexp()[0]

def fails():
    raise RuntimeError("no such " + "thing " * 40)

def holes():
    made = small()
    made[0].weight.data[0, 0] = float("nan")
    return made
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "nets_here.py").write_text(NETS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "nets_here", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def run(*words, columns=80):
    return CliRunner().invoke(app, [str(w) for w in words], env={"COLUMNS": str(columns)})


@pytest.mark.parametrize(
    "words",
    [["plan", "nets_here.py:vanishing", "-i", "16"], ["check", "nets_here.py:vanishing", "-i", "16"],
     ["measure", "nets_here.py:vanishing", "-i", "16"], ["check", "nets_here.py:holes", "--preflight"],
     ["diff", "nets_here.py:small", "nets_here.py:larger", "-i", "16"], ["plan", "nets_here.py:Scan", "-i", "16"],
     ["plan", "nets_here.py:fails", "-i", "16"], ["plan", "nets_here.py:small", "-i", "17"], ["plan", "nothing"],
     ["plan", "nets_here.py:small", "-i", "16", "--variance", "-1"], ["--help"], ["plan", "--help"], ["diff", "--help"],
     ["check", "--help"], ["measure", "--help"], ["init", "--help"], ["schema", "--help"], ["demo", "--help"],
     ["plan", "nets_here.py:small", "-i", "16", "--variance", "2=0"],
     ["init", "nets_here.py:small", "-i", "16", "-o", "w.safetensors"]],
    ids=lambda words: " ".join(words[:2]),
)  # fmt: skip
def test_eighty_columns(here, words):
    found = run(*words)
    assert found.output.strip() and "Traceback" not in found.output
    # a path that is longer than a line is not cut
    assert all(len(line) <= 80 or len(line.split()) == 1 for line in found.output.splitlines())


@pytest.mark.parametrize(
    ("words", "code"),
    [(["check", "small", "-i", "16"], 0), (["check", "vanishing", "-i", "16", "--fail-on", "bad"], 1),
     (["measure", "vanishing", "-i", "16", "--fail-on", "bad"], 1), (["check", "holes", "--preflight"], 1),
     (["check", "small", "--preflight"], 0), (["plan", "small", "-i", "16", "--center", "middle"], 2),
     (["plan", "small", "-i", "16", "--variance", "-1"], 2), (["plan", "small", "-i", "16", "--seed", "-1"], 2),
     (["plan", "fails", "-i", "16"], 3), (["plan", "small", "-i", "16", "--json", "no/such/folder.json"], 3),
     (["plan", "small", "-i", "16", "--max-ops", "1"], 3)],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)  # fmt: skip
def test_exit_codes(here, words, code):
    found = run(words[0], f"nets_here.py:{words[1]}", *words[2:])
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output


def test_a_traceback_is_for_those_who_ask(here):
    words = ["plan", "nets_here.py:fails", "-i", "16"]
    assert "Traceback" not in run(*words).stderr
    asked = run(*words, "--traceback")
    assert asked.exit_code == 3
    assert "Traceback" in asked.stderr and "nets_here.py" in asked.stderr


@pytest.mark.parametrize(
    ("python", "ours"),
    [("option 'variance': 'variance' takes a number", "--variance: --variance takes a number"),
     ("variance=1.0", "--variance 1.0"), ("skip='head.*'", "--skip 'head.*'"), ("raise max_ops", "raise --max-ops"),
     ("keep_zeros=False", "--no-keep-zeros"), ("max_seconds=120.0", "--max-seconds 120.0"),
     ("distribution='normal'", "--distribution normal"), ("a variance of 2", "a variance of 2"),
     ("variance={'head': 0.1, '*': 1.0}", "--variance 'head=0.1,*=1.0'")],
)  # fmt: skip
def test_words(python, ours):
    assert in_our_words(python) == ours


def test_errors_speak_the_language_of_the_command_line(here):
    found = run("plan", "nets_here.py:small", "-i", "16", "--variance", "-1")
    assert found.stderr.startswith("autoinit: --variance takes a finite positive number")
    assert "to fix:   --variance 1.0" in found.stderr
    found = run("plan", "nets_here.py:small", "-i", "16", "--max-ops", "1")
    assert "--max-ops" in found.stderr and "max_ops" not in found.stderr
    found = run("plan", "nets_here.py:small").stderr
    assert "--input 3x224x224" in found and "mask=1x64:mean=0.5,variance=0.25" in found


@pytest.mark.parametrize(
    "words",
    [["plan", "small", "-i", "16"], ["check", "small", "-i", "16"], ["measure", "small", "-i", "16"],
     ["check", "small", "--preflight"], ["diff", "small", "nets_here.py:larger", "-i", "16"]],
    ids=" ".join,
)  # fmt: skip
def test_json_is_alone_on_standard_output(here, words):
    """Also where the user's own file prints, and a page and a figure are written."""
    more = ["--html", "a.html", "--plot", "a.png"] if words[0] == "measure" else []
    found = run(words[0], f"nets_here.py:{words[1]}", *words[2:], *more, "--json", "-")
    assert found.exit_code == 0, found.output
    assert next(iter(json.loads(found.stdout))).startswith("autoinit_")
    assert "said by the user's file" in found.stderr


def test_diff(here):
    """Of a file with a model, and of two models; other verdicts make an exit code only where that is asked for."""
    assert run("plan", "nets_here.py:small", "-i", "16", "--json", "plan.json").exit_code == 0
    same = run("diff", "plan.json", "nets_here.py:small", "-i", "16")
    assert same.exit_code == 0 and "no difference" in same.stdout
    changed = run("diff", "plan.json", "nets_here.py:larger", "-i", "16", "--fail-on", "bad")
    assert changed.exit_code == 0 and "4.weight" in changed.stdout
    words = ["diff", "plan.json", "nets_here.py:vanishing", "-i", "16", "--now"]
    assert run(*words).exit_code == 0
    worse = run(*words, "--fail-on", "bad")
    assert worse.exit_code == 1 and "are worse" in worse.stderr
    assert run("diff", "plan.json", "absent.json").exit_code == 3


def test_the_choices_are_those_of_the_library():
    for enum, words in (
        (settings.Distribution, DISTRIBUTIONS), (settings.Recipe, get_args(Recipe)), (settings.Center, CENTRES[1:]),
        (settings.Tables, get_args(Tables)), (settings.Residual, get_args(Residual)),
    ):  # fmt: skip
        assert {item.value for item in enum} == set(words)


OF_PYTHON_ONLY = {"training", "rules", "warn", "progress", "strict"}
"""`--eval` stands for the first; a terminal has no functions; the others are how the command line itself speaks."""


@pytest.mark.parametrize(("command", "absent"), [("plan", set()), ("init", {"gradients"}), ("diff", {"gradients"})])
def test_the_options_are_those_of_the_library(command, absent):
    known = typer.main.get_command(app).commands[command].params
    wanted = {field.name for field in fields(Options)} - OF_PYTHON_ONLY - absent
    assert wanted <= {one.name for one in known}


@pytest.mark.parametrize(
    ("word", "value"),
    [("2", 2.0), ("1e-3", 1e-3), ("stable", "stable"), ("head=0.1,*=1", {"head": 0.1, "*": 1.0}),
     ("blocks.*.fc2=0.5, *=stable", {"blocks.*.fc2": 0.5, "*": "stable"}), ("nonsense", "nonsense")],
)  # fmt: skip
def test_variances_as_words(word, value):
    found = settings.read_variance(word)
    assert found == value and (not isinstance(value, dict) or list(found) == list(value))  # the first that matches


def test_variances_reach_the_plan(here):
    words = ["plan", "nets_here.py:small", "-i", "16", "--json", "plan.json", "--variance"]
    assert run(*words, "2=0.25,*=4").exit_code == 0
    by_name = autoinit.Plan.load("plan.json")
    assert run(*words, "4").exit_code == 0
    uniform = autoinit.Plan.load("plan.json")
    assert by_name["0.weight"].std == uniform["0.weight"].std
    assert by_name["2.weight"].std == pytest.approx(uniform["2.weight"].std / 4)
    assert run(*words, "stable").exit_code == 0


@pytest.mark.parametrize(
    ("word", "said"),
    [("2=-1", "(for '2')"), ("2=many", "(for '2')"), ("=1", "PATTERN=NUMBER"), ("2=1,", "PATTERN=NUMBER"),
     ("2=1,2=3", "PATTERN=NUMBER"), ("stabel", "or 'stable'"), ("nan", "finite"), ("2=", "(for '2')")],
)  # fmt: skip
def test_variances_that_are_none(here, word, said):
    found = run("plan", "nets_here.py:small", "-i", "16", "--variance", word)
    assert found.exit_code == 2 and found.stderr.startswith("autoinit: --variance"), found.output
    assert said in " ".join(found.stderr.split()) and "received: " in found.stderr
    assert "to fix:   --variance " in found.stderr


def test_a_diff_of_models_has_the_options_of_a_plan(here):
    words = ["diff", "plan.json", "nets_here.py:small", "-i", "16"]
    options = ["--variance", "2=0.5,*=1", "--distribution", "uniform", "--center", "bias", "--calibrate", "--seed", "3"]
    assert run("plan", *words[2:], *options, "--json", "plan.json").exit_code == 0
    assert "no difference" in run(*words, *options).stdout
    assert "no difference" not in run(*words, *options[2:]).stdout
    assert "no difference" not in run(*words, *options[:2]).stdout


TWICE = """
import os
from autoinit.cli.app import app
for os.environ["NO_COLOR"] in ("", "1"):
    app(["check", "nets_here.py:vanishing", "-i", "16"], standalone_mode=False)
    print("=" * 70)
"""


@pytest.mark.slow
def test_colour_is_for_terminals(here):
    """And for those who did not refuse it."""
    main, side = pty.openpty()
    command = [sys.executable, "-c", TWICE]
    variables = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    found = subprocess.Popen(command, cwd=here, stdout=side, stderr=subprocess.PIPE, env=variables)
    os.close(side)
    printed = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        printed += part
    found.communicate()
    os.close(main)
    text = printed.decode()
    coloured, plain, _ = text.split("=" * 70)
    assert found.returncode == 0 and "vanishing" in coloured and "vanishing" in plain
    assert "\x1b[" in coloured and "\x1b[" not in plain
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in text.splitlines()) <= 80


@pytest.mark.slow
def test_files_named_like_modules_do_no_harm(here):
    """In the current folder, for a model that is named as a module, and as a file."""
    for name in ("random.py", "json.py", "queue.py", "typer.py", "torch.py", "select.py"):
        (here / name).write_text("raise RuntimeError('this is not the one of Python')\n")
    start = "import sys; sys.argv[0] = 'autoinit'; from autoinit_nn import main; main()"
    for reference in ("nets_here:small", "nets_here.py:small"):
        command = [sys.executable, "-P" if sys.version_info >= (3, 11) else "-I", "-c", start, "plan", reference]
        found = subprocess.run([*command, "-i", "16"], cwd=here, capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
        assert "2 weight layers" in found.stdout


def test_a_module_of_python_is_not_the_users_file(here):
    (here / "random.py").write_text("make = 3\n")
    found = run("plan", "random:make")
    assert found.exit_code == 3 and "random.py:make" in found.stderr


def test_batch_for_models_that_know_their_inputs(here):
    keras = pytest.importorskip("keras")
    net = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
    (here / "model.json").write_text(net.to_json())
    found = run("plan", "model.json", "--batch", "7")
    assert found.exit_code == 0, found.output
    assert re.search(r"7×4\b", found.stdout)
    (here / "keras_net.py").write_text(
        "import keras\n\n\ndef two():\n"
        "    a = keras.Input((8,), name='a')\n    b = keras.Input((3,), batch_size=5, name='b')\n"
        "    return keras.Model({'a': a, 'b': b}, [keras.layers.Dense(4)(a), keras.layers.Dense(2)(b)])\n"
    )
    found = run("plan", "keras_net.py:two", "--batch", "5")
    assert found.exit_code == 0 and "5×4" in found.stdout and "5×2" in found.stdout, found.output
