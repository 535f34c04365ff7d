"""The figure: what is drawn, and that it can be saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.errors import OptionError  # noqa: E402
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
    assert curves(mean)["predicted"] == pytest.approx([t.mean for t in plan.tensors])
    assert curves(mean).keys() >= {"weight layers"}


def test_measurements_side_by_side() -> None:
    model = net()
    before = autoinit.measure(model, (16, 10))
    autoinit.initialize(model, (16, 10))
    after = autoinit.measure(model, (16, 10))
    figure = plot([before, after], labels=["default", "AutoInit"], title="both")
    assert [a.get_title() for a in figure.axes[:2]] == ["default", "AutoInit"]
    assert figure.get_suptitle() == "both" and plot(after).get_suptitle() == "Variance and mean of every tensor"
    assert plot(after, title="").get_suptitle() == ""
    assert curves(figure.axes[1])["measured"] == pytest.approx([r.variance for r in after.rows])


def test_zero_variance_is_a_gap() -> None:
    model = net()
    with torch.no_grad():
        model[2].weight.zero_()
        model[2].bias.zero_()
    drawn = curves(plot(autoinit.check(model, (16, 10))).axes[0])
    assert np.isnan(drawn["predicted"][2]) and np.isfinite(drawn["predicted"][0])


def test_infinities_are_gaps() -> None:
    plan = autoinit.plan(net(), (16, 10))
    plan.tensors[2].tensor_variance = float("inf")
    plan.tensors[3].mean = float("nan")
    drawn = curves(plot(plan).axes[0])
    assert np.isnan(drawn["predicted"][2]) and np.isfinite(drawn["predicted"][3])


def test_others_beside_it_and_measured_points_over_it() -> None:
    model = net()
    default = autoinit.check(model, (16, 10))
    plan = autoinit.initialize(model, (16, 10))
    measured = autoinit.measure(model, (16, 10))
    figure = plan.plot(compare={"default": default, "default, measured": measured}, measured=measured)
    assert [a.get_title() for a in figure.axes[:3]] == ["default", "default, measured", "AutoInit"]
    assert [("measured" in curves(a)) for a in figure.axes[:3]] == [False, True, True]
    assert curves(figure.axes[2])["predicted"] == pytest.approx([t.tensor_variance for t in plan.tensors])
    assert curves(figure.axes[2])["measured"] == pytest.approx([r.variance for r in measured.rows])
    assert {t.get_text() for t in figure.legends[0].get_texts()} == {
        "target", "scatter of draws", "predicted", "weight layers", "measured"
    }  # fmt: skip


def test_the_band_is_the_scatter_of_draws() -> None:
    plan = autoinit.plan(net(), (16, 10))
    row = plan.tensors[2]
    row.tensor_variance, row.scatter = 1.0, 0.5
    low, high = row.band
    assert low * high == pytest.approx(np.exp(-0.25))  # the middle of a log-normal with mean 1, squared
    assert np.log(high / low) == pytest.approx(4 * 0.5)
    edges = plan.plot().axes[0].collections[0].get_paths()[0].vertices[:, 1]
    assert np.isclose(edges, low).any() and np.isclose(edges, high).any()


def test_draws_scatter_as_the_band_says() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(*(layer for _ in range(8) for layer in (nn.Linear(48, 48, bias=False), nn.ReLU())))
    plan = autoinit.plan(model, (64, 48))
    found = []
    for seed in range(20):
        plan.apply(model, seed=seed)
        rows = autoinit.measure(model, (64, 48)).weight_layers
        found += [t.band[0] <= r.variance <= t.band[1] for t, r in zip(plan.weight_layers, rows, strict=True)]
    assert np.mean(found) > 0.9


def test_many_layers_are_points_in_strands() -> None:
    layers = [layer for _ in range(160) for layer in (nn.Linear(8, 8), nn.ReLU())]
    drawn = curves(autoinit.plan(nn.Sequential(*layers), (4, 8)).plot().axes[0])
    assert len(drawn["weight layers"]) == 160 and len(drawn["predicted"]) == 160


def test_labels_must_fit() -> None:
    with pytest.raises(OptionError, match="1 things to draw, but 2 labels"):
        plot(autoinit.plan(net(), (16, 10)), labels=["a", "b"])


def test_gradients_have_panels_of_their_own() -> None:
    model = net()
    default = autoinit.check(model, (16, 10))
    plan = autoinit.initialize(model, (16, 10), gradients=True)
    measured = autoinit.measure(model, (16, 10), gradients=True)
    figure = plan.plot(compare={"default": default}, measured=measured)
    assert figure.get_suptitle().startswith("Forward and backward") and len(figure.axes) == 8
    empty, backward, ratios = figure.axes[4], figure.axes[5], figure.axes[7]
    assert [t.get_text() for t in empty.texts] == ["made without gradients=True"]
    drawn = curves(backward)
    assert drawn["predicted"] == pytest.approx([t.gradient**0.5 for t in plan.tensors])
    rows = [plan.gradients[f"{k}.weight"] for k in (0, 2, 4)]
    assert ratios.get_lines()[0].get_ydata() == pytest.approx([row.ratio for row in rows])
    seen = [(measured.gradient_seconds[row.parameter] / row.weight_second) ** 0.5 for row in rows]
    assert curves(ratios)["measured"] == pytest.approx(seen)
    low, high = ratios.get_ylim()
    assert low <= min(row.ratio for row in rows) and max(row.ratio for row in rows) <= high
