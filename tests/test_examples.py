"""The examples do at small size what they say, and each has its picture."""

from __future__ import annotations

import re
from math import isfinite
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
pytest.importorskip("typer")

from typer.testing import CliRunner

from autoinit.cli.app import app
from examples import ci_gate, custom_activation, fine_tuning, gpt, norm_free_resnet

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
DRAWN = ("custom_activation", "fine_tuning", "gpt", "norm_free_resnet")
LARGEST = 100_000
"""Bytes of a committed picture."""


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.slow
def test_a_gpt_begins_to_learn(tmp_path: Path) -> None:
    curves = gpt.main(steps=12, picture=tmp_path / "gpt.png")
    ours = curves['recipe="train"']
    assert len(curves) == 2 and ours[-1] < ours[0] and (tmp_path / "gpt.png").exists()


@pytest.mark.slow
def test_a_network_without_normalization_learns_where_the_default_stands_still(tmp_path: Path) -> None:
    curves = norm_free_resnet.main(steps=50, picture=tmp_path / "resnet.png")
    assert mean(curves['recipe="train"'][-5:]) < 1.8 < 2.2 < mean(curves["PyTorch's default"][-5:])
    assert curves["He"][0] > 20  # the logits are of that size
    assert (tmp_path / "resnet.png").exists()


@pytest.mark.slow
def test_a_head_is_fitted_to_features_that_stay(tmp_path: Path) -> None:
    curves = fine_tuning.main(steps=60, picture=tmp_path / "head.png")
    assert mean(curves["AutoInit"][-5:]) < mean(curves["PyTorch's default"][-5:])


@pytest.mark.slow
def test_an_activation_of_ones_own_keeps_the_signal(tmp_path: Path) -> None:
    found = custom_activation.main(tmp_path / "signal.png")
    assert all(0.4 < v < 2.5 for v in found["AutoInit"])
    assert found["PyTorch's default"][-1] < 0.01 and all(map(isfinite, found["He"]))


@pytest.mark.slow
def test_the_gate_opens_for_a_plan_and_closes_for_the_default() -> None:
    ci_gate.test_every_layer_gets_its_variance()
    ci_gate.test_nothing_was_simulated_or_passed_on()
    ci_gate.test_what_is_predicted_is_what_comes_out()
    command = ["check", f"{ci_gate.__file__}:build", "--input", "64", "--fail-on", "bad"]
    assert CliRunner().invoke(app, command).exit_code == 1


def test_each_has_its_place_and_its_picture() -> None:
    page = (ROOT / "docs" / "examples.md").read_text("utf-8")
    helpers = {"__init__.py", "curves.py", "digits.py"}
    assert set(re.findall(r"\(\.\./examples/(\w+\.py)\)", page)) == set(EXAMPLES) - helpers
    for name in DRAWN:
        assert 0 < (ROOT / "docs" / "images" / "examples" / f"{name}.png").stat().st_size < LARGEST
        assert f"images/examples/{name}.png" in page
