"""The engine "ray" on a local cluster that it starts itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autoinit.errors import OptionError
from autoinit.labs.evolution import Job, Journal, Limits, Outcome, run

pytest.importorskip("ray")


def summary(outcomes: dict[str, Outcome]) -> dict[str, Any]:
    return {key: (o.status, o.value) for key, o in outcomes.items()}


@pytest.mark.slow
def test_the_same_as_with_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a supervisor that is lost once (the job is done in the end), and one that is lost each time."""
    import ray

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    names = ("work", "loop", "allocate", "abort", "raise", "threads")
    jobs = [Job(name, {"deed": name}) for name in names]
    options: dict[str, Any] = {"limits": Limits(seconds=8.0, bytes=160 << 20), "progress": False}
    here = run(jobs, "deeds:deeds", tmp_path / "here.jsonl", **options)
    assert [here[name].status for name in names] == ["done", "time", "memory", "crashed", "error", "done"]

    lost = [Job(name, {"deed": "lose", "times": times, "mark": str(tmp_path / name)}) for name, times in LOST.items()]
    there = run([*jobs, *lost], "deeds:deeds", tmp_path / "there.jsonl", engine="ray", **options)
    assert not ray.is_initialized(), "a cluster that was started for the run ends with it"
    assert summary({name: there[name] for name in names}) == summary(here)
    assert "ValueError: the deed is wrong" in there["raise"].message
    assert there["lost once"].value == {"tries": 2}
    assert there["lost twice"].status == "crashed" and "lost 2 times" in there["lost twice"].message
    assert sorted(Journal.read(tmp_path / "there.jsonl").outcomes) == sorted(there)


@pytest.mark.slow
def test_workers_get_accelerators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray counts what it is told there is, so that this needs no accelerator."""
    import ray

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("AUTOINIT_RAY_GPUS", "1")
    ray.init(address="local", num_cpus=2, num_gpus=1, include_dashboard=False, log_to_driver=False)
    try:
        jobs = [Job("a", {"name": "CUDA_VISIBLE_DEVICES"})]
        found = run(jobs, "deeds:environment", tmp_path / "j.jsonl", engine="ray", workers=1, progress=False)
        assert found["a"].value == {"value": "0"}
    finally:
        ray.shutdown()


@pytest.mark.parametrize("given", ["one", "-1", "inf", ""])
def test_shares_of_accelerators_are_numbers(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOINIT_RAY_GPUS", given)
    with pytest.raises(OptionError, match=r"AUTOINIT_RAY_GPUS.*a number of accelerators"):
        run([Job("a", {})], "deeds:same", tmp_path / "j.jsonl", engine="ray", progress=False)


LOST = {"lost once": 1, "lost twice": 2}
