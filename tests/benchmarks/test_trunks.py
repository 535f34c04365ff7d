"""The counts by hand, and what the benchmark makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from benchmarks.trunk_rules import LEFT_OUT, WHY_NOT, ZOOS, unless, where
from benchmarks.trunks import BAR, RESULTS, expected, families, placed, share, study, text


class Block(nn.Module):
    def __init__(self, skips: bool) -> None:
        super().__init__()
        self.skips, self.mixer = skips, nn.Linear(2, 2)


def modules() -> dict[str, Any]:
    model = nn.Sequential(Block(True), Block(False), nn.Sequential(Block(True)))
    return dict(model.named_modules())


def test_expected_counts_modules() -> None:
    assert expected({"Block": 2}, modules()) == {"Block": 6}
    assert expected({"Block": where("skips")}, modules()) == {"Block": 2}
    assert expected({"Block": unless("skips")}, modules()) == {"Block": 1}
    assert expected({}, modules()) == {}


def test_additions_count_for_the_innermost_module_that_is_named() -> None:
    found = placed({"Block": 1}, modules(), ["0", "0.mixer", "2.0", "2", ""])
    assert found == {"Block": 3, "": 2}


def record(expected: int, found: int, right: int, name: str = "timm:a") -> dict[str, Any]:
    return {"name": name, "zoo": "timm", "rule": "", "expected": expected, "found": found, "right": right, "n": 1,
            "norms": {}}  # fmt: skip


def test_what_is_missed_and_what_is_too_many_lower_the_share() -> None:
    assert share([record(8, 8, 8)]) == 1.0
    assert share([record(10, 8, 8)]) == 0.8
    assert share([record(8, 10, 8)]) == 0.8
    assert share([record(1, 1, 0)]) == 0.0
    told = text([record(10, 8, 8), {"name": "timm:b", "zoo": "timm", "rule": "", "error": "ValueError: no"}])
    assert "| timm:a | 10 | 8 | 8 | 0 |" in told and "FAIL" in told and "- timm:b: ValueError: no" in told


def test_there_are_forty_families_of_five_zoos() -> None:
    names = [name for name, _, _ in families()]
    assert len(names) == len(set(names)) >= 40 and all(len(rules) >= 10 for rules in ZOOS.values())
    assert set(WHY_NOT) <= set(names) and LEFT_OUT


@pytest.mark.parametrize(("name", "additions"), [("torchvision:resnet18", 8), ("torchvision:vgg11", 0)])
def test_a_model(name: str, additions: int) -> None:
    pytest.importorskip("torchvision")
    found = study(name, "torchvision", dict(ZOOS["torchvision"])[name.partition(":")[2]])
    assert (found["expected"], found["found"], found["right"]) == (additions,) * 3


def test_the_tables_are_those_of_the_records() -> None:
    stored = json.loads((RESULTS / "trunks.json").read_text(encoding="utf-8"))
    assert Path(RESULTS / "trunks.md").read_text(encoding="utf-8") == text(stored["models"])
    assert [record["name"] for record in stored["models"]] == [name for name, _, _ in families()]
    assert stored["share"] == pytest.approx(share([r for r in stored["models"] if "error" not in r]), abs=1e-4)
    assert stored["share"] >= BAR
