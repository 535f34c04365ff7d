"""The statistics behind the fidelity table."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from benchmarks.intervals import inside_lognormal, inside_t, within
from benchmarks.tables import Table, percent
from benchmarks.trials import study


def test_intervals_cover_as_often_as_they_say() -> None:
    """95 % of 4,000 experiments: standard error 0.35 %. The t interval is exact for normal data only."""
    rng = np.random.default_rng(0)
    normal = rng.normal(3.0, 0.5, (20, 4000))
    assert inside_t(normal, np.full(4000, 3.0)).mean() == pytest.approx(0.95, abs=0.014)
    wide = np.exp(rng.normal(-0.72, 1.2, (20, 4000)))  # mean exp(-0.72 + 1.44 / 2) = 1
    one = np.ones(4000)
    assert inside_lognormal(wide, one).mean() == pytest.approx(0.95, abs=0.02)
    assert inside_t(wide, one).mean() < 0.92  # rare large draws carry the mean: it misses too often


def test_intervals_exclude_what_is_wrong() -> None:
    samples = np.exp(np.random.default_rng(1).normal(0.0, 0.1, (20, 500)))
    assert not inside_t(samples, np.full(500, 1.5)).any()
    assert not inside_lognormal(samples, np.full(500, 1.5)).any()


def test_one_seed_has_no_interval() -> None:
    assert not inside_t(np.ones((1, 3)), np.ones(3)).any()
    assert not inside_lognormal(np.ones((1, 3)), np.ones(3)).any()


def test_within_is_symmetric_in_ratio() -> None:
    assert within(np.array([0.8, 1.25, 0.79, 1.26]), 1.25).tolist() == [True, True, False, False]


def test_percent_never_rounds_up_to_all() -> None:
    assert [percent(x) for x in (1.0, 0.9999, 0.5, float("nan"))] == ["100 %", "99.9 %", "50.0 %", "-"]


def test_tables_in_text_and_markdown() -> None:
    table = Table("Title", ["what", "value"], caption="How to read it.")
    table.add("a", 1)
    assert table.text().splitlines()[2:5] == ["what  value", "----  -----", "a         1"]
    assert "| a | 1 |" in table.markdown()


def test_a_small_study_has_every_part() -> None:
    found = study("mlp_selu", seeds=2, fewer=1)
    assert found["layers"] == 20
    assert found["weights"]["2"]["plain"] == 1.0
    assert set(found["draw"]) == {"truncated_normal", "normal", "uniform", "orthogonal"}
    assert found["compare"]["lsuv"]["2"] == 1.0
    assert found["compare"]["default"]["2"] < 0.5
    assert found["others"]["tensors"] == 19
