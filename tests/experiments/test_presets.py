"""The preset "paper" has the numbers of the paper's appendix; each is beside the sentence it comes from."""

from __future__ import annotations

from typing import Any

import pytest

from autoinit.labs.training import Recipe
from autoinit.labs.training.schedule import learning_rate
from experiments import data_dependent, hyperparameters, imagenet, learning_rates, schedules, signals, transformers
from experiments.recipe import TRAINED


def payloads(one: Any) -> list[dict[str, Any]]:
    return [dict(job.payload) for job in one.jobs(one.PRESETS["paper"])]


def only(values: Any) -> Any:
    """The one value that all have."""
    (found,) = {repr(v): v for v in values}.values()
    return found


def test_all_cnn_c() -> None:
    """SGD, momentum 0.9, dropout 0.5, L2 0.001, 0.01 · 0.1 after 200, 250 and 300 of 350 epochs, padding 5, flips."""
    usual = {"activation": "relu", "dropout": 0.5, "weight_decay": 0.001, "multiplier": 1.0, "seed": 0}
    found = [p for p in payloads(hyperparameters) if usual.items() <= p["at"].items()]
    assert {p["scheme"] for p in found} == {"glorot_uniform", "autoinit", "autoinit-paper"}
    recipe = Recipe.from_dict(only(p["recipe"] for p in found))
    assert (recipe.optimizer, recipe.momentum, recipe.weight_decay, recipe.epochs) == ("sgd", 0.9, 0.001, 350)
    assert (recipe.pad, recipe.flip, recipe.normalize) == (5, True, True)
    rates = [learning_rate(recipe, epoch / 350) for epoch in (0, 199, 200, 249, 250, 299, 300, 349)]
    assert rates == pytest.approx([1e-2, 1e-2, 1e-3, 1e-3, 1e-4, 1e-4, 1e-5, 1e-5])
    assert only(p["model_options"]["dropout"] for p in found) == 0.5
    assert only(p["pictures"] for p in found) == {"name": "cifar10", "side": None, "tested": None}


def test_one_hyperparameter_is_varied_at_a_time() -> None:
    usual = {"activation": "relu", "dropout": 0.5, "weight_decay": 0.001, "multiplier": 1.0}
    for payload in payloads(hyperparameters):
        at, recipe = payload["at"], payload["recipe"]
        assert sum(at[name] != value for name, value in usual.items()) <= 1
        assert recipe["learning_rate"] == pytest.approx(0.01 * at["multiplier"])
        assert recipe["weight_decay"] == at["weight_decay"]
        assert payload["model_options"]["dropout"] == at["dropout"]


def test_residual_networks() -> None:
    """SGD, momentum 0.9, weight decay 0.0001, flips, padding 4; five epochs; rates from 1e-8 to 0.5; no norm."""
    for one, epochs, rows in ((learning_rates, 5, [TRAINED]), (schedules, 200, [])):
        for payload in payloads(one):
            recipe = payload["recipe"]
            told = (recipe[k] for k in ("optimizer", "momentum", "weight_decay", "pad", "flip", "epochs"))
            assert tuple(told) == ("sgd", 0.9, 1e-4, 4, True, epochs)
            assert payload["scheme"] in ("he_normal", "autoinit", *rows) and payload["model_options"]["width"] == 16
    found = payloads(learning_rates)
    assert {p["at"]["depth"] for p in found} == {56, 164, 812}
    rates = {p["recipe"]["learning_rate"] for p in found}
    assert min(rates) == 1e-8 and max(rates) == 0.5 and {1e-4, 5e-4, 0.05} <= rates
    assert not any(p["model_options"]["norm"] for p in found)
    assert only(p["recipe"]["schedule"] for p in payloads(schedules)) == "cosine"
    assert {(p["model_options"]["depth"], p["model_options"]["norm"]) for p in payloads(schedules)} == {
        (164, True),
        (164, False),
    }


def test_coatnet() -> None:
    """160 × 160, 1e-4 to 4e-4 in six epochs, cosine until 105, AdamW 0.02, batch 256, RandAugment 2 × 6, and so on."""
    found = payloads(transformers)
    recipe = Recipe.from_dict(only(p["recipe"] for p in found))
    assert (recipe.optimizer, recipe.weight_decay, recipe.batch_size, recipe.epochs) == ("adamw", 0.02, 256, 105)
    assert [learning_rate(recipe, e / 105) for e in (0, 3, 6, 105)] == pytest.approx([1e-4, 2.5e-4, 4e-4, 0])
    assert (recipe.image_size, recipe.randaugment, recipe.magnitude) == (160, 2, 6)
    assert (recipe.mixup, recipe.cutmix, recipe.smallest_crop, recipe.centre_crop) == (0.1, 1.0, 0.08, 0.95)
    assert {p["at"]["seed"] for p in found} == {0, 1, 2}
    assert {(p["scheme"], p["scheme_options"].get("variance")) for p in found} == {
        ("coatnet_default", None), ("glorot_normal", None), ("glorot_uniform", None), ("he_normal", None),
        ("he_uniform", None), ("lecun_normal", None), ("lecun_uniform", None), ("autoinit", 0.01), ("autoinit", 1.0),
        (TRAINED, None),
    }  # fmt: skip
    assert len({p["at"]["setting"] for p in found}) == 5
    options = only(p["model_options"] for p in found if p["at"]["setting"] == "w/o norm")
    assert options == {"activation": "gelu", "norm": False, "image_size": 160, "width": 1.0, "depth": 1.0}


def test_imagenet() -> None:
    """As CoAtNet, but for batches of 2,048 and a maximum of 3.2e-2."""
    coatnet = only(p["recipe"] for p in payloads(transformers))
    recipe = only(p["recipe"] for p in payloads(imagenet))
    assert recipe == {**coatnet, "batch_size": 2048, "learning_rate": 3.2e-2}
    assert only((p["model"], p["parallel"]) for p in payloads(imagenet)) == ("resnet50", True)


def test_data_dependent() -> None:
    """Up to 0.1 in five epochs, down on a line in twenty; a tenth of All-CNN-C's weight decay; ten repeats."""
    found = payloads(data_dependent)
    assert {p["at"]["samples"] for p in found} == {0, 1, 4, 16, 64, 256, TRAINED}
    assert len(found) == 3 * 7 * 10
    for payload in found:
        recipe = Recipe.from_dict(payload["recipe"])
        rates = [learning_rate(recipe, e / 25) for e in (0, 2.5, 5, 15, 25)]
        assert rates == pytest.approx([0, 0.05, 0.1, 0.05, 0])
        assert recipe.epochs == 25 and recipe.weight_decay == 1e-4
        samples = payload["at"]["samples"]
        assert payload["scheme"] == {0: "autoinit", TRAINED: TRAINED}.get(samples, "lsuv")
        assert payload["scheme_options"] == ({"samples": samples} if payload["scheme"] == "lsuv" else {})
    assert {p["at"]["network"] for p in found} == {"All-CNN-C", "ResNet-56, no norm", "ResNet-164, no norm"}


def test_signals() -> None:
    found = [(p["at"]["panel"], p["at"]["value"]) for p in payloads(signals)]
    assert {(panel, depth) for panel in ("norm", "no norm") for depth in (56, 164, 812)} <= set(found)
    assert {p["scheme"] for p in payloads(signals)} == {"glorot_uniform", "he_normal", "autoinit"}
