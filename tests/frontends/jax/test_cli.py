"""Models of JAX on the command line: a module, or a function with its parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("jax")
pytest.importorskip("flax")
pytest.importorskip("typer")

from typer.testing import CliRunner

from autoinit.cli.app import app

FILE = """
import jax
from flax import nnx

def module():
    return nnx.Linear(40, 8, rngs=nnx.Rngs(0))

def pair():
    return lambda params, x: x @ params["w"], {"w": jax.numpy.ones((40, 8))}
"""


@pytest.mark.parametrize("name", ["module", "pair"])
def test_check_and_init(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}_of_jax.py"
    file.write_text(FILE, encoding="utf-8")
    checked = CliRunner().invoke(app, ["check", f"{file}:{name}", "-i", "40"])
    assert checked.exit_code == 0 and "1 weight layer" in checked.output, checked.output
    pytest.importorskip("safetensors")
    output = tmp_path / "weights.safetensors"
    made = CliRunner().invoke(app, ["init", f"{file}:{name}", "-i", "40", "-o", str(output)])
    assert made.exit_code == 0 and output.exists(), made.output
