"""The published schemas are those of what is written, and what is written fits them."""

import json
import sys

import pytest
from typer.testing import CliRunner

from autoinit.cli.app import Kind, app
from autoinit.cli.schemas import KINDS, path_of, schema, written

NETS = """
from torch import nn

def one():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.BatchNorm1d(32), nn.Linear(32, 4))

def other():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

def residual():
    return nn.TransformerEncoderLayer(16, 2, 32)
"""
COMMANDS = {
    "plan": ["plan", "schema_nets.py:one", "-i", "16"],
    "plan of a trunk": ["plan", "schema_nets.py:residual", "-i", "8x16", "--center", "activation", "--recipe", "train"],
    "plan of weights": ["check", "schema_nets.py:one", "-i", "16"],
    "measurement": ["measure", "schema_nets.py:one", "-i", "16"],
    "diff": ["diff", "schema_nets.py:one", "schema_nets.py:other", "-i", "16"],
    "preflight": ["check", "schema_nets.py:one", "--preflight"],
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "schema_nets.py").write_text(NETS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_are_as_printed(kind):
    """After a change of the fields: python -m autoinit.cli.schemas"""
    assert path_of(kind).read_text(encoding="utf-8") == written(kind)
    assert CliRunner().invoke(app, ["schema", kind]).stdout == written(kind)
    assert {item.value for item in Kind} == set(KINDS)


@pytest.mark.parametrize("case", COMMANDS)
def test_what_is_written_fits(here, case):
    jsonschema = pytest.importorskip("jsonschema")
    kind = case.split()[0]
    found = CliRunner().invoke(app, [*COMMANDS[case], "--json", "-"])
    assert found.exit_code == 0, found.output
    data = json.loads(found.stdout)
    checker = jsonschema.Draft202012Validator(schema(kind))
    checker.check_schema(schema(kind))
    checker.validate(data)
    assert data[f"autoinit_{kind}"] == KINDS[kind][0]
    missing = {name: value for name, value in data.items() if name != f"autoinit_{kind}"}
    assert not checker.is_valid(missing) and not checker.is_valid({**data, f"autoinit_{kind}": 999})


def test_a_measurement_tells_verdicts(here):
    found = CliRunner().invoke(app, [*COMMANDS["measurement"], "--json", "m.json"])
    assert found.exit_code == 0
    with open("m.json") as file:
        rows = json.load(file)["tensors"]
    layers = [row for row in rows if row["weight"]]
    assert [row["layer"] for row in layers] == ["0", "3"] and all(row["verdict"] for row in layers)
    assert all(row["verdict"] is None for row in rows if not row["weight"])
    assert layers[0]["ratio"] == pytest.approx(layers[0]["variance"] / layers[0]["predicted_variance"])
