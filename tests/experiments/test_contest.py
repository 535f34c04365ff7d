"""The contest: what a job does, what each initialization does to a network, and how is judged."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
import torch

from autoinit import Input
from autoinit.errors import InputError, OptionError
from experiments import contest
from experiments.contest import models, texts
from experiments.contest.job import Run, evaluate
from experiments.contest.networks import NETWORKS
from experiments.contest.presets import DIGITS, SMALLEST, WORDS
from experiments.contest.schemes import LABELS, OURS, SCHEMES, Shown, endings, initialize
from tests.experiments.cases.contest import GUESS, RATES, summary, trial

SIZES = {"classes": 2, "channels": 3, "vocabulary": 24, "length": 16, "features": 14}
ENDS = {
    "Pre-norm encoder": 8, "Post-norm encoder": 8, "ViT": 12, "CoAtNet": 8, "Tied GPT with rotary positions": 8,
    "Untied GPT with learned positions": 8, "GPT-2 of transformers": 8, "ConvNeXt": 6, "MLP-Mixer": 12,
    "ResNet-29 with batch norm": 9, "ResNet-50 without norm": 24,
}  # fmt: skip
"""Additions along the residual trunks."""


def built(place: int) -> torch.nn.Module:
    network = SMALLEST[place]
    return models.build(network.model, network.task.load().sizes, network.options, seed=0)


def run(place: int, scheme: str = OURS, **changes: Any) -> Run:
    one = SMALLEST[place]
    return replace(
        Run(at={"seed": 0}, task=one.task, model=one.model, model_options=one.options, endings=one.endings,
            scheme=scheme, recipe=one.recipe_at(one.rates[0]), seed=0),
        **changes,
    )  # fmt: skip


def test_a_third_of_the_run_has_everything_once() -> None:
    preset = contest.PRESETS["cpu"]
    places = [job.payload["at"] for job in contest.jobs(preset)]
    assert preset.seeds == (10, 11, 12) and len(preset.networks) >= 16 and len(preset.schemes) >= 9
    first = places[: len(places) // 3]
    assert {at["seed"] for at in first} == {10}
    assert len({(at["network"], at["scheme"], at["rate"]) for at in first}) == len(first)
    beginning = first[: len(first) // 5]
    assert len({(at["network"], at["scheme"]) for at in beginning}) == len(beginning)


@pytest.mark.parametrize("network", NETWORKS, ids=[network.name for network in NETWORKS])
def test_networks_have_the_endings_that_are_named(network: Any) -> None:
    if network.model == models.GPT2 and find_spec("transformers") is None:
        pytest.skip("transformers is not installed")
    model = models.build(network.model, SIZES, network.options, seed=0)
    assert len(endings(model, network.endings)) == ENDS.get(network.name, 0)
    assert list(network.rates) == sorted(network.rates) and len(network.rates) == 5


def test_a_job_repeats_itself_and_survives_its_journal() -> None:
    job = run(0)
    first, second = evaluate(job.to_dict()), evaluate(job.to_dict())
    times = ("seconds", "initialization_seconds")
    assert {k: v for k, v in first.items() if k not in times} == {k: v for k, v in second.items() if k not in times}
    assert first["steps"] == 25 and not first["diverged"] and first["guess"] == pytest.approx(log(10))
    assert Run.from_dict(job.job.payload) == job
    assert evaluate(replace(job, seed=1).to_dict())["test_loss"] != first["test_loss"]


def test_training_lowers_the_loss() -> None:
    long = replace(run(1).recipe, steps=150, learning_rate=0.03)
    found = evaluate(run(1, recipe=long).to_dict())
    assert found["guess"] == pytest.approx(log(24)) and found["test_loss"] < 0.7 * found["guess"]


def test_divergence_is_a_result() -> None:
    found = evaluate(run(2, recipe=replace(run(2).recipe, learning_rate=1e30)).to_dict())
    assert found["diverged"] and found["test_loss"] is None and found["steps"] < 25


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("place", range(len(SMALLEST)))
def test_every_scheme_initializes_and_has_a_label(scheme: str, place: int) -> None:
    data = SMALLEST[place].task.load()
    batch = torch.from_numpy(data.train.inputs[:16])
    shown = Shown(Input(tuple(batch.shape), vocabulary=data.vocabulary), batch, SMALLEST[place].endings)
    one, other = built(place), built(place)
    for model in (one, other):
        initialize(model, scheme, shown, seed=3)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert one(batch).isfinite().all() and scheme in LABELS


def test_small_normal_and_zero_ends() -> None:
    network = next(n for n in NETWORKS if n.name == "Untied GPT with learned positions")
    model = models.build(network.model, SIZES, network.options, seed=0)
    batch = torch.zeros(4, 16, dtype=torch.long)
    ends = endings(model, network.endings)
    shown = Shown(Input((4, 16), vocabulary=24), batch, network.endings)
    initialize(model, "small_normal", shown, seed=0)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            wanted = 0.02 / sqrt(8) if name in ends else 0.02
            assert float(parameter.detach().std()) == pytest.approx(wanted, rel=0.1), name
    initialize(model, "zero_ends", shown, seed=0)
    assert {n for n, p in model.named_parameters() if not p.any()} == ends


def test_names_that_are_not_there_are_refused() -> None:
    with pytest.raises(OptionError, match="no parameter has such a name"):
        endings(built(0), r"layers\.\d+\.weight")
    with pytest.raises(OptionError, match="unknown scheme"):
        initialize(built(0), "magic", Shown((2, 1, 8, 8), None, ""), 0)
    with pytest.raises(OptionError, match="unknown model"):
        models.build("vgg", {}, {}, 0)


def test_parts_are_disjoint_and_of_the_task_alone() -> None:
    for task in (DIGITS, WORDS):
        data = task.load()
        parts = [{row.tobytes() for row in part.inputs} for part in (data.train, data.validation, data.test)]
        assert [len(p) for p in (data.train, data.validation, data.test)] == [task.train, task.validation, task.test]
        assert not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])
    assert float(DIGITS.load().train.inputs.mean()) == pytest.approx(0, abs=1e-5)
    assert np.array_equal(WORDS.load().train.inputs[:, 1:], WORDS.load().train.targets[:, :-1])


def test_windows_of_characters() -> None:
    known = texts.alphabet(["aab", "Aa"], 4)
    assert known["a"] == 1 and len(known) == 3 and set(known) == {"a", "b", texts.END}
    found = texts.windows(["ab?", "ab"], known, 2, 2)
    assert found.tolist() == [[known["a"], known["b"], texts.OTHER], [known["\n"], known["a"], known["b"]]]
    with pytest.raises(InputError, match="not so many characters"):
        texts.windows(["ab"], known, 2, 2)


def test_the_rate_is_chosen_by_validation() -> None:
    """The rate with the best test loss is not looked for."""
    rates = RATES["ViT"]
    validation = dict(zip(rates, (1.5, 1.0, 0.8, 1.2, 1.9), strict=True))
    test = dict(zip(rates, (1.5, 0.6, 0.9, 1.2, 1.9), strict=True))
    row = summary(lambda at: (validation.get(at["rate"], 1.0), test.get(at["rate"], 1.0)))["networks"]["ViT"]
    chosen = row["rows"][OURS]["chosen"]
    assert (chosen["rate"], chosen["test"], row["best"]) == (rates[2], pytest.approx(0.9), pytest.approx(0.6))
    assert row["works"] == pytest.approx(GUESS - 0.8 * (GUESS - 0.6)) and row["rows"][OURS]["range"] == 1


def test_standard_errors_and_ties() -> None:
    """Seeds 10, 11, 12 give 0.4, 0.5, 0.6: the error is 0.1/√3, two errors of a difference of such are 0.163."""

    def reached(at: Any) -> float:
        return 0.5 + 0.1 * (at["seed"] - 11) - {"lsuv": 0.17, "default": 0.0}.get(at["scheme"], 0.15)

    one = summary(reached)["networks"]["ViT"]
    assert one["rows"]["lsuv"]["chosen"]["error"] == pytest.approx(0.1 / sqrt(3))
    assert {scheme: row["best"] for scheme, row in one["rows"].items() if not row["best"]} == {"default": False}
    lost = contest.losses(summary(reached))
    assert len(lost) == len(RATES)
    assert lost[0].endswith("has the test loss 0.350 ± 0.058; lower: LSUV 0.330 ± 0.058 (tied)")


def test_divergence_counts_as_guessing_and_is_told() -> None:
    def reached(at: Any) -> Any:
        return None if at["seed"] == 12 else 9.0 if at["seed"] == 11 else 0.5

    found = summary(reached)
    assert found["networks"]["ViT"]["rows"][OURS]["chosen"]["tests"] == [0.5, GUESS, GUESS]
    assert "**1.500 ± 0.500**, 1 of 3 diverged" in contest.tables(found)


def test_results_of_a_run_that_goes_on() -> None:
    """One seed of three: tables and figures are there, no verdict is."""
    preset = contest.PRESETS["cpu"]
    jobs = contest.jobs(preset)
    trials = [trial(job.payload["at"], 0.5) for job in jobs[: len(jobs) // 3]]
    part = contest.summary(trials, preset)
    assert "0.500 ± 0.000" in contest.tables(part)
    assert {claim.of(part).agrees for claim in contest.CLAIMS} == {"incomplete"}
    failed = summary(lambda at: "memory" if at["scheme"] == "default" else 0.5)
    assert {claim.of(failed).agrees for claim in contest.CLAIMS} == {"incomplete"} and contest.tables(failed)
