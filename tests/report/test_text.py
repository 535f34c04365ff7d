"""The tables: readable, complete, at most 120 columns."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.report import table  # noqa: E402
from autoinit.report.layout import WIDTH  # noqa: E402


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.expand_with_a_long_name_that_fills_the_column = nn.Linear(width, 4 * width)
        self.contract = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.contract(torch.relu(self.expand_with_a_long_name_that_fills_the_column(x)))


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(10, 32), *(Block(32) for _ in range(12)), nn.Linear(32, 3))


def test_plan_table() -> None:
    plan = autoinit.plan(net(), (16, 10))
    text = str(plan)
    lines = text.splitlines()
    assert text == table(plan)
    assert max(map(len, lines)) <= WIDTH
    assert "as 1 (" in text and "2 … 12" in text
    assert lines[-1] == plan.summary()
    assert "first problem" not in text
    assert f"{plan['0.weight'].std:.4f}" in text


def test_checked_table_puts_the_first_problem_on_top() -> None:
    model = net()
    autoinit.initialize(model, (16, 10))
    with torch.no_grad():
        model[13].weight.mul_(1e3)
    lines = str(autoinit.check(model, (16, 10))).splitlines()
    assert "as it is now" in lines[0]
    assert lines[1].startswith("first problem: 13 (linear): variance") and lines[1].endswith("exploding")
    assert " std" not in lines[3] and " var. out" in lines[3]  # columns that say nothing are left out


def test_measurement_table() -> None:
    model = net()
    autoinit.initialize(model, (16, 10))
    measured = autoinit.measure(model, (16, 10))
    lines = str(measured).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert "ratio" in lines[2] and len(lines) < 26
    assert lines[2 + 2].startswith("0 ") and lines[2 + 2].endswith("ok")
    assert lines[-1].startswith("26 weight layers")


def test_warnings_are_shown_before_the_table() -> None:
    plan = autoinit.plan(net(), (16, 10))
    plan.notes += [autoinit.core.plan.plan.Note("warning", f"layer {k}", f"{k}" * 200) for k in range(9)]
    lines = str(plan).splitlines()
    assert lines[1].startswith("warning: layer 0")
    assert any(line.startswith("... and 3 more") for line in lines)
    assert max(map(len, lines)) <= WIDTH


def test_a_narrow_table_keeps_what_matters() -> None:
    model = net()
    wide = str(autoinit.check(model, (16, 10)))
    narrow = table(autoinit.check(model, (16, 10)), 60)
    assert max(map(len, narrow.splitlines())) <= 60
    assert "mean in" in wide and "mean in" not in narrow
    heads = next(line for line in narrow.splitlines() if "verdict" in line)
    assert "layer" in heads and "var. out" in heads and "verdict" in heads


def test_the_summary_counts_verdicts() -> None:
    model = net()
    assert str(autoinit.plan(model, (16, 10))).splitlines()[-1] == "26 weight layers, 52 of 52 parameters set"
    with torch.no_grad():
        model[13].weight.zero_()
        model[13].bias.zero_()
    last = str(autoinit.check(model, (16, 10))).splitlines()[-1]
    assert last.startswith("26 weight layers; ") and "1 zero" in last
    assert sum(int(part.split()[0]) for part in last.split("; ")[1].split(", ")) == 26


def test_a_model_of_one_layer() -> None:
    assert "1 weight layers" in str(autoinit.plan(nn.Linear(3, 4), (5, 3)))


def test_equal_notes_are_counted() -> None:
    plan = autoinit.plan(net(), (16, 10))
    note = autoinit.core.plan.plan.Note
    plan.notes += [note("simulated", f"{k}.contract", "no rule") for k in range(9)] + [note("warning", "3", "other")]
    lines = str(plan).splitlines()
    assert lines[1] == "warning: 3: other"
    assert lines[2] == "simulated: 0.contract and 8 others: no rule" and lines[3] == ""
    assert len(plan.problems) == 10


def test_long_names_keep_their_ends() -> None:
    model = nn.Sequential()
    model.add_module(f"first_{'x' * 200}_last", nn.Linear(10, 10))
    nn.init.normal_(model[0].weight, std=1e4)
    found = autoinit.check(model, (16, 10), warn=False)
    found.notes.append(autoinit.core.plan.plan.Note("warning", found.tensors[0].module, "look here"))
    problem, note = str(found).splitlines()[1:3]
    assert problem.startswith("first problem: first_x") and "…" in problem and "_last (linear): variance" in problem
    assert problem.endswith("exploding") and note.endswith("_last: look here")
