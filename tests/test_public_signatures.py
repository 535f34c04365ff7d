"""What editors and type checkers know of the public functions: every option, its type and its default."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import autoinit
from autoinit import api
from autoinit.baselines.by_name import SchemeOptions
from autoinit.baselines.layer_sequential import LsuvOptions, lsuv
from autoinit.core.options import GivenOptions, Options

ROOT = Path(__file__).parent.parent
TAKE_OPTIONS = (autoinit.plan, autoinit.initialize, autoinit.check, autoinit.measure, api.predict)

SCRIPT = """
import autoinit

plan = autoinit.plan(object(), (4, 8), variance=2.0, distribution="uniform", center="bias", skip=["head.*"])
plan = autoinit.initialize(object(), (4, 8), seed=1, rules={"linear": print}, only="head.*", max_seconds=3)
plan = autoinit.plan(object(), (4, 8), varaince=2.0)  # wrong
autoinit.initialize(object(), (4, 8), seed="1")  # wrong
autoinit.check(object(), (4, 8), center="biass")  # wrong
autoinit.check(object(), (4, 8), center="activation")
autoinit.measure(object(), (4, 8), repeats=2, distribution="gaussian")  # wrong
autoinit.measure(object(), (4, 8), repeats=2, warn=False).plot("a.png", title="A")
autoinit.watch(object(), plan, evry=2)  # wrong
autoinit.watch(object(), plan, every=2)
plan.plot("a.png", titel="A")  # wrong
plan.apply(object(), 3, partial=True)
autoinit.AutoInit(seed=1, signal_variance="1")  # wrong
plan.diff(autoinit.plan(object(), (4, 8)), tolerance=0.1)
plan.diff(autoinit.plan(object(), (4, 8)), tolerence=0.1)  # wrong
autoinit.plan(object(), (4, 8), recipe="train", residual="depth", tables="matched", keep_zeros=False, exact=True)
autoinit.plan(object(), (4, 8), recipe="best")  # wrong
autoinit.summary(object(), (4, 8), training=False)
autoinit.summary(object(), (4, 8), training="no")  # wrong
autoinit.baselines.initialize(object(), (4, 8), "lsuv", 1, samples=3)
autoinit.baselines.initialize(object(), (4, 8), "lsuv", 1, sampels=3)  # wrong
"""


@pytest.mark.slow
def test_mypy_finds_exactly_the_wrong_options(tmp_path: Path) -> None:
    """Every one in a script that has them, and nothing in one with the right ones alone."""
    pytest.importorskip("mypy")
    lines = SCRIPT.splitlines()
    wrong, right = tmp_path / "wrong.py", tmp_path / "right.py"
    wrong.write_text(SCRIPT, encoding="utf-8")
    right.write_text("\n".join(line for line in lines if "# wrong" not in line) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(wrong), str(right)]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    errors = [line.split(":") for line in answer.stdout.splitlines() if ": error:" in line]
    found = {(Path(place).name, int(line)) for place, line, *_ in errors}
    assert found == {("wrong.py", k) for k, line in enumerate(lines, 1) if "# wrong" in line}, answer.stdout
    assert answer.returncode == 1


def test_every_option_has_a_type() -> None:
    assert set(GivenOptions.__annotations__) == {field.name for field in fields(Options)}


@pytest.mark.parametrize("function", TAKE_OPTIONS)
def test_signatures_show_options_and_defaults(function: Any) -> None:
    shown = inspect.signature(function).parameters
    for field in fields(Options):
        assert shown[field.name].default == field.default and shown[field.name].annotation


def test_options_of_lsuv() -> None:
    known = set(inspect.signature(lsuv).parameters) - {"model", "inputs", "seed", "training"}
    assert set(LsuvOptions.__annotations__) == known
    assert known <= set(SchemeOptions.__annotations__)


def public() -> list[Any]:
    functions = [getattr(autoinit, name) for name in autoinit.__all__ if name != "AutoInitWarning"]
    plans = [getattr(autoinit.Plan, name) for name in ("apply", "plot", "to_html", "save", "load", "from_dict", "of")]
    return [f for f in (*functions, *plans, autoinit.baselines.lsuv, autoinit.baselines.classical) if callable(f)]


@pytest.mark.parametrize("function", public(), ids=lambda f: getattr(f, "__qualname__", str(f)))
def test_nothing_public_takes_anything(function: Any) -> None:
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
