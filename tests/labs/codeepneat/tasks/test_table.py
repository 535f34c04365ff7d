"""The preset `paper` of each task against the paper's table, number by number."""

from __future__ import annotations

from typing import Any

import pytest

from autoinit.labs.codeepneat import Choice, Evolution, Real, Task, Training, Whole
from autoinit.labs.codeepneat.finding import task_class

FIVE = ("mnist", "omniglot", "adult", "toxicity", "flowers")
SCHEMES = {"glorot_normal", "glorot_uniform", "he_normal", "he_uniform"}
BOTH = ("l1", "l2")

EVOLUTION: dict[str, tuple[float, ...]] = {
    "blueprint_elitism": (0.4, 0.4, 0.4, 0.2, 0.1),
    "module_elitism": (0.4, 0.4, 0.4, 0.2, 0.4),
    "evaluations": (4, 4, 4, 4, 1),
    "generations": (30, 40, 30, 30, 30),
    "blueprints": (22, 22, 22, 22, 20),
    "modules": (56, 56, 56, 56, 20),
    "preserved": (12, 12, 12, 12, 1),
    "blueprint_species": (1, 1, 1, 1, 1),
    "module_species": (4, 4, 4, 4, 2),
    "change": (0.25, 0.25, 0.25, 0.5, 0.5),
    "blueprint_connection": (0.12, 0.12, 0.12, 0.2, 0.12),
    "module_connection": (0.08, 0.08, 0.08, 0.2, 0.08),
    "module_layer": (0.08, 0.08, 0.08, 0.2, 0.08),
    "blueprint_node": (0.16, 0.16, 0.16, 0.2, 0.16),
}
"""Rows of the table; columns in the order of FIVE."""
TRAINING = {
    "mnist": Training(batch_size=128, epochs=5),
    "omniglot": Training(batch_size=20, epochs=3, iterations=1000, decay=0.1**0.1),
    "adult": Training(batch_size=32, epochs=25),
    "toxicity": Training(batch_size=128, epochs=3),
    "flowers": Training(batch_size=8, epochs=30, optimizer="sgd", scaled_penalty=True),
}
RATES = {"mnist": (1e-4, 1e-2), "omniglot": (1e-4, 1e-3), "adult": (1e-4, 1e-2), "toxicity": (1e-4, 1e-2),
         "flowers": (1e-4, 1e-1)}  # fmt: skip
UNITS = {"mnist": (16, 96), "omniglot": (16, 96), "adult": (64, 192), "toxicity": (64, 192), "flowers": (64, 192)}
DROPOUT = {"mnist": ("dropout", 0.7), "omniglot": ("dropout", 0.7), "adult": ("dropout", 0.9),
           "toxicity": ("spatial_dropout1d", 0.5), "flowers": ("dropout", 0.9)}  # fmt: skip
REGULARIZERS = {"mnist": ("l2",), "omniglot": ("l2",), "adult": BOTH, "toxicity": BOTH, "flowers": BOTH}
LEAST = {"mnist": 1e-9, "omniglot": 1e-9, "adult": 1e-9, "toxicity": 1e-9, "flowers": 1e-7}
KERNELS = {"mnist": (1, 3), "omniglot": (1, 3), "toxicity": (1, 3, 5, 7)}
LAYERS = {
    "mnist": {"conv2d", "dropout", "max_pooling2d"},
    "omniglot": {"conv2d", "dropout", "max_pooling2d"},
    "adult": {"dense", "dropout"},
    "toxicity": {"conv1d", "gru", "lstm", "max_pooling1d", "spatial_dropout1d"},
    "flowers": {"dense", "dropout"},
}
MERGES = {"mnist": {"add"}, "omniglot": {"weighted_sum"}, "adult": {"add", "concatenate"},
          "toxicity": {"add", "concatenate"}, "flowers": set()}  # fmt: skip
WEIGHTED = {"conv2d", "conv1d", "dense", "gru", "lstm"}


