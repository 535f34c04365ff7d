"""Plans as tables of pandas."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("torch")

from torch import nn

import autoinit


@pytest.fixture(scope="module")
def plan() -> autoinit.Plan:
    return autoinit.plan(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)), (4, 8))


def test_rows(plan: autoinit.Plan) -> None:
    pytest.importorskip("pandas")
    layers = plan.to_dataframe()
    assert list(layers["name"]) == ["0", "2"] and list(layers["verdict"]) == ["ok", "ok"]
    assert layers["std"][1] == plan.parameter("2.weight").std and layers["shape"][1] == (4, 4)
    parameters = plan.to_dataframe("parameters").set_index("name")
    assert len(parameters) == len(plan) and parameters.loc["2.weight", "action"] == "set"
    assert parameters.loc["2.weight", "std"] == layers["std"][1] and "parts" not in parameters
    tensors = plan.to_dataframe("tensors")
    assert list(tensors["op"]) == [t.op for t in plan.tensors]
    assert list(tensors["tensor_variance"]) == [t.tensor_variance for t in plan.tensors]


def test_a_plan_without_layers_has_the_columns(plan: autoinit.Plan) -> None:
    pytest.importorskip("pandas")
    empty = autoinit.Plan.from_dict({**plan.to_dict(), "parameters": [], "tensors": [], "outputs": [], "slopes": []})
    for rows in ("layers", "parameters", "tensors"):
        assert list(empty.to_dataframe(rows)) == list(plan.to_dataframe(rows)) and len(empty.to_dataframe(rows)) == 0


def test_other_rows(plan: autoinit.Plan) -> None:
    with pytest.raises(autoinit.AutoInitError, match="'layers', 'parameters', 'tensors'"):
        plan.to_dataframe("weights")  # type: ignore[arg-type]


def test_without_pandas(plan: autoinit.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^to_dataframe needs pandas: pip install 'pandas'$"):
        plan.to_dataframe()
