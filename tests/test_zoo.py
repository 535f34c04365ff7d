"""The zoo: catalogue, stand-ins for torchvision's operators, resuming, and the models that are checked nightly."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from benchmarks import zoo
from benchmarks.zoos import timm_models, torchvision_models
from benchmarks.zoos.catalogue import choose, entries, find
from benchmarks.zoos.journal import Journal
from benchmarks.zoos.nightly import NIGHTLY
from benchmarks.zoos.totals import BARS, totals
from environment.torchvision_ops import nms, with_one_sampling

pytestmark = pytest.mark.skipif(
    any(find_spec(library) is None for library in ("timm", "torchvision", "transformers")), reason="needs the zoo extra"
)


def test_stand_ins_for_compiled_operators() -> None:
    torchvision = torchvision_models.library()
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
    """Architectures from all zoos: each planned, drawn twice (ten times without normalisation), and measured."""
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
