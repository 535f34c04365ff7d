"""Verdicts, rows and the first problem."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.report import first_problem, layer_rows, verdict  # noqa: E402
from autoinit.report.data import series  # noqa: E402


@pytest.mark.parametrize(
    ("variance", "word"),
    [
        (1.0, "ok"),
        (0.5, "ok"),
        (2.0, "ok"),
        (0.49, "low"),
        (2.1, "high"),
        (0.09, "vanishing"),
        (11.0, "exploding"),
        (0.0, "zero"),
        (float("inf"), "exploding"),
        (float("nan"), "invalid"),
    ],
)
def test_verdicts_scale_with_the_target(variance: float, word: str) -> None:
    assert verdict(variance, 1.0) == word
    assert verdict(4 * variance, 4.0) == word


def chain(stds: list[float]) -> nn.Sequential:
    """Linear layers of width 100 whose k-th multiplies the variance by 100 std^2."""
    torch.manual_seed(0)
    model = nn.Sequential(*(nn.Linear(100, 100, bias=False) for _ in stds))
    for layer, std in zip(model, stds, strict=True):
        nn.init.normal_(layer.weight, 0.0, std)
    return model


def test_first_problem_names_the_layer_that_breaks_the_signal() -> None:
    model = chain([0.1, 0.1, 1.0, 0.1])
    checked = autoinit.check(model, (64, 100))
    assert [r.verdict for r in layer_rows(checked)] == ["ok", "ok", "exploding", "exploding"]
    bad = first_problem(checked)
    assert bad is not None and bad.module == "2"
    measured = autoinit.measure(model, (64, 100))
    found = first_problem(measured)
    assert found is not None and found.module == "2"


def test_a_planned_model_has_no_problem() -> None:
    plan = autoinit.plan(chain([1.0] * 4), (64, 100))
    assert first_problem(plan) is None
    rows = layer_rows(plan)
    assert [r.std for r in rows] == pytest.approx([0.1] * 4, rel=1e-3)  # 100 std^2 = 1
    assert [r.fan for r in rows] == pytest.approx([100] * 4, rel=1e-3)
    assert [r.variance_in for r in rows] == pytest.approx([1.0] * 4, rel=1e-3)
    assert [r.mean_in for r in rows] == [r.mean for r in rows] == [0.0] * 4


def test_mean_and_variance_of_what_comes_in() -> None:
    model = nn.Sequential(nn.Linear(100, 1000), nn.ReLU(), nn.Linear(1000, 10))
    plan = autoinit.initialize(model, (64, 100))
    for report in (plan, autoinit.check(model, (64, 100))):
        row = layer_rows(report)[1]
        assert row.mean_in == pytest.approx((2 * 3.14159265) ** -0.5, rel=1e-2)  # E[relu(x)]
        assert row.variance_in == pytest.approx(0.5 - 0.5 / 3.14159265, rel=1e-2)


def test_indices_are_no_signal() -> None:
    tokens = autoinit.Input((8, 20), vocabulary=50)
    row = layer_rows(autoinit.plan(nn.Sequential(nn.Embedding(50, 32)), tokens))[0]
    assert row.mean_in is None and row.variance_in is None and row.variance == pytest.approx(1.0, rel=1e-2)


def test_a_tied_embedding_is_called_shared() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(50, 32)
            self.norm = nn.LayerNorm(32)
            self.head = nn.Linear(32, 50, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, tokens):
            return self.head(self.norm(self.embedding(tokens)))

    plan = autoinit.plan(Tied(), autoinit.Input((8, 20), vocabulary=50))
    assert [r.verdict for r in layer_rows(plan)] == ["shared", "ok"]
    assert first_problem(plan) is None


def test_series_has_measured_points_only_for_a_measurement() -> None:
    model = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 5))
    plan = autoinit.initialize(model, (16, 20))
    predicted = series(plan, "plan")
    assert predicted.weight == [True, False, True]
    assert predicted.measured_variance is None
    both = series(autoinit.measure(model, (16, 20)))
    assert both.label == "Sequential"
    assert both.measured_variance is not None and len(both.measured_variance) == len(both.variance) == 3


def test_a_saved_plan_reads_the_same(tmp_path) -> None:
    plan = autoinit.plan(chain([1.0] * 3), (8, 100))
    plan.save(tmp_path / "plan.json")
    assert str(autoinit.Plan.load(tmp_path / "plan.json")) == str(plan)
