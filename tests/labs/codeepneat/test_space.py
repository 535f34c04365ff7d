"""Spaces: as data, and what is wrong with some."""

from __future__ import annotations

from typing import Any

import pytest

from autoinit.errors import OptionError
from autoinit.labs.codeepneat import Evolution, LayerKind, Preset, Space, SpaceError, Training, Whole
from tests.labs.codeepneat.small_spaces import IMAGE_LAYERS, RATE, SETTINGS, TABLE_LAYERS


@pytest.mark.parametrize("name", SETTINGS)
def test_as_json(name: str) -> None:
    space = SETTINGS[name].space
    assert Space.from_json(space.to_json()) == space and hash(space) == hash(Space.from_dict(space.to_dict()))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: LayerKind("dens", {}), "unknown kind of layer"),
        (lambda: LayerKind("dense", {}), "its hyperparameters"),
        (lambda: LayerKind("dropout", {"rate": Whole(1, 2), "units": Whole(1, 2)}), "its hyperparameters"),
        (lambda: LayerKind("projection", {"units": Whole(1, 2)}), "made by the assembler"),
        (lambda: Space(()), "a space has layers"),
        (lambda: Space((*TABLE_LAYERS, TABLE_LAYERS[0])), "each kind once"),
        (lambda: Space(TABLE_LAYERS, ("multiply",)), "unknown or repeated in 'merges'"),
        (lambda: Space(TABLE_LAYERS, head="mean"), "unknown or repeated in 'head'"),
        (lambda: Space(TABLE_LAYERS, embedding=0), "takes a width"),
        (lambda: Space(IMAGE_LAYERS, ("add",), soft=8), "mixes by weighted sums"),
        (lambda: Space.from_dict({"layers": 3}), "not a space"),
        (lambda: Space(TABLE_LAYERS, settings=RATE).fits((28, 28, 1), None), "cannot stand in a network"),
        (lambda: Space(TABLE_LAYERS).fits((28,), 100), "embedded"),
        (lambda: Space(TABLE_LAYERS).ranges_of("gru"), "has no such layer"),
    ],
)
def test_what_is_no_space_is_refused(make: Any, why: str) -> None:
    with pytest.raises(SpaceError, match=f"(?s){why}.*to fix"):
        make()


def test_the_table_of_the_paper() -> None:
    """The defaults are the table's column for MNIST."""
    found = Evolution()
    assert (found.blueprints, found.modules, found.evaluations, found.networks) == (22, 56, 4, 88)
    assert (found.generations, found.preserved, found.blueprint_species, found.module_species) == (30, 12, 1, 4)
    assert (found.blueprint_elitism, found.module_elitism, found.change) == (0.4, 0.4, 0.25)
    assert (found.blueprint_connection, found.module_connection) == (0.12, 0.08)
    assert (found.module_layer, found.blueprint_node) == (0.08, 0.16)
    assert Evolution.from_dict(found.to_dict()) == found


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Evolution(generations=0), "'generations' takes a positive integer"),
        (lambda: Evolution(change=1.5), "'change' takes a number from 0 to 1"),
        (lambda: Evolution(modules=3), "more species wanted than members"),
        (lambda: Evolution().changed(elitism=0.1), "unknown setting 'elitism'"),
        (lambda: Training(batch_size=0), "'batch_size'"),
        (lambda: Training(optimizer="lion"), "unknown optimizer"),
        (lambda: Training(decay=0.0), "'decay'"),
        (lambda: Preset.from_dict({"name": "x", "size": 3}), "not a preset"),
    ],
)
def test_what_is_no_setting_is_refused(make: Any, why: str) -> None:
    with pytest.raises(OptionError, match=f"(?s){why}.*to fix"):
        make()


def test_presets_as_data() -> None:
    preset = Preset("cpu", Evolution(generations=7), Training(decay=0.5), seconds=9.0, data={"images": 100})
    assert Preset.from_dict(preset.to_dict()) == preset and preset["images"] == 100
    assert Preset.from_dict(preset.of_one_network).training == preset.training
