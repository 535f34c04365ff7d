"""The zoo: journal, limits, summary, stand-ins for torchvision's operators, and the models that are checked nightly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
for library in ("timm", "torchvision", "transformers"):  # importing torchvision itself may need the stand-ins
    if find_spec(library) is None:
        pytest.skip(f"needs {library}", allow_module_level=True)

import autoinit
from benchmarks import zoo
from benchmarks.zoos import timm_models
from benchmarks.zoos.catalogue import choose, entries, find
from benchmarks.zoos.defaults import inspect_default
from benchmarks.zoos.entry import Entry
from benchmarks.zoos.fidelity import judge, normalises, ratios
from benchmarks.zoos.journal import Journal
from benchmarks.zoos.listing import listing
from benchmarks.zoos.nightly import NIGHTLY
from benchmarks.zoos.running import is_done
from benchmarks.zoos.study import Settings, study
from benchmarks.zoos.summary import write
from benchmarks.zoos.torchvision_ops import load_torchvision, nms, with_one_sampling
from benchmarks.zoos.totals import BARS, totals
from benchmarks.zoos.trouble import misbehave
from benchmarks.zoos.workers import Limits, run


def small(name: str = "test:mlp", *, norm: bool = True) -> Entry:
    def build() -> torch.nn.Module:
        middle = torch.nn.LayerNorm(64) if norm else torch.nn.Identity()
        return torch.nn.Sequential(torch.nn.Linear(64, 64), middle, torch.nn.ReLU(), torch.nn.Linear(64, 32))

    return Entry(name, "mlp", build, (16, 64))


def quiet(known: dict[str, Any]) -> None:
    pass


# --- journal ------------------------------------------------------------------------------------------------------


def test_journal_keeps_the_last_record_of_a_name(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "deep" / "zoo.jsonl")
    assert journal.read() == {}
    for record in ({"name": "a", "x": 1}, {"name": "b", "x": 2}, {"name": "a", "x": 3}):
        journal.add(record)
    assert journal.read() == {"a": {"name": "a", "x": 3}, "b": {"name": "b", "x": 2}}
    journal.compact()
    assert len(journal.path.read_text().splitlines()) == 2
    assert journal.read()["a"]["x"] == 3


def test_journal_survives_a_line_cut_short(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "zoo.jsonl")
    journal.add({"name": "a"})
    journal.add({"name": "b"})
    journal.path.write_bytes(journal.path.read_bytes()[:-5])  # killed while writing
    assert list(journal.read()) == ["a"]
    journal.add({"name": "c"})
    assert list(journal.read()) == ["a", "c"]


def test_resuming_skips_what_is_done_with_the_same_settings() -> None:
    settings = Settings(seeds=3)
    done = {"name": "a", "outcome": "measured", "settings": settings.key}
    failed = {**done, "outcome": "time limit"}
    assert is_done(done, settings, retry=False) and is_done(done, settings, retry=True)
    assert is_done(failed, settings, retry=False) and not is_done(failed, settings, retry=True)
    assert not is_done(done, Settings(seeds=5), retry=False)
    assert not is_done(None, settings, retry=False)


# --- limits -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_limits_and_crashes_lose_one_model_each() -> None:
    """One process takes everything in turn; it is replaced each time it is lost."""
    tasks = ["fine 1", "sleep", "fine 2", "exit", "fine 3", "allocate", "raise", "fine 4"]
    limits = Limits(seconds=4.0, megabytes=1500.0)
    found = dict(run(tasks, misbehave, jobs=1, limits=limits))
    assert {k: v["outcome"] for k, v in found.items()} == {
        **{f"fine {k}": "measured" for k in (1, 2, 3, 4)},
        "sleep": "time limit",
        "exit": "crash",
        "allocate": "memory limit",
        "raise": "crash",
    }
    assert found["sleep"]["stage"] == "asleep"  # what was reported before the end is kept
    assert "exit code 7" in found["exit"]["error"]


@pytest.mark.slow
def test_two_processes_share_the_tasks_and_are_replaced() -> None:
    names = [f"fine {k}" for k in range(6)]
    begun: list[str] = []
    found = dict(run(names, misbehave, jobs=2, limits=Limits(tasks=2), started=begun.append))
    assert sorted(found) == sorted(begun) == names
    per_process = [sum(r["process"] == p for r in found.values()) for p in {r["process"] for r in found.values()}]
    assert max(per_process) <= 2
    assert all(r["process"] != os.getpid() for r in found.values())


@pytest.mark.slow
def test_leaving_early_ends_the_processes() -> None:
    pids = []
    for _, result in run(["fine", "sleep", "sleep too"], misbehave, jobs=2, limits=Limits()):
        pids.append(result["process"])
        break
    _until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


STOPPED = """
import sys
from pathlib import Path
from benchmarks.zoos.journal import Journal
from benchmarks.zoos.trouble import misbehave
from benchmarks.zoos.workers import Limits, run

if __name__ == "__main__":
    for name, record in run(["fine 1", "fine 2", "sleep"], misbehave, jobs=1, limits=Limits()):
        Journal(Path(sys.argv[1])).add(record)