def paper(name: str) -> Task:
    """Without its data: a space does not need it."""
    found = task_class(name)
    return found(found.preset_of("paper"))


@pytest.mark.parametrize("name", FIVE)
def test_evolution(name: str) -> None:
    column = FIVE.index(name)
    told = paper(name).preset.evolution.to_dict()
    assert {setting: told[setting] for setting in EVOLUTION} == {s: row[column] for s, row in EVOLUTION.items()}
    open_in_the_paper = Evolution().to_dict()
    assert all(told[setting] == open_in_the_paper[setting] for setting in told if setting not in EVOLUTION)


@pytest.mark.parametrize("name", FIVE)
def test_training(name: str) -> None:
    training = paper(name).preset.training
    assert (training.batch_size, training.epochs, training.iterations) == (
        TRAINING[name].batch_size, TRAINING[name].epochs, TRAINING[name].iterations)  # fmt: skip
    assert (training.optimizer, training.scaled_penalty) == (TRAINING[name].optimizer, TRAINING[name].scaled_penalty)
    assert training.decay == pytest.approx(TRAINING[name].decay)


@pytest.mark.parametrize("name", FIVE)
def test_layers_and_their_ranges(name: str) -> None:
    space = paper(name).space()
    kinds: dict[str, dict[str, Any]] = {layer.name: dict(layer.ranges) for layer in space.layers}
    assert set(kinds) == LAYERS[name] and set(space.merges) == MERGES[name]
    layer, most = DROPOUT[name]
    assert kinds[layer]["rate"] == Real(0.0, most)
    for kind in WEIGHTED & set(kinds):
        ranges = kinds[kind]
        assert ranges["units"] == Whole(*UNITS[name])
        assert ranges["regularizer"] == Choice(*REGULARIZERS[name])
        assert ranges["strength"] == Real(LEAST[name], 1e-3, log=True)
        assert set(ranges["initialization"].values) == SCHEMES
        assert ("kernel" in ranges) == kind.startswith("conv")
        if kind.startswith("conv"):
            assert ranges["kernel"] == Choice(*KERNELS[name])
        if kind not in ("gru", "lstm"):
            assert set(ranges["activation"].values) == {"relu", "linear", "elu", "selu"}
    settings = dict(space.settings)
    assert settings["learning_rate"] == Real(*RATES[name], log=True)


def test_what_only_some_tasks_have() -> None:
    spaces = {name: paper(name).space() for name in FIVE}
    assert [name for name, space in spaces.items() if space.soft is not None] == ["omniglot"]
    assert [name for name, space in spaces.items() if space.embedding is not None] == ["toxicity"]
    assert spaces["omniglot"].head == "average"
    assert paper("omniglot").preset["size"] == 105 and paper("omniglot").preset["alphabets"] == 20
    assert paper("mnist").preset["parts"] is None and paper("toxicity").preset["parts"] is None
    assert paper("adult").preset["rows"] is None and paper("flowers").preset["tested"] is None


@pytest.mark.parametrize("name", FIVE)
@pytest.mark.parametrize("size", ["cpu", "smoke"])
def test_smaller_sizes_keep_the_probabilities(name: str, size: str) -> None:
    found = task_class(name)
    large, small = found.preset_of("paper"), found.preset_of(size)
    sizes = {"generations", "blueprints", "modules", "evaluations", "preserved", "module_species"}
    told = small.evolution.to_dict()
    assert {k: v for k, v in told.items() if k not in sizes} == {
        k: v for k, v in large.evolution.to_dict().items() if k not in sizes}  # fmt: skip
    assert small.evolution.networks < large.evolution.networks or name == "flowers"
    assert small.training.optimizer == large.training.optimizer and small.training.decay == large.training.decay
    assert small.seconds is not None and small.megabytes is not None
    assert dict(found(small).space().settings) == dict(found(large).space().settings)
