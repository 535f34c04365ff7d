"""A run from its preset to its tables: sampling, evaluation, interruption, evolution, commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

from typer.testing import CliRunner

from autoinit.errors import OptionError
from autoinit.labs.evolution import Journal, Outcome
from autoinit.labs.pangaea import Function
from autoinit.labs.pangaea.command import app
from autoinit.labs.pangaea.evaluation import evaluate, images, network
from autoinit.labs.pangaea.presets import CPU, PAPER, PRESETS, SMOKE, Setting, preset
from autoinit.labs.pangaea.sampling import job, jobs, sample
from autoinit.labs.pangaea.search import evolve_functions, fitness
from autoinit.labs.training import Recipe

ROOT = Path(__file__).resolve().parents[3]
TINY = SMOKE.changed(functions=2, recipe={**SMOKE.setting.recipe, "steps": 8})


def test_presets_can_be_trained() -> None:
    for one in PRESETS.values():
        recipe = Recipe.from_dict(dict(one.setting.recipe))
        assert Setting.from_dict(json.loads(json.dumps(one.setting.to_dict()))) == one.setting
        assert (recipe.momentum, recipe.optimizer) == (0.9, "sgd")
    paper = Recipe.from_dict(dict(PAPER.setting.recipe))
    assert (paper.epochs, paper.learning_rate, paper.weight_decay, paper.pad) == (350, 0.01, 1e-3, 5)
    assert PAPER.functions == CPU.functions == 200 and PAPER.setting.validation == CPU.setting.validation == 5000


def test_unknown_presets_and_fields_are_refused() -> None:
    with pytest.raises(OptionError, match=r"(?s)unknown preset 'gpu'.*one of paper, cpu, smoke"):
        preset("gpu")
    with pytest.raises(OptionError, match="did you mean 'width'"):
        CPU.changed(widht=3)
    with pytest.raises(OptionError, match="unknown field 'depth'"):
        Setting.from_dict({"depth": 3})


def test_samples_are_different_and_grow() -> None:
    functions = sample(60, seed=3)
    assert len({f.key for f in functions}) == 60
    assert sample(20, seed=3) == functions[:20] and sample(20, seed=4) != functions[:20]


def test_every_function_meets_every_initialization() -> None:
    found = jobs(TINY)
    assert len(found) == 3 * (TINY.baselines + TINY.functions) and len({j.key for j in found}) == len(found)
    kinds = [(j.payload["kind"], j.payload["initialization"]) for j in found]
    assert kinds[:3] == [("baseline", "default"), ("baseline", "autoinit"), ("baseline", "autoinit++")]
    json.dumps([dict(j.payload) for j in found])


def test_one_evaluation_learns() -> None:
    made = job(Function.parse("alpha * swish(x)"), "autoinit", SMOKE, 0)
    value = evaluate(made.payload)
    assert value["formula"] == "alpha * swish(x)" and value["steps"] == 60 and not value["diverged"]
    assert value["accuracy"] > 0.5  # ten classes: chance is 0.1 ± 0.02
    assert value["accuracy"] == evaluate(made.payload)["accuracy"]


def test_divergence_is_told() -> None:
    value = evaluate(job(Function.parse("exp(exp(x**2))"), "default", TINY, 0).payload)
    assert value["diverged"] and value["steps"] < 8
    outcome = Outcome("k", "done", value)
    assert fitness(outcome) == pytest.approx(value["accuracy"]) or not np.isfinite(value["accuracy"])
    assert fitness(Outcome("k", "time")) == 0.0


def test_initializations_differ_where_they_should() -> None:
    """AutoInit++ subtracts means; an unknown name is refused before anything is trained."""
    from autoinit.labs.pangaea.evaluation import prepare

    data = images(TINY.setting)
    models = {}
    for name in ("default", "autoinit", "autoinit++"):
        models[name] = network(Function.parse("softplus(x)"), TINY.setting, data)
        prepare(models[name], name, (32, 1, 16, 16), seed=0)
    shifts = [float(m.center_shift) for m in models["autoinit++"].modules() if hasattr(m, "center_shift")]
    assert len(shifts) == 9 and shifts[0] == pytest.approx(0.806, abs=0.02)  # E softplus(z), less at borders
    first = [float(models[name][1].weight.std()) for name in ("default", "autoinit")]
    assert first[0] != pytest.approx(first[1], rel=0.05)
    with pytest.raises(OptionError, match="unknown initialization 'he'"):
        prepare(models["default"], "he", (32, 1, 16, 16), seed=0)


@pytest.mark.slow
def test_command_survives_kill_and_resumes(tmp_path: Path) -> None:
    """kill -9 of a run in the middle; the same command finishes it, every training once."""
    command = [sys.executable, "-W", "ignore", "-m", "autoinit.labs.pangaea", "run", str(tmp_path), "--preset", "smoke",
               "--functions", "2"]  # fmt: skip
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    begun = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = tmp_path / "journal.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (journal.exists() and len(journal.read_text().splitlines()) > 3):
        time.sleep(0.1)
    begun.send_signal(signal.SIGKILL)
    begun.wait()
    before = set(Journal.read(journal).records)
    written = [line for line in journal.read_text().splitlines() if any(f'"{key}"' in line for key in before)]
    assert 0 < len(before) < 9
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    lines = journal.read_text().splitlines()
    assert len(lines) - 1 == len(Journal.read(journal).records) == 9 and set(written) <= set(lines)
    assert "## How functions failed" in done.stdout
    assert f"run {tmp_path} --preset smoke" in (tmp_path / "results.md").read_text()
    assert {"results.md", "results.json", "accuracies.png"} <= {p.name for p in tmp_path.iterdir()}


@pytest.mark.slow
def test_evolution_resumes_and_ranks(tmp_path: Path) -> None:
    options = {"population": 3, "tournament": 2, "engine": "serial", "workers": 1, "progress": False}
    whole = evolve_functions(TINY, tmp_path / "whole.jsonl", evaluations=7, **options)
    evolve_functions(TINY, tmp_path / "parts.jsonl", evaluations=4, **options)
    parts = evolve_functions(TINY, tmp_path / "parts.jsonl", evaluations=7, **options)
    assert [m.genome for m in parts.individuals] == [m.genome for m in whole.individuals]
    assert [m.fitness for m in parts.individuals] == [m.fitness for m in whole.individuals]
    assert len({m.key for m in whole.individuals}) == 7
    best = whole.best(7)
    assert all(a.fitness >= b.fitness for a, b in pairwise(best))


@pytest.mark.slow
def test_the_command_evolve(tmp_path: Path) -> None:
    words = [
        "evolve",
        str(tmp_path),
        "--preset",
        "smoke",
        "--engine",
        "serial",
        "--evaluations",
        "3",
        "--population",
        "2",
    ]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 0, answer.output
    best = [line.split("  ", 1) for line in answer.output.splitlines() if line.startswith("0.")]
    assert len(best) == 3 and [float(a) for a, _ in best] == sorted((float(a) for a, _ in best), reverse=True)
    for _, formula in best:
        Function.parse(formula)


def test_evolution_refuses_unknown_initializations(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="unknown initialization 'he'"):
        evolve_functions(TINY, tmp_path / "j.jsonl", initialization="he")


def test_show(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    answer = CliRunner().invoke(app, ["show", "relu(x)", "--plot", str(tmp_path / "relu.png")])
    assert answer.exit_code == 0 and "mean 0.398942, second moment 0.5" in answer.output
    assert (tmp_path / "relu.png").read_bytes().startswith(b"\x89PNG")
    answer = CliRunner().invoke(app, ["show", "relu(y)"])
    assert answer.exit_code == 2


def test_warns_of_what_has_no_moments() -> None:
    answer = CliRunner().invoke(app, ["show", "x**-1"])
    assert answer.exit_code == 0 and "not integrable" in answer.output


def test_errors_of_commands_are_for_people(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["run", str(tmp_path), "--preset", "gpu"])
    assert answer.exit_code == 2 and "unknown preset" in answer.output
    answer = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert answer.exit_code == 2 and "no such journal" in answer.output
