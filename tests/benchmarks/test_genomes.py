"""Random genomes, planned and trained: their records, what counts as a failure, and the tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

from benchmarks import genome_study
from benchmarks.genome_study import names_of, setting_of, work
from benchmarks.genome_tables import accounts, tables, write
from benchmarks.genomes import main


def record(name: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "outcome": "done", "rows": [], "failed": [], **values}


def row(number: int, **values: Any) -> dict[str, Any]:
    plain = {"layers": 5, "parameters": 100, "tensors": 9, "build": 0.01, "plan": 0.02, "unreached": []}
    return {"number": number, **plain, **values}


def test_names_cover_every_genome_once() -> None:
    setting = setting_of("digits", "smoke")
    names = [name.split(":")[4:] for name in names_of(setting, 120, 2, 0)]
    assert names == [["plan", "0", "50"], ["plan", "50", "100"], ["plan", "100", "120"], ["train", "0", "1"],
                     ["train", "1", "2"]]  # fmt: skip
    assert setting.genome(3, 0) == setting.genome(3, 0) != setting.genome(4, 0)
    assert setting.key != setting_of("digits", "cpu").key


def test_genomes_are_planned_and_trained() -> None:
    setting = setting_of("digits", "smoke")
    seen: list[dict[str, Any]] = []
    found = work(f"{setting.key}:0:plan:0:4", seen.append, {setting.key: setting})
    assert found["outcome"] == "done" and [one["number"] for one in found["rows"]] == [0, 1, 2, 3]
    assert all(one["plan"] > 0 and one["unreached"] == [] and one["tensors"] > 1 for one in found["rows"])
    assert seen == [{"at": number} for number in range(4)]
    trained = work(f"{setting.key}:0:train:0:1", seen.append, {setting.key: setting})["rows"][0]
    assert trained["training"] > 0 and trained["initialization"] > 0 and trained["fitness"] > 0


def test_a_genome_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = setting_of("digits", "smoke")
    whole = genome_study.plan_one
    bad = setting.genome(1, 0)

    def fails(genome: Any) -> dict[str, Any]:
        if genome == bad:
            raise ValueError("no such rule")
        return whole(genome)

    monkeypatch.setattr(genome_study, "plan_one", fails)
    found = work(f"{setting.key}:0:plan:0:3", lambda known: None, {setting.key: setting})
    assert found["outcome"] == "failed" and [one["number"] for one in found["rows"]] == [0, 2]
    assert found["failed"][0]["number"] == 1 and "ValueError: no such rule" in found["failed"][0]["error"]


def test_the_tables(tmp_path: Path) -> None:
    records = [
        record("adult:cpu:old:0:plan:0:50", rows=[row(0), row(1), row(2)]),
        record("adult:cpu:d:0:plan:0:50", rows=[row(0), row(1, unreached=["layers.x.weight"])]),
        record("adult:cpu:d:0:plan:50:100", outcome="crash", at=57, error="exit code -11"),
        record("adult:cpu:d:0:train:0:1", rows=[row(0, initialization=0.04, training=2.0, fitness=0.8)]),
        record("adult:cpu:d:0:train:1:2", rows=[row(1, plan=0.05, initialization=0.06, training=1.0, fitness=0.8)]),
        record("mnist:cpu:d:0:train:0:1", rows=[row(0, plan=0.03, initialization=0.04, training=2.0, fitness=0.8)]),
    ]
    adult, mnist = accounts(records)
    assert adult.share("plan") == pytest.approx(0.07 / 3) and mnist.share("plan") == pytest.approx(0.015)
    assert len(adult.lost) == 1 and adult.failed[0]["number"] == 57
    planned, trained, failed = tables(records)
    assert planned.rows[0][:5] == ["adult", "cpu", "2", "1", "1"]
    assert [line[-1] for line in trained.rows] == ["no", "yes"]
    assert [line[2] for line in failed.rows] == ["57", "1"] and "layers.x.weight" in failed.rows[1][3]
    write(records, tmp_path)
    told = json.loads((tmp_path / "genomes.json").read_text())
    assert told["accounts"][0]["not_reached"] == [{"number": 1, "parameters": ["layers.x.weight"]}]
    assert "## Share of the training time" in (tmp_path / "genomes.md").read_text()


@pytest.mark.slow
def test_a_run_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(genome_study, "CHUNK", 3)
    words = ["--task", "digits", "--preset", "smoke", "--trained", "0", "--jobs", "1", "--out", str(tmp_path)]
    assert main([*words, "--count", "3"]) == 0
    lines = (tmp_path / "genomes.jsonl").read_text().splitlines()
    assert len(lines) == 1
    assert main([*words, "--count", "5"]) == 0
    assert (tmp_path / "genomes.jsonl").read_text().splitlines()[0] == lines[0], "what is done is not repeated"
    told = json.loads((tmp_path / "genomes.json").read_text())["accounts"]
    assert told[0]["planned"] == 5 and told[0]["failed"] == [] and told[0]["not_reached"] == []
    assert "Random genomes, planned" in capsys.readouterr().out
