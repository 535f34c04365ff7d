"""Each recipe of the paper with the network that it is for, both small: two steps, and an evaluation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from torch import nn

from autoinit.labs import models
from autoinit.labs.training import evaluate, recipes, train
from tests.labs.training.pictures import noise


def network(name: str):
    if name == "coatnet":
        return models.coatnet(image_size=32, width=0.15, depth=0.3, classes=4)
    if name == "imagenet":
        return models.resnet50(width=4, classes=4)
    if "resnet" in name:
        return models.preactivation_resnet(11, width=4, classes=4)
    return models.all_cnn_c(width=4, classes=4)


@pytest.mark.parametrize("name", recipes.RECIPES)
def test_every_recipe_runs(name):
    recipe = recipes.RECIPES[name]
    side = None if recipe.image_size is None else 32
    recipe = replace(recipe, epochs=None, steps=2, batch_size=8, image_size=side)
    record = train(network(name), noise(size=20), recipe, seed=0, evaluate_on="test", workers=1)
    assert (record.steps, record.diverged, record.evaluated_on) == (2, False, "test")
    assert len(record.losses) == 2
    assert 0 <= record.accuracy <= record.top5 == 1  # four classes are all among the first five


def test_evaluation_looks_at_the_centre():
    """What lies outside the crop makes no difference to the scores, what lies inside does."""
    data, recipe = noise(size=20), replace(recipes.COATNET, image_size=16, centre_crop=0.8)
    model, losses = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 4)), []
    for border in (0, 2, 10):
        data.validation.images[:, :border] = 0
        losses.append(evaluate(model, data, recipe).loss)
    assert losses[0] == losses[1] != losses[2]
