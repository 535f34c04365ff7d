"""Learning rates of the paper's appendix at given epochs."""

from __future__ import annotations

from dataclasses import replace
from math import cos, pi

import pytest

from autoinit.labs.training import Recipe, recipes
from autoinit.labs.training.schedule import learning_rate, rate_at_step


def at_epoch(recipe: Recipe, epoch: float) -> float:
    return learning_rate(recipe, epoch / recipe.epochs)


@pytest.mark.parametrize(
    ("epoch", "rate"),
    [(0, 0.01), (199.99, 0.01), (200, 1e-3), (249.99, 1e-3), (250, 1e-4), (300, 1e-5), (349.9, 1e-5)],
)
def test_all_cnn_c(epoch, rate):
    """0.01, times 0.1 after epochs 200, 250 and 300, until 350."""
    assert at_epoch(recipes.ALL_CNN_C, epoch) == pytest.approx(rate, rel=1e-12)


@pytest.mark.parametrize(
    ("epoch", "rate"),
    [(0, 1e-4), (2, 2e-4), (3, 2.5e-4), (6, 4e-4), (55.5, 2e-4), (105, 0.0), (39, 4e-4 * (1 + cos(pi / 3)) / 2)],
)
def test_coatnet(epoch, rate):
    """From 1e-4 to 4e-4 in six epochs, then a cosine to epoch 105."""
    assert at_epoch(recipes.COATNET, epoch) == pytest.approx(rate, rel=1e-9, abs=1e-18)


def test_imagenet_differs_by_batch_and_peak():
    assert at_epoch(recipes.IMAGENET, 6) == 3.2e-2
    assert replace(recipes.IMAGENET, batch_size=256, learning_rate=4e-4) == recipes.COATNET


@pytest.mark.parametrize(("epoch", "rate"), [(0, 0), (2.5, 0.05), (5, 0.1), (15, 0.05), (24, 0.005), (25, 0)])
@pytest.mark.parametrize("recipe", [recipes.SUPERCONVERGENCE, recipes.SUPERCONVERGENCE_RESNET])
def test_superconvergence(recipe, epoch, rate):
    """Up to 0.1 in five epochs, down in twenty."""
    assert at_epoch(recipe, epoch) == pytest.approx(rate, abs=1e-15)


def test_what_else_the_appendix_says():
    a, r, c, s = recipes.ALL_CNN_C, recipes.RESNET, recipes.COATNET, recipes.SUPERCONVERGENCE
    assert (a.optimizer, a.momentum, a.weight_decay, a.flip, a.pad, a.normalize) == ("sgd", 0.9, 0.001, True, 5, True)
    assert (r.optimizer, r.momentum, r.weight_decay, r.flip, r.pad) == ("sgd", 0.9, 0.0001, True, 4)
    assert (c.optimizer, c.weight_decay, c.batch_size, c.image_size) == ("adamw", 0.02, 256, 160)
    assert (c.randaugment, c.magnitude, c.mixup, c.cutmix) == (2, 6, 0.1, 1.0)
    assert (c.smallest_crop, c.centre_crop) == (0.08, 0.95)
    assert s.weight_decay == a.weight_decay / 10
    assert at_epoch(recipes.RESNET, 200) == pytest.approx(0, abs=1e-15)
    assert recipes.RESNET_STABILITY.epochs == 5


@pytest.mark.parametrize("name", recipes.RECIPES)
def test_recipes_survive_json(name):
    recipe = recipes.RECIPES[name]
    assert Recipe.from_json(recipe.to_json()) == recipe


def test_shorter_runs_keep_the_shape_of_the_schedule():
    short = replace(recipes.ALL_CNN_C, epochs=35)
    assert [at_epoch(short, e) for e in (19, 20, 25, 30)] == pytest.approx([1e-2, 1e-3, 1e-4, 1e-5])
    steps = replace(recipes.ALL_CNN_C, epochs=None, steps=70)
    assert [rate_at_step(steps, s, 70, 9) for s in (39, 40, 50, 60)] == pytest.approx([1e-2, 1e-3, 1e-4, 1e-5])


def test_the_pace_of_changes():
    recipe = Recipe(epochs=4, schedule="triangle", learning_rate=1.0)
    by_step = [rate_at_step(recipe, s, 8, 2) for s in range(8)]
    by_epoch = [rate_at_step(replace(recipe, pace="epoch"), s, 8, 2) for s in range(8)]
    assert by_step == pytest.approx([1 - s / 8 for s in range(8)])
    assert by_epoch == pytest.approx([1, 1, 0.75, 0.75, 0.5, 0.5, 0.25, 0.25])


def test_constant_with_warm_up_and_a_floor():
    recipe = Recipe(epochs=10, warmup=0.5, warmup_from=0.2, learning_rate=1.0)
    assert [at_epoch(recipe, e) for e in (0, 2.5, 5, 10)] == pytest.approx([0.2, 0.6, 1, 1])
    floor = Recipe(epochs=10, schedule="cosine", learning_rate=1.0, final_rate=0.5)
    assert [at_epoch(floor, e) for e in (0, 5, 10)] == pytest.approx([1, 0.75, 0.5])
    assert at_epoch(Recipe(epochs=1, schedule="cosine", warmup=1.0, final_rate=0.3), 1) == pytest.approx(0.3)
