"""Claims are judged by the numbers: results that are made up in AutoInit's favour, against it, or are not there."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pytest

from experiments.catalogue import EXPERIMENTS
from experiments.claim import share
from experiments.page import findings
from experiments.training_job import WORK
from experiments.transformers import SMALL, UNIT
from experiments.trials import Trial
from tests.experiments.cases import learning_rates, signals, transformers
from tests.experiments.cases.made_up import Case, made_up, verdict

CLAIMING = [name for name, one in EXPERIMENTS.items() if one.CLAIMS]
TRAINED = [name for name in CLAIMING if EXPERIMENTS[name].WORK == WORK]
OF_THE_PAPER = [name for name in TRAINED if any(claim.paper is not None for claim in EXPERIMENTS[name].CLAIMS)]
CASES = [(name, case) for name in CLAIMING for case in import_module(f"tests.experiments.cases.{name}").CASES]


@pytest.mark.parametrize(
    ("name", "case"), CASES, ids=[f"{n}: {c.claim}, {c.agrees} {k}" for k, (n, c) in enumerate(CASES)]
)
def test_each_claim(name: str, case: Case) -> None:
    finding = verdict(name, case.claim, case.summary())
    assert finding.agrees == case.agrees, finding.ours


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_claim_can_be_right_and_wrong(name: str) -> None:
    """Each claim has a case that it must say yes to and one that it must say no to."""
    for claim in EXPERIMENTS[name].CLAIMS:
        expected = {case.agrees for experiment, case in CASES if experiment == name and case.claim in claim.text}
        assert {"yes", "no"} <= expected, claim.text


def as_in_the_paper(payload: Mapping[str, Any]) -> float | None:
    """AutoInit learns at all its rates; unnormalised networks diverge without it, but for LSUV and small rates."""
    ours, at, rate = payload["scheme"].startswith("autoinit"), payload["at"], payload["recipe"]["learning_rate"]
    if payload["scheme"] == "lsuv":
        unlucky = (at.get("samples") == 1 and at["seed"] < 5) or ("164" in at["network"] and at["seed"] == 9)
        return 0.3 if unlucky else 0.7
    if "rate" in at:
        learns = 1e-4 <= rate <= 0.05 if ours else at["depth"] == 56 and rate <= 5e-4
        return 0.5 if learns else None
    if payload["model_options"].get("norm") is False and not ours:
        return None
    suboptimal = rate not in (0.01, 0.1, 4e-4, 3.2e-2)
    small = payload["scheme_options"].get("variance") == 0.01 and at.get("setting") != "w/o norm"
    return (0.7 if ours else 0.68) - suboptimal * (0.05 if ours else 0.2) + 0.01 * small


@pytest.mark.parametrize("name", TRAINED)
def test_results_like_the_papers_agree(name: str) -> None:
    summary = made_up(name, as_in_the_paper)
    verdicts = {claim.text: claim.of(summary) for claim in EXPERIMENTS[name].CLAIMS}
    assert {found.agrees for found in verdicts.values()} == {"yes"}, verdicts
    lost = EXPERIMENTS[name].losses(summary)
    assert len(lost) == (4 if name == "learning_rates" else 0), "the default learns at the four rates below 1e-4"


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_results_against_autoinit_disagree(name: str) -> None:
    summary = made_up(name, lambda payload: None if payload["scheme"] == "autoinit" else 0.6)
    verdicts = [claim.of(summary).agrees for claim in EXPERIMENTS[name].CLAIMS]
    assert "no" in verdicts and EXPERIMENTS[name].losses(summary)


def test_without_results_nothing_is_claimed() -> None:
    found = findings(dict.fromkeys(EXPERIMENTS))
    assert len(found) > 20 and {finding.agrees for _, _, finding in found} == {"not run"}


@pytest.mark.parametrize("name", CLAIMING)
def test_nothing_is_judged_before_results_are_complete(name: str) -> None:
    one = EXPERIMENTS[name]
    summary = one.summary([], one.PRESETS.get("paper") or one.PRESETS["cpu"])
    assert {claim.of(summary).agrees for claim in one.CLAIMS} == {"incomplete"}
    assert one.losses(summary) == []


@pytest.mark.parametrize("status", ["error", "crashed", "time", "memory"])
@pytest.mark.parametrize("name", TRAINED)
def test_failed_jobs_are_no_findings(name: str, status: str) -> None:
    """A default that ran out of memory everywhere has not lost against AutoInit."""
    summary = made_up(name, lambda payload: 0.7 if payload["scheme"].startswith("autoinit") else status)
    found = {claim.text: claim.of(summary).agrees for claim in EXPERIMENTS[name].CLAIMS}
    alone = {text for text, agrees in found.items() if agrees != "incomplete"}
    of_autoinit = {"AutoInit trains all three depths", "The effect of AutoInit does not diminish with depth"}
    of_ours = {claim.text for claim in EXPERIMENTS[name].CLAIMS if claim.paper is None}
    assert of_ours == {text for text in found if "recipe for training" in text}
    assert alone == of_ours | (of_autoinit if name == "learning_rates" else set()), "what needs AutoInit alone"
    assert EXPERIMENTS[name].losses(summary) == [] and EXPERIMENTS[name].tables(summary)


def test_a_failed_network_is_no_finding_on_signals() -> None:
    whole = signals.trials(signals.exponential, signals.one)
    less = [Trial(t.at, "memory", {}) if t.at["value"] == 812 and t.at["panel"] == "no norm" else t for t in whole]
    one = EXPERIMENTS["signals"]
    agrees = [claim.of(one.summary(less, one.PRESETS["paper"])).agrees for claim in one.CLAIMS]
    assert agrees[-2:] == ["incomplete"] * 2 and "incomplete" not in agrees[:-2]


def test_one_failed_repeat_leaves_the_others() -> None:
    """Two of three seeds make a point."""
    summary = made_up("hyperparameters", lambda p: "memory" if p["seed"] == 2 else 0.7 - 0.1 * (p["scheme"][0] == "g"))
    assert verdict("hyperparameters", "AutoInit improved", summary).agrees == "yes"
    assert "70.0 (70.0 to 70.0), 1 failed" in EXPERIMENTS["hyperparameters"].tables(summary)


def test_the_usual_setting_counts_once() -> None:
    """Four panels of 6, 4, 4 and 5 points share one."""
    summary = made_up("hyperparameters", lambda p: 0.5 if p["scheme"] == "autoinit" else 0.6)
    lost = EXPERIMENTS["hyperparameters"].losses(summary)
    assert len(lost) == len(set(lost)) == 2 * 16 and sum("usual setting" in line for line in lost) == 2
    assert "0 of 16 settings" in verdict("hyperparameters", "AutoInit improved", summary).ours
    assert "(default / AutoInit); 0 of 4" in verdict("hyperparameters", "dropout", summary).ours


def test_settings_at_which_neither_learned_are_told() -> None:
    reached = {1.0: (0.6, 0.7), 0.3: (0.5, 0.6), 3.0: (0.4, 0.5), 0.1: (0.2, 0.3), 10.0: (None, None)}
    summary = made_up("hyperparameters", lambda p: reached[p["at"]["multiplier"]][p["at"]["scheme"] != "default"])
    assert verdict("hyperparameters", "AutoInit improved", summary).ours.endswith(
        "15 of 16 settings; in 1 neither learned"
    )
    assert "over the 4 of 5 multipliers" in verdict("hyperparameters", "less sensitive", summary).ours


def test_the_network_of_two_panels_counts_once() -> None:
    """Six activations and four dropout rates have ReLU with dropout 0.5 in common: that is All-CNN-C as it is."""
    import inspect

    from autoinit.labs.models import all_cnn_c
    from experiments.signals import USUAL

    usual = inspect.signature(all_cnn_c).parameters
    assert {name: usual[name].default for name in USUAL} == USUAL
    summary = signals.given(signals.vanishing, signals.one)()
    assert "below 0.1 in 9 of 9 networks" in verdict("signals", "often vanish", summary).ours
    assert verdict("signals", "approximately 1.0", summary).ours.startswith("18 of 18 weight layers (of 9 networks)")


def test_stability_says_how_many_layers_are_near_one() -> None:
    summary = signals.given(signals.exponential, lambda at: (1.0, 3.0))()
    ours = verdict("signals", "never stable", summary).ours
    assert ours.endswith("AutoInit's weight layers within 2× of 1: 1 of 2, 1 of 2, 1 of 2")


def test_transformers_lose_with_the_papers_variance() -> None:
    """The other ν is one of those that may be ahead, and no choice by test accuracy."""
    summary = transformers.given(0.6, {SMALL: 0.65, UNIT: 0.7})()
    lost = EXPERIMENTS["transformers"].losses(summary)
    assert lost[0] == "GELU: AutoInit, ν = 0.01 65.0; AutoInit, ν = 1 70.0"
    assert len(lost) == 4 and not any("w/o norm" in line for line in lost)


def test_the_default_of_deep_networks_is_judged_with_it() -> None:
    """The order in which depths are listed does not matter."""
    summary = learning_rates.PAPER()
    summary["curves"].reverse()
    assert {claim.of(summary).agrees for claim in EXPERIMENTS["learning_rates"].CLAIMS} == {"yes"}


def test_share() -> None:
    assert [share(k, 4) for k in (4, 3, 2, 1)] == ["yes", "partly", "partly", "no"]
