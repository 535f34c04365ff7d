"""The record of one model of the zoo, and the tables made of records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

import autoinit
from benchmarks.zoos.defaults import inspect_default
from benchmarks.zoos.entry import Entry
from benchmarks.zoos.fidelity import judge, normalises, ratios
from benchmarks.zoos.journal import Journal
from benchmarks.zoos.listing import listing
from benchmarks.zoos.study import Settings, study
from benchmarks.zoos.summary import write
from benchmarks.zoos.totals import totals


def small(name: str = "test:mlp", *, norm: bool = True) -> Entry:
    def build() -> torch.nn.Module:
        middle = torch.nn.LayerNorm(64) if norm else torch.nn.Identity()
        return torch.nn.Sequential(torch.nn.Linear(64, 64), middle, torch.nn.ReLU(), torch.nn.Linear(64, 32))

    return Entry(name, "mlp", build, (16, 64))


def quiet(known: dict[str, Any]) -> None:
    pass


def test_a_study_has_every_part() -> None:
    stages: list[str] = []
    record = study(small(), Settings(seeds=2), lambda known: stages.append(known["stage"]), verbose=True)
    assert record["outcome"] == "measured", record
    assert stages == ["build", "plan", "check", "measure"]
    assert record["plan"]["layers"] == record["fidelity"]["layers"]["n"] == 2
    assert record["plan"]["passed"] == {} and record["plan"]["not_reached"] == 0
    assert record["fidelity"]["layers"]["2"] == 2 and record["fidelity"]["outputs_off"] == 0
    assert record["fidelity"]["seeds"] == 2 and not record["fidelity"]["norm_free"]
    assert record["not_random"] == {"count": 0, "first": []}
    json.dumps(record, allow_nan=False)
    assert "2 layers" in listing(record)


def test_weights_that_are_not_random_are_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = autoinit.Plan.apply

    def constant(plan: autoinit.Plan, model: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
        torch.nn.init.constant_(real(plan, model, seed=seed)[0].weight, 0.125)
        return model

    monkeypatch.setattr(autoinit.Plan, "apply", constant)
    record = study(small(), Settings(seeds=1), quiet)
    assert record["not_random"]["count"] and "0.weight" in record["not_random"]["first"][0]
    assert totals([record]).not_random == record["not_random"]["count"]
    write([record], tmp_path)
    text = (tmp_path / "zoo.md").read_text("utf-8")
    assert "Weights that are not random" in text and "| weights set that are not random | " in text


def test_without_normalisation_more_seeds_and_intervals() -> None:
    record = study(small(norm=False), Settings(seeds=2), quiet)
    assert record["fidelity"]["norm_free"] and record["fidelity"]["seeds"] == 10


def test_a_model_that_cannot_be_built_or_run_is_a_record() -> None:
    def broken() -> torch.nn.Module:
        raise ValueError("no such thing")

    record = study(Entry("test:broken", "x", broken, (1, 2)), Settings(), quiet)
    assert record["outcome"] == "build failed" and "no such thing" in record["error"]
    record = study(Entry("test:shape", "x", small().build, (16, 63)), Settings(), quiet)
    assert record["outcome"] == "plan failed"


def test_large_models_are_planned_without_weights() -> None:
    record = study(small(), Settings(measure_below=10), quiet)
    assert record["outcome"] == "planned" and record["device"] == "meta"
    assert "fidelity" not in record


def test_a_large_model_that_needs_real_weights_is_not_measured_either() -> None:
    def build() -> torch.nn.Module:
        model = small().build()
        float(model[0].weight.sum())  # impossible without values
        return model

    record = study(Entry("test:needs_values", "x", build, (16, 64)), Settings(measure_below=10), quiet)
    assert record["outcome"] == "planned" and record["device"] == "cpu"


def test_judging_against_target_prediction_and_interval() -> None:
    model = small(norm=False).build()
    plan = autoinit.plan(model, (16, 64))
    assert not normalises(plan)
    expected = np.array([t.target or t.tensor_variance for t in plan.tensors])
    runs = np.stack([np.zeros_like(expected), expected], axis=1)[None].repeat(3, axis=0)
    assert judge(plan, runs)["layers"] == {"n": 2, "1.25": 2, "2": 2, "median": 1.0}
    runs[:, -1, 1] *= 20  # the last layer is the output
    found = judge(plan, runs)
    assert found["layers"]["2"] == 1 and found["outputs_off"] == 1
    assert found["worst_layer"]["module"] == found["first_off"]["module"] == "3"
    assert found["worst_layer"]["ratio"] == pytest.approx(20)


def test_ratios_of_nothing_and_of_overflow() -> None:
    found = ratios(np.array([0.0, 2.0, np.inf, 1.0]), np.array([0.0, 1.0, np.nan, 0.0]))
    assert found.tolist() == [1.0, 2.0, 1.0, np.inf]


def test_default_initialization_names_the_first_bad_layer() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
    with torch.no_grad():
        model[0].weight.normal_(std=0.125)  # variance 1 for inputs of variance 1
        model[2].weight.normal_(std=1e-3)
    found = inspect_default(model, (256, 64))
    assert found["first_bad"]["module"] == "2" and found["first_bad"]["verdict"] == "vanishing"
    assert found["layer_agrees"] and found["output_agrees"]


def made_up(name: str, **changes: Any) -> dict[str, Any]:
    record = study(small(name), Settings(seeds=2), quiet)
    return {**record, **changes}


def test_summary_counts_and_writes(tmp_path: Path) -> None:
    good = made_up("timm:good")
    lost = {"name": "timm:lost", "family": "other", "outcome": "time limit", "error": "stopped", "stage": "build"}
    half = {k: v for k, v in made_up("torchvision:half", outcome="memory limit").items() if k != "fidelity"}
    half["plan"] = {**half["plan"], "passed": {"aten.strange": 2}}
    write([good, lost, half], tmp_path)
    found = totals([good, lost, half])
    assert (found.models, found.planned, found.measured, found.unmeasured) == (3, 2, 1, 1)
    assert (found.families, found.families_planned, found.passed) == (3, 2, 2)
    text = (tmp_path / "zoo.md").read_text("utf-8")
    assert "| timm:lost | time limit | build | `stopped` |" in text
    assert "| aten.strange | passed through | 2 | 1 |" in text
    stored = json.loads((tmp_path / "zoo.json").read_text("utf-8"))
    assert [m["name"] for m in stored["models"]] == ["timm:good", "timm:lost", "torchvision:half"]
    assert "# Default initializations" in (tmp_path / "defaults.md").read_text("utf-8")


def test_summary_of_nothing(tmp_path: Path) -> None:
    write([], tmp_path)
    assert json.loads((tmp_path / "zoo.json").read_text("utf-8"))["models"] == []


def test_numbers_that_are_none_do_not_stop_a_run(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "zoo.jsonl")
    journal.add({"name": "a", "values": [1.0, float("nan")], "deep": {"x": float("inf")}})
    assert journal.read()["a"] == {"name": "a", "values": [1.0, None], "deep": {"x": None}}
