"""Tasks: the digits, a multi-task of one's own, and what a supervised task does with its data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

import torch
from typer.testing import CliRunner

from autoinit.errors import OptionError
from autoinit.labs.codeepneat import (
    Evolution,
    Labelled,
    Layer,
    NetworkGenome,
    Parts,
    Preset,
    Space,
    Supervised,
    TaskError,
    Training,
)  # fmt: skip
from autoinit.labs.codeepneat.command import app
from autoinit.labs.codeepneat.evaluation import evaluate, fitness_of, job, status_of
from autoinit.labs.codeepneat.finding import task_class
from autoinit.labs.codeepneat.sampling import random_network
from autoinit.labs.codeepneat.tasks import TASKS
from autoinit.labs.codeepneat.tasks.digits import Digits
from autoinit.labs.evolution import Outcome
from tests.labs.codeepneat.small_spaces import SETTINGS

SMOKE = Digits.preset_of("smoke")


def convolutional(rate: float = 0.01) -> NetworkGenome:
    """Good enough for digits after one epoch."""
    weighted = (("activation", "relu"), ("regularizer", "l2"), ("strength", 1e-6), ("initialization", "he_normal"))
    layers = (
        Layer("conv2d_1", "conv2d", (("units", 16), ("kernel", 3), *weighted), ("input",), (8, 8, 16)),
        Layer("max_pooling2d_1", "max_pooling2d", (), ("conv2d_1",), (4, 4, 16)),
        Layer("flatten_1", "flatten", (), ("max_pooling2d_1",), (256,)),
        Layer("dense_1", "dense", (("units", 10), ("activation", "linear"), ("initialization", "he_normal")),
              ("flatten_1",), (10,)),
    )  # fmt: skip
    return NetworkGenome(Digits(SMOKE).input, layers, (("output", "dense_1"),), (("learning_rate", rate),))


@pytest.mark.parametrize("initialization", ["evolved", "autoinit", "autoinit-paper"])
def test_a_network_learns_digits(initialization: str) -> None:
    made = job(convolutional(), "digits", SMOKE, initialization, seed=0, after=3)
    value = evaluate(made.payload)
    assert value["fitness"] > 0.8 and value["test"]["accuracy"] > 0.75  # ten classes: chance is 0.1
    assert value["fitness"] == value["validation"]["accuracy"] and not value["diverged"] and value["steps"] == 40
    again = evaluate(made.payload)
    for name in ("initialization_seconds", "training_seconds"):
        assert value.pop(name) > 0 and again.pop(name) > 0
    assert value == again


def test_divergence_is_the_worst() -> None:
    value = evaluate(job(convolutional(rate=1e30), "digits", SMOKE, "evolved", seed=0).payload)
    assert value["diverged"] and value["fitness"] == 0.0 and "validation" not in value
    outcome = Outcome("k", "done", value)
    assert status_of(outcome) == "diverged" and fitness_of(outcome, -1.0) == -1.0
    assert status_of(Outcome("k", "time")) == "time" and fitness_of(Outcome("k", "time"), 0.0) == 0.0
    assert status_of(Outcome("k", "done", {"fitness": float("nan")})) == "diverged"


def test_the_global_random_state_stays() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    evaluate(job(convolutional(), "digits", SMOKE, "autoinit", seed=0).payload)
    torch.testing.assert_close(torch.rand(3), expected, rtol=0, atol=0)


def test_digits_are_standardized_by_their_training_part() -> None:
    task = Digits(SMOKE)
    parts = task.parts["output"]
    assert task.input.shape == (8, 8, 1) and [(o.name, o.units) for o in task.outputs] == [("output", 10)]
    assert parts.train.inputs.mean() == pytest.approx(0, abs=1e-5)
    assert parts.train.inputs.std() == pytest.approx(1, abs=1e-4)
    assert abs(parts.test.inputs.mean()) > 1e-4 and parts.train.inputs.dtype == np.float32


@pytest.mark.parametrize("name", TASKS)
def test_tasks_have_the_three_sizes(name: str) -> None:
    found = task_class(name)
    assert list(found.presets()) == ["paper", "cpu", "smoke"] and found.title
    for preset in found.presets().values():
        assert Preset.from_dict(preset.to_dict()) == preset
    with pytest.raises(OptionError, match="unknown preset 'huge'"):
        found.preset_of("huge")


class Alphabets(Supervised):
    """Three outputs of random patterns; each class has its own."""

    @classmethod
    def presets(cls) -> Mapping[str, Preset]:
        return {"smoke": Preset("smoke", Evolution(), Training(batch_size=16, epochs=2, iterations=60, decay=0.5))}

    def data(self) -> Mapping[str, Parts]:
        rng = np.random.default_rng(0)
        return {output.name: self._drawn(rng, output.units) for output in SETTINGS["soft"].outputs}

    def _drawn(self, rng: np.random.Generator, classes: int) -> Parts:
        patterns = rng.standard_normal((classes, 12, 12, 1))

        def some(count: int) -> Labelled:
            labels = np.arange(count) % classes
            return Labelled(patterns[labels] + 0.3 * rng.standard_normal((count, 12, 12, 1)), labels)

        return Parts(some(160), some(60), some(60), classes)

    def space(self) -> Space:
        return SETTINGS["soft"].space


def test_several_outputs_are_trained_in_turns() -> None:
    task = Alphabets(Alphabets.preset_of("smoke"))
    genome = random_network(task.space(), task.input, task.outputs, np.random.default_rng(1), changes=2)
    genome = NetworkGenome(genome.input, genome.layers, genome.outputs, (("learning_rate", 0.01),))
    value = task.train(genome, "autoinit", seed=0, test=True)
    assert value["steps"] == 120 and value["fitness"] > 0.3  # chance is 0.05
    assert value["test"].keys() == {"accuracy", "loss"}


def test_whose_turn_it_is() -> None:
    from autoinit.labs.codeepneat.training import _batches

    task = Alphabets(Alphabets.preset_of("smoke"))
    steps = list(_batches(task, task.preset.training, 0))
    names = [name for _, name, _, _ in steps]
    assert {name: names.count(name) for name in set(names)} == {"greek": 40, "latin": 40, "runes": 40}
    assert len(set(names[:10])) > 1 and [epoch for epoch, *_ in steps] == [0] * 60 + [1] * 60
    first_round = [labels for _, name, _, labels in steps if name == "greek"][:10]
    expected = np.bincount(np.arange(160) % 24, minlength=24)
    np.testing.assert_array_equal(np.bincount(np.concatenate(first_round), minlength=24), expected)


def test_data_that_does_not_fit() -> None:
    with pytest.raises(TaskError, match="one label for each input"):
        Labelled(np.zeros((3, 2)), np.zeros(2))

    class Unlike(Alphabets):
        def data(self) -> Mapping[str, Parts]:
            one = Labelled(np.zeros((3, 2)), np.zeros(3, int))
            other = Labelled(np.zeros((3, 4)), np.zeros(3, int))
            return {"a": Parts(one, one, one, 2), "b": Parts(other, other, other, 2)}

    with pytest.raises(TaskError, match="inputs of all outputs are alike"):
        _ = Unlike(Unlike.preset_of("smoke")).input


@pytest.mark.slow
def test_the_commands(tmp_path: Path) -> None:
    """A search of digits from its begin to what can be said of it."""
    folder = tmp_path / "run"
    words = ["--task", "digits", "--preset", "smoke", "--initialization", "autoinit", "--engine", "serial"]
    answer = CliRunner().invoke(app, ["run", str(folder), *words, "--generations", "2"])
    assert answer.exit_code == 0, answer.output
    assert "digits (smoke), initialization autoinit, seed 0" in answer.output and "tested: accuracy 0." in answer.output
    told = CliRunner().invoke(app, ["report", str(folder), "--json", "-"])
    assert told.exit_code == 0
    found = json.loads(told.output)
    assert len(found["generations"]) == 2 and found["generations"][0]["networks"] == 6
    assert found["result"]["test"]["accuracy"] > 0.2 and found["times"]["seconds"] > 0
    assert CliRunner().invoke(app, ["report", str(folder), "--json", str(tmp_path / "r.json")]).exit_code == 0
    assert json.loads((tmp_path / "r.json").read_text())["result"] == found["result"]
    shown = CliRunner().invoke(app, ["show", str(folder), "--count", "2"])
    assert shown.exit_code == 0 and shown.output.count("network ") == 2 and "<- input" in shown.output
    listed = CliRunner().invoke(app, ["tasks"])
    assert "digits: handwritten digits" in listed.output and "30 generations of 88 networks" in listed.output


def test_errors_of_commands_are_for_people(tmp_path: Path) -> None:
    for words, why in (
        (["run", str(tmp_path), "--task", "mnits"], "unknown task"),
        (["run", str(tmp_path), "--task", "digits", "--initialization", "he"], "unknown initialization"),
        (["report", str(tmp_path)], "there is no search here"),
        (["show", str(tmp_path)], "there is no search here"),
    ):
        answer = CliRunner().invoke(app, words)
        assert answer.exit_code == 2 and why in answer.output and "to fix" in answer.output
