"""One training job: what each initialization is shown, and what comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from autoinit.errors import OptionError
from autoinit.labs.training import Recipe
from experiments import networks
from experiments.pictures import Pictures
from experiments.training_job import Training, batch_shape, drawn, evaluate
from experiments.trials import Trial

RECIPE = Recipe(batch_size=8, steps=2, image_size=16)
TRAINING = Training(at={"seed": 0}, pictures=Pictures("digits", tested=40), model="all_cnn_c",
                    model_options={"width": 4}, scheme="autoinit", recipe=RECIPE, seed=0)  # fmt: skip


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTOINIT_DEVICE", "AUTOINIT_CHECKPOINTS", "AUTOINIT_LOADERS"):
        monkeypatch.setenv(name, "")


def test_a_job_returns_plain_data_and_repeats_itself() -> None:
    first, second = evaluate(TRAINING.to_dict()), evaluate(TRAINING.to_dict())
    assert (first["steps"], first["tested"], first["classes"], first["diverged"]) == (2, 40, 10, False)
    assert first["loss"] == second["loss"] and 0 <= first["accuracy"] <= first["top5"] <= 1
    other = replace(TRAINING, seed=1)
    assert evaluate(other.to_dict())["loss"] != first["loss"]


def test_a_job_survives_its_own_journal() -> None:
    assert Training.from_dict(TRAINING.job.payload) == TRAINING


def test_lsuv_sees_training_images_of_its_seed_and_autoinit_a_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    really = networks.initialize

    def spy(model: Any, scheme: str, options: Any, inputs: Any, seed: int) -> Any:
        shown.append(inputs)
        return really(model, scheme, options, inputs, seed)

    monkeypatch.setattr(networks, "initialize", spy)
    evaluate(TRAINING.to_dict())
    lsuv = replace(TRAINING, scheme="lsuv", scheme_options={"samples": 4})
    for seed in (0, 0, 1):
        evaluate(replace(lsuv, seed=seed).to_dict())
    assert shown[0] == (8, 1, 16, 16)
    assert all(isinstance(one, torch.Tensor) and one.shape == (4, 1, 16, 16) for one in shown[1:])
    assert torch.equal(shown[1], shown[2]) and not torch.equal(shown[1], shown[3])


def test_drawn_images_are_normalised_training_images() -> None:
    data = TRAINING.pictures.load()
    everything = drawn(data, replace(RECIPE, image_size=None), len(data.train), seed=3)
    assert float(everything.mean()) == pytest.approx(0, abs=1e-4) and float(everything.std()) == pytest.approx(
        1, abs=1e-3
    )
    assert batch_shape(data, RECIPE) == (8, 1, 16, 16)


def test_divergence_is_a_result() -> None:
    exploding = replace(RECIPE, learning_rate=1e30, steps=4)
    found = evaluate(replace(TRAINING, recipe=exploding).to_dict())
    assert found["diverged"] and Trial({}, "done", found).accuracy == 0.1


def test_checkpoints_are_kept_where_the_place_says(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOINIT_CHECKPOINTS", str(tmp_path))
    first = evaluate(TRAINING.to_dict())
    (file,) = tmp_path.glob("*.pt")
    changed = file.stat().st_mtime_ns
    assert evaluate(TRAINING.to_dict())["loss"] == first["loss"] and file.stat().st_mtime_ns == changed
    assert file.stat().st_size < 4096, "the record, without the weights"
    steps = TRAINING.recipe.steps
    assert f"{TRAINING.job.key}: step {steps} of {steps}" in file.with_suffix(".log").read_text()


def test_coatnet_default_is_a_scheme() -> None:
    """Convolutions have the variance 2/fan_out: 3 · 3 · 64 output connections in the second layer of the stem."""
    model = networks.build("coatnet", {"image_size": 32, "depth": 0.1}, seed=0)
    networks.initialize(model, "coatnet_default", {}, (2, 3, 32, 32), seed=0)
    weight = next(m for m in model.modules() if isinstance(m, torch.nn.Conv2d) and m.in_channels == 64).weight
    spread = np.sqrt(2 / weight[0].numel())  # relative deviation of a sample variance; several of it
    assert float(weight.detach().var()) == pytest.approx(2 / (9 * 64), rel=5 * spread / np.sqrt(64))


def test_building_leaves_the_random_state_alone() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, other = (networks.build("coatnet", {"image_size": 32, "width": 0.125, "depth": 0.1}, seed=7) for _ in "ab")
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(OptionError, match="unknown model"):
        networks.build("vgg", {}, 0)
    with pytest.raises(OptionError, match="unknown scheme"):
        evaluate(replace(TRAINING, scheme="magic").to_dict())
