"""The figure: what is drawn, and that it can be saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.report import plot  # noqa: E402


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))


def curves(axis) -> dict[str, np.ndarray]:
    return {line.get_label(): np.asarray(line.get_ydata(), float) for line in axis.get_lines()}


def test_one_plan(tmp_path: Path) -> None:
    plan = autoinit.plan(net(), (16, 10))
    figure = plan.plot(tmp_path / "signal.png")
    assert (tmp_path / "signal.png").stat().st_size > 5000
    variance, mean = figure.axes
    assert variance.get_yscale() == "log"
    drawn = curves(variance)
    assert drawn["predicted"] == pytest.approx([t.tensor_variance for t in plan.tensors])
    assert len(drawn["weight layers"]) == 3
    assert "measured" not in drawn
    assert len(mean.get_lines()) == 2


def test_measurements_side_by_side() -> None:
    model = net()
    before = autoinit.measure(model, (16, 10))
    autoinit.initialize(model, (16, 10))
    after = autoinit.measure(model, (16, 10))
    figure = plot([before, after], labels=["default", "AutoInit"], title="both")
    assert [a.get_title() for a in figure.axes[:2]] == ["default", "AutoInit"]
    assert curves(figure.axes[1])["measured"] == pytest.approx([r.variance for r in after.rows])


def test_zero_variance_is_a_gap() -> None:
    model = net()
    with torch.no_grad():
        model[2].weight.zero_()
        model[2].bias.zero_()
    drawn = curves(plot(autoinit.check(model, (16, 10))).axes[0])
    assert np.isnan(drawn["predicted"][2]) and np.isfinite(drawn["predicted"][0])


def test_labels_must_fit() -> None:
    with pytest.raises(ValueError, match="1 things to draw, but 2 labels"):
        plot(autoinit.plan(net(), (16, 10)), labels=["a", "b"])
