"""Every experiment from its jobs to its figures, in the smallest size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.catalogue import EXPERIMENTS
from experiments.results import perform, saved


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_from_jobs_to_figures(name: str, tmp_path: Path) -> None:
    folder = perform(name, "smoke", tmp_path, engine="serial", progress=False)
    found = json.loads((folder / "results.json").read_text())
    jobs = EXPERIMENTS[name].jobs(EXPERIMENTS[name].PRESETS["smoke"])
    assert (found["jobs"], found["ended"], found["failed"]) == (len(jobs), len(jobs), 0)
    page = (folder / "results.md").read_text()
    assert f"run {name} --preset smoke" in page
    pictures = list(folder.glob("*.png"))
    assert pictures and all(f"]({picture.name})" in page for picture in pictures)
    assert all(claim.of(found).agrees in ("yes", "partly", "no") for claim in EXPERIMENTS[name].CLAIMS)
    assert isinstance(EXPERIMENTS[name].losses(found), list)
    assert saved(name, tmp_path) is None, "the page shows no smoke"


def test_no_two_jobs_share_a_key() -> None:
    for name, one in EXPERIMENTS.items():
        for preset in one.PRESETS.values():
            keys = [job.key for job in one.jobs(preset)]
            assert len(keys) == len(set(keys)) > 0, name