"""


@pytest.mark.slow
def test_a_run_that_is_killed_keeps_what_was_finished(tmp_path: Path) -> None:
    script, journal = tmp_path / "stopped.py", Journal(tmp_path / "zoo.jsonl")
    script.write_text(STOPPED)
    root = str(Path(zoo.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, f"{root}/src"])}
    process = subprocess.Popen([sys.executable, str(script), str(journal.path)], env=environment)
    _until(lambda: len(journal.read()) == 2)
    process.kill()
    process.wait()
    assert list(journal.read()) == ["fine 1", "fine 2"]
    worker = journal.read()["fine 1"]["process"]
    _until(lambda: not Path(f"/proc/{worker}").exists())  # nothing goes on behind our back


def _until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


# --- one model ----------------------------------------------------------------------------------------------------


def test_a_study_has_every_part() -> None:
    stages: list[str] = []
    record = study(small(), Settings(seeds=2), lambda known: stages.append(known["stage"]), verbose=True)
    assert record["outcome"] == "measured", record
    assert stages == ["build", "plan", "check", "measure"]
    assert record["plan"]["layers"] == record["fidelity"]["layers"]["n"] == 2
    assert record["plan"]["passed"] == {} and record["plan"]["not_reached"] == 0
    assert record["fidelity"]["layers"]["2"] == 2 and record["fidelity"]["outputs_off"] == 0
    assert record["fidelity"]["seeds"] == 2 and not record["fidelity"]["norm_free"]
    json.dumps(record, allow_nan=False)
    assert "2 layers" in listing(record)


def test_without_normalisation_more_seeds_and_intervals() -> None:
    record = study(small(norm=False), Settings(seeds=2), quiet)
    assert record["fidelity"]["norm_free"] and record["fidelity"]["seeds"] == 10


def test_a_model_that_cannot_be_built_or_run_is_a_record() -> None:
    def broken() -> torch.nn.Module:
        raise ValueError("no such thing")

    record = study(Entry("test:broken", "x", broken, (1, 2)), Settings(), quiet)
    assert record["outcome"] == "build failed" and "no such thing" in record["error"]
    record = study(Entry("test:shape", "x", small().build, (16, 63)), Settings(), quiet)
    assert record["outcome"] == "plan failed"


def test_large_models_are_planned_without_weights() -> None:
    record = study(small(), Settings(measure_below=10), quiet)
    assert record["outcome"] == "planned" and record["device"] == "meta"
    assert "fidelity" not in record


def test_judging_against_target_prediction_and_interval() -> None:
    model = small(norm=False).build()
    plan = autoinit.plan(model, (16, 64))
    assert not normalises(plan)
    expected = np.array([t.target or t.tensor_variance for t in plan.tensors])
    runs = np.stack([np.zeros_like(expected), expected], axis=1)[None].repeat(3, axis=0)
    assert judge(plan, runs)["layers"] == {"n": 2, "1.25": 2, "2": 2, "median": 1.0}
    runs[:, -1, 1] *= 20  # the last layer is the output
    found = judge(plan, runs)
    assert found["layers"]["2"] == 1 and found["outputs_off"] == 1
    assert found["worst_layer"]["module"] == found["first_off"]["module"] == "3"
    assert found["worst_layer"]["ratio"] == pytest.approx(20)


def test_ratios_of_nothing_and_of_overflow() -> None:
    found = ratios(np.array([0.0, 2.0, np.inf, 1.0]), np.array([0.0, 1.0, np.nan, 0.0]))
    assert found.tolist() == [1.0, 2.0, 1.0, np.inf]


def test_default_initialization_names_the_first_bad_layer() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
    with torch.no_grad():
        model[0].weight.normal_(std=0.125)  # variance 1 for inputs of variance 1
        model[2].weight.normal_(std=1e-3)
    found = inspect_default(model, (256, 64))
    assert found["first_bad"]["module"] == "2" and found["first_bad"]["verdict"] == "vanishing"
    assert found["layer_agrees"] and found["output_agrees"]


# --- tables -------------------------------------------------------------------------------------------------------


def made_up(name: str, **changes: Any) -> dict[str, Any]:
    record = study(small(name), Settings(seeds=2), quiet)
    return {**record, **changes}


def test_summary_counts_and_writes(tmp_path: Path) -> None:
    good = made_up("timm:good")
    lost = {"name": "timm:lost", "family": "other", "outcome": "time limit", "error": "stopped", "stage": "build"}
    half = {k: v for k, v in made_up("torchvision:half", outcome="memory limit").items() if k != "fidelity"}
    half["plan"] = {**half["plan"], "passed": {"aten.strange": 2}}
    write([good, lost, half], tmp_path)
    found = totals([good, lost, half])
    assert (found.models, found.planned, found.measured, found.unmeasured) == (3, 2, 1, 1)
    assert (found.families, found.families_planned, found.passed) == (3, 2, 2)
    text = (tmp_path / "zoo.md").read_text("utf-8")
    assert "| timm:lost | time limit | build | stopped |" in text
    assert "| aten.strange | passed through | 2 | 1 |" in text
    stored = json.loads((tmp_path / "zoo.json").read_text("utf-8"))
    assert [m["name"] for m in stored["models"]] == ["timm:good", "timm:lost", "torchvision:half"]
    assert "# Default initializations" in (tmp_path / "defaults.md").read_text("utf-8")


def test_summary_of_nothing(tmp_path: Path) -> None:
    write([], tmp_path)
    assert json.loads((tmp_path / "zoo.json").read_text("utf-8"))["models"] == []


# --- catalogue ----------------------------------------------------------------------------------------------------


def test_stand_ins_for_compiled_operators() -> None:
    torchvision = load_torchvision()
    assert load_torchvision() is torchvision
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 10, 10], [20, 20, 30, 30]])
    scores = torch.tensor([0.5, 0.9, 0.3])
    assert nms(boxes, scores, 0.5).tolist() == torchvision.ops.nms(boxes, scores, 0.5).tolist() == [1, 2]
    image = torch.arange(64.0).reshape(1, 1, 8, 8)
    rois = torch.tensor([[0.0, 0, 0, 4, 4]])
    pooled = torchvision.ops.roi_align(image, rois, 2, aligned=True)  # means over quarters of the box, half a pixel off
    assert pooled.flatten().tolist() == pytest.approx([4.5, 6.5, 20.5, 22.5])


def test_the_largest_box_chooses_the_sampling() -> None:
    asked: list[int] = []
    align: Callable[..., Any] = with_one_sampling(lambda *args: asked.append(args[5]))
    rois = torch.tensor([[0.0, 0, 0, 4, 4], [0, 0, 0, 21, 10]])
    align(None, rois, 1.0, 2, 2, -1, False)
    align(None, rois, 1.0, 2, 2, 3, False)
    assert asked == [11, 3]


def test_every_family_of_timm_is_there_once_by_default() -> None:
    timm = timm_models.library()
    chosen = timm_models.entries(everything=False)
    assert {e.family for e in chosen} == set(timm.list_modules())
    assert len({e.name for e in chosen}) == len(chosen) < 140


def test_names_lead_to_entries() -> None:
    names = [e.name for e in entries()]
    assert len(names) == len(set(names))
    for name in ("timm:resnet18", "torchvision:raft_small", *NIGHTLY):
        assert find(name).name == name
    assert choose(names, ["torchvision:vgg*"]) == ["torchvision:vgg11", "torchvision:vgg11_bn"]


def test_large_images_are_replaced_where_the_model_takes_smaller_ones() -> None:
    assert find("timm:efficientnet_b4").inputs_of(torch.nn.Identity()) == (4, 3, 224, 224)  # published with 320
    assert find("timm:vit_tiny_patch16_384").inputs_of(torch.nn.Identity()) == (4, 3, 224, 224)
    assert find("timm:vit_tiny_patch16_384").build().patch_embed.img_size == (224, 224)


# --- the run ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_is_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--only", "torchvision:squeezenet1_1", "--plan-only", "--jobs", "1", "--out", str(tmp_path)]
    assert zoo.main(command) == 0
    assert "[1/1] torchvision:squeezenet1_1: planned" in capsys.readouterr().err
    assert zoo.main(command) == 0
    assert "squeezenet" not in capsys.readouterr().err
    assert zoo.main([*command, "--fresh", "-v"]) == 0
    assert "26 layers" in capsys.readouterr().out
    (tmp_path / "zoo.md").unlink()
    assert zoo.main(["--summary", "--out", str(tmp_path)]) == 0
    assert "squeezenet1_1" in (tmp_path / "zoo.md").read_text("utf-8")


@pytest.mark.slow
def test_nightly_models_reach_the_bars(tmp_path: Path) -> None:
    """About forty architectures from all zoos, each planned, drawn twice (ten times without normalisation), measured."""
    assert zoo.main(["--subset", "nightly", "--seeds", "2", "--jobs", "2", "--out", str(tmp_path)]) == 0
    records = list(Journal(tmp_path / "zoo.jsonl").read().values())
    assert sorted(r["name"] for r in records) == sorted(NIGHTLY)
    found = totals(records)
    missed = [f"{bar.what}: {bar.shown(found)}, demanded {bar.demanded}" for bar in BARS if not bar.holds(found)]
    failed = [f"{r['name']}: {r['outcome']}: {r.get('error')}" for r in records if r["outcome"] != "measured"]
    off = sorted(records, key=lambda r: _missed(r), reverse=True)[:5]
    worst = [f"{r['name']}: {r['fidelity']['layers']}, {r['fidelity']['first_off']}" for r in off if _missed(r)]
    assert not missed and not failed, "\n".join([*missed, *failed, *worst])


def _missed(record: dict[str, Any]) -> int:
    layers = record.get("fidelity", {}).get("layers", {"n": 0, "1.25": 0})
    return int(layers["n"] - layers["1.25"])
