"""The page as a file: complete, self-contained, and safe against names from strangers."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.errors import OptionError, PlanError  # noqa: E402


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))


def shown(text: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]


class Elements(HTMLParser):
    """Start tags with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_page_holds_the_plan(tmp_path: Path) -> None:
    model = net()
    default = autoinit.check(model, (16, 10))
    plan = autoinit.initialize(model, (16, 10))
    measured = autoinit.measure(model, (16, 10))
    text = plan.to_html(tmp_path / "page.html", default=default, measured=measured)
    assert (tmp_path / "page.html").read_text("utf-8") == text == plan.to_html(default=default, measured=measured)
    data = shown(text)
    tensors = data["tensors"]
    assert tensors["module"] == [t.module for t in plan.tensors]
    assert tensors["variance"] == pytest.approx([t.tensor_variance for t in plan.tensors], rel=1e-5)
    assert tensors["std"][1::2] == [None, None]
    assert tensors["std"][::2] == pytest.approx([plan[f"{k}.weight"].std for k in (0, 2, 4)], rel=1e-5)
    assert tensors["verdict"] == ["ok", None, "ok", None, "ok"]
    assert data["measured"]["variance"] == pytest.approx([r.variance for r in measured.rows], rel=1e-5)
    assert data["default"]["variance"] == pytest.approx([t.tensor_variance for t in default.tensors], rel=1e-5)
    assert data["default"]["problem"]["name"] == "2"
    assert {p["name"]: p["action"] for p in data["parameters"]} == {p.name: p.action for p in plan.parameters}


def test_one_file_without_network() -> None:
    text = autoinit.plan(net(), (16, 10)).to_html()
    for tag, attributes in Elements(text).found:
        assert "src" not in attributes, tag
        assert attributes.get("href", "data:,") == "data:,", tag
    assert "default-src 'none'" in text  # the browser refuses whatever would load something


def test_a_measurement_has_a_page_too() -> None:
    model = net()
    measured = autoinit.measure(model, (16, 10))
    data = shown(measured.to_html(default=measured))
    assert data["measured"] == data["default"] and data["default"]["real"] and data["checked"]


def test_names_from_strangers_stay_in_their_place() -> None:
    plan = autoinit.plan(net(), (16, 10))
    plan.model = "{{data}}<script>alert(1)</script>"
    for row in plan.tensors:
        row.module = "</script><img src=x onerror=alert(1)>"
    text = plan.to_html()
    assert [tag for tag, _ in Elements(text).found].count("script") == 2
    assert "<img" not in text.split("<main>")[1].split('id="data"')[0]
    assert shown(text)["model"] == plan.model
    assert text.count('id="data"') == 1  # what is put in is not searched for marks again


def test_what_is_not_finite_is_null(tmp_path: Path) -> None:
    plan = autoinit.plan(net(), (16, 10))
    plan.tensors[2].tensor_variance = plan.tensors[2].variance = float("inf")
    plan.tensors[4].mean = float("nan")
    data = shown(plan.to_html())
    assert data["tensors"]["variance"][2] is None and data["tensors"]["verdict"][2] == "exploding"
    plan.save(tmp_path / "plan.json")
    again = shown(autoinit.Plan.load(tmp_path / "plan.json").to_html())
    assert again["tensors"]["variance"] == data["tensors"]["variance"]


def test_what_belongs_to_another_model_is_refused() -> None:
    plan = autoinit.plan(net(), (16, 10))
    other = autoinit.check(nn.ModuleDict({"a": nn.Linear(3, 4)})["a"], (5, 3))
    with pytest.raises(PlanError, match="no tensor in common"):
        plan.to_html(default=other)
    with pytest.raises(OptionError, match="measured"):
        plan.to_html(measured=plan)
    with pytest.raises(OptionError, match=r"autoinit\.check"):
        plan.to_html(default="default")


def test_it_is_small() -> None:
    assert len(autoinit.plan(net(), (16, 10)).to_html().encode()) < 100_000


class Residual(nn.Module):
    def __init__(self, blocks: int = 3) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 16)) for _ in range(blocks)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = x + block(x)
        return x


def test_residual_trunks_are_told() -> None:
    model = Residual()
    plan, default = autoinit.plan(model, (8, 16)), autoinit.check(model, (8, 16))
    (trunk,) = shown(plan.to_html(default=default))["residual"]
    assert (trunk["n"], trunk["skip"], trunk["norm"]) == (3, "identity", "inside")
    assert trunk["tensors"] == [one.tensor for one in plan.residual]
    assert trunk["share"] == pytest.approx([one.share for one in plan.residual], rel=1e-5)
    assert trunk["default_share"] == pytest.approx([one.share for one in default.residual], rel=1e-5)
    (alone,) = shown(plan.to_html())["residual"]
    assert alone["default_share"] == [None] * 3
    assert shown(autoinit.plan(net(), (16, 10)).to_html())["residual"] == []


def test_gradients_are_in_the_page_of_a_plan_that_has_them() -> None:
    model = net()
    default = autoinit.check(model, (16, 10), gradients=True)
    plan = autoinit.initialize(model, (16, 10), gradients=True)
    measured = autoinit.measure(model, (16, 10), gradients=True)
    found = shown(plan.to_html(default=default, measured=measured))["gradients"]
    rows = [plan.gradients[f"{k}.weight"] for k in (0, 2, 4)]
    assert found["weight"][::2] == pytest.approx([row.rms for row in rows], rel=1e-5)
    assert found["ratio"][::2] == pytest.approx([row.ratio for row in rows], rel=1e-5)
    assert found["weight"][1] is None and found["tensor"][-1] == 1.0
    seconds = [measured.gradient_seconds[row.parameter] for row in rows]
    assert found["measured"][::2] == pytest.approx([second**0.5 for second in seconds], rel=1e-5)
    assert found["default"]["weight"][0] == pytest.approx(default.gradients["0.weight"].rms, rel=1e-5)
    assert found["problem"] is None
    assert shown(autoinit.plan(model, (16, 10)).to_html(default=default))["gradients"] is None
