from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from math import inf, isnan, nan

import pytest

from autoinit.errors import OptionError
from autoinit.labs.training import Recipe, Record


def test_json_round_trip():
    recipe = Recipe(epochs=350, schedule="steps", milestones=(200 / 350, 1.0), optimizer="sgd", flip=True, pad=5)
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert Recipe.from_dict({"steps": 7}) == Recipe(steps=7)


def test_unknown_fields_are_refused_with_a_suggestion():
    with pytest.raises(OptionError, match="did you mean 'learning_rate'"):
        Recipe.from_dict({"epochs": 1, "learning_rat": 0.1})
    with pytest.raises(OptionError, match="known: batch_size, epochs"):
        Recipe.from_dict({"epochs": 1, "zzz": 0.1})


@pytest.mark.parametrize("text", ["[1]", "epochs: 3", "3"])
def test_what_is_no_recipe(text):
    with pytest.raises(OptionError):
        Recipe.from_json(text)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"epochs": None}, "epochs"),
        ({"steps": 3}, "epochs"),
        ({"epochs": 0}, "epochs"),
        ({"epochs": 1.5}, "epochs"),
        ({"batch_size": 0}, "batch_size"),
        ({"optimizer": "adam"}, "optimizer"),
        ({"schedule": "linear"}, "schedule"),
        ({"learning_rate": -1}, "learning_rate"),
        ({"learning_rate": inf}, "learning_rate"),
        ({"learning_rate": nan}, "learning_rate"),
        ({"learning_rate": "0.1"}, "learning_rate"),
        ({"warmup": 5}, "warmup"),
        ({"schedule": "steps"}, "milestones"),
        ({"milestones": (200, 250)}, "milestones"),
        ({"smallest_crop": 0}, "smallest_crop"),
        ({"centre_crop": 0.0}, "centre_crop"),
        ({"magnitude": 11}, "magnitude"),
        ({"pad": -1}, "pad"),
        ({"flip": "no"}, "flip"),
        ({"betas": (0.9,)}, "betas"),
        ({"betas": (0.9, 1.0)}, "betas"),
    ],
)
def test_values_that_make_no_sense(change, where):
    with pytest.raises(OptionError, match=rf"Recipe\.{where}"):
        replace(Recipe(epochs=1), **change)


def test_records_survive_json_even_if_their_numbers_are_not_finite():
    record = Record(accuracy=0.1, top5=0.5, loss=nan, losses=(1.0, inf), diverged=True, steps=2, epochs=0.5,
                    seconds=1.0, seed=3, evaluated_on="test")  # fmt: skip
    back = Record.from_dict(record.to_dict())
    assert record.to_dict()["losses"] == [1.0, None]
    assert isnan(back.loss) and back.losses[0] == 1.0 and isnan(back.losses[1])
    assert replace(back, loss=0.0, losses=()) == replace(record, loss=0.0, losses=())


def test_recipes_load_no_framework():
    code = "import sys; import autoinit.labs.training; assert not {'torch', 'keras', 'jax'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
