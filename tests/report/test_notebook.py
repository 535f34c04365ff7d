"""The notebook's table: well-formed, complete, static, and safe against names from strangers."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402


class Table(HTMLParser):
    """Collects cells per row, and checks that tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.rows: list[list[str]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"style", "colspan"}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def net(blocks: int = 6) -> nn.Sequential:
    torch.manual_seed(0)
    parts = [nn.Sequential(nn.Linear(32, 32), nn.ReLU()) for _ in range(blocks)]
    return nn.Sequential(nn.Linear(10, 32), *parts, nn.Linear(32, 3))


def test_plan() -> None:
    plan = autoinit.plan(net(), (16, 10))
    made = Table(plan._repr_html_())
    assert made.rows[0][0] == "layer" and made.rows[0][-1] == "verdict"
    assert made.rows[1][0] == "0" and f"{plan['0.weight'].std:.4f}" in made.rows[1] and made.rows[1][-1] == "ok"
    folded = next(r for r in made.rows if len(r) == 2)
    assert folded[0].startswith("2 … 6") and "as 1 (std" in folded[1]
    assert made.rows[-1][0] == "7"
    assert plan.summary() in plan._repr_html_()
    assert "script" not in made.tags


def test_measurement() -> None:
    model = net()
    with torch.no_grad():
        model[0].weight.mul_(100)
    measured = autoinit.measure(model, (16, 10))
    text = measured._repr_html_()
    made = Table(text)
    assert "ratio" in made.rows[0] and "exploding" in made.rows[1]
    assert "first problem: 0 (linear)" in text


def test_names_from_strangers_are_text() -> None:
    plan = autoinit.plan(net(), (16, 10))
    plan.model = "<img src=x onerror=alert(1)>"
    for row in plan.tensors:
        row.module = f"<script>{row.module}</script>"
    plan.notes.append(autoinit.core.plan.plan.Note("warning", "<b>", "</div><svg>"))
    made = Table(plan._repr_html_())
    assert made.tags == {"div", "table", "thead", "tbody", "tr", "th", "td"}
