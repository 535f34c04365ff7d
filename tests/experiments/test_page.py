"""The page and the results that it is made of are those of the journals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import experiments.training_job
from experiments import results
from experiments.catalogue import EXPERIMENTS
from experiments.page import PAGE, text
from experiments.results import RESULTS, as_json, folder_of, read, summarized

STORED = [
    (name, preset)
    for name, one in EXPERIMENTS.items()
    for preset in one.PRESETS
    if (folder_of(name, preset) / "results.json").is_file()
]


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == text(), "run: python -m experiments page"


@pytest.mark.parametrize(("name", "preset"), STORED)
def test_results_are_those_of_the_journal(name: str, preset: str) -> None:
    stored = json.loads((folder_of(name, preset, RESULTS) / "results.json").read_text(encoding="utf-8"))
    found = json.loads(as_json(summarized(name, preset, read(name, preset))))
    assert stored == found, f"run: python -m experiments report {name} --preset {preset}"


def test_commands_name_a_preset_that_exists(tmp_path: Path) -> None:
    page = text(tmp_path)
    assert "| `run imagenet --preset paper` |" in page and "`python -m experiments run imagenet --preset paper`" in page
    assert "`run imagenet`" not in page and "| `run signals` |" in page


def test_the_page_tells_of_jobs_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here those of the default; their claims are open and not lost."""
    value = {"accuracy": 0.5, "top5": 0.9, "diverged": False, "classes": 10, "tested": 1000}

    def work(payload: dict[str, object]) -> dict[str, object]:
        if payload["scheme"] != "autoinit":
            raise MemoryError("CUDA out of memory")
        return {**value, "initialization_seconds": 0.1}

    monkeypatch.setattr(experiments.training_job, "evaluate", work)
    folder = results.perform("schedules", "cpu", tmp_path, engine="serial", progress=False)
    told = "24 of 24 jobs have ended, 12 of them failed and are left out (`run --retry` tries them again)."
    page = text(tmp_path)
    assert told in page and told in (folder / "results.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if "`run schedules`" in line]
    assert len(rows) == 4 and all(row.endswith("| incomplete |") for row in rows)
