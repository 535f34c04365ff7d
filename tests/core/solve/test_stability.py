"""The slope of the variance map, what deviations become along a network, and stable targets."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest

from autoinit.core.gaussian.expression import Expr, X, apply
from autoinit.core.gaussian.functions import gelu
from autoinit.core.gaussian.integrals import analyse
from autoinit.core.solve.stability import slope

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.errors import OptionError  # noqa: E402
from autoinit.report.data import layer_rows  # noqa: E402

VARIANCES = (0.05, 0.5, 1.0, 4.0, 30.0)
NAMES = ("gelu", "silu", "tanh", "relu", "elu", "softplus", "mish", "sin")


def quadrature(f: Any, variance: float) -> float:
    """E[f^2] by the trapezoidal rule on +-12 standard deviations, which is exact to rounding for smooth functions."""
    z = np.linspace(-12.0, 12.0, 200_001)
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    return float(np.sum(density * f(np.sqrt(variance) * z) ** 2) * (z[1] - z[0]))


@pytest.mark.parametrize("variance", VARIANCES)
def test_gelu_against_differences_of_a_quadrature(variance: float) -> None:
    h = 1e-3
    expected = log(quadrature(gelu, variance * np.exp(h)) / quadrature(gelu, variance * np.exp(-h))) / (2 * h)
    assert slope(apply("gelu", X), 0.0, variance) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variance", VARIANCES)
def test_against_differences_of_second_moments(name: str, variance: float) -> None:
    f, h = apply(name, X), 1e-3
    up, down = (analyse(f, 0.0, variance * np.exp(s)).second for s in (h, -h))
    assert slope(f, 0.0, variance) == pytest.approx(log(up / down) / (2 * h), abs=1e-5)


@pytest.mark.parametrize("name", ["gelu", "silu", "tanh"])
@pytest.mark.parametrize("variance", [0.5, 4.0])
def test_against_monte_carlo(name: str, variance: float) -> None:
    """s = E[f^2 (z^2 - 1)] / (2 E[f^2]), over 400,000 draws; five standard errors of the ratio."""
    z = np.random.default_rng(0).standard_normal(400_000)
    functions = {"gelu": gelu, "silu": lambda x: x / (1 + np.exp(-x)), "tanh": np.tanh}
    square = functions[name](np.sqrt(variance) * z) ** 2
    expected = float(np.mean(square * (z * z - 1)) / (2 * square.mean()))
    error = float(np.std(square * (z * z - 1 - 2 * expected)) / (2 * square.mean() * np.sqrt(z.size)))
    assert abs(slope(apply(name, X), 0.0, variance) - expected) < 5 * error


def test_with_a_mean_all_of_what_comes_in_is_scaled() -> None:
    """A rectifier is homogeneous: whatever comes in, twice of it gives four times the square."""
    assert slope(apply("relu", X), 0.7, 1.3) == pytest.approx(1.0, abs=1e-6)
    square: Expr = apply("square", X)
    assert slope(square, 0.7, 1.3) == pytest.approx(2.0, abs=1e-6)


def plain(act: type[nn.Module], depth: int = 20, width: int = 16) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Linear(width, width)]
    for _ in range(depth - 1):
        layers += [act(), nn.Linear(width, width)]
    return nn.Sequential(*layers, act(), nn.Linear(width, 10))


def test_slopes_of_a_plain_chain_multiply() -> None:
    plan = autoinit.plan(plain(nn.GELU), (64, 16))
    one = slope(apply("gelu", X), 0.0, 1.0)
    assert len(plan.slopes) == 20
    assert [s.slope for s in plan.slopes] == pytest.approx([one] * 20, rel=0.01)
    assert plan.slopes[-1].power == pytest.approx(one**20, rel=0.05)
    assert plan.slopes[-1].layers == 20
    assert "deviations of a draw grow to their power" in str(plan) and 'variance="stable"' in str(plan)


def test_a_deviation_grows_as_predicted() -> None:
    """Scale the first weight of a very wide chain by e^0.02 and look at the last layer; the width makes it certain."""
    torch.manual_seed(0)
    model = plain(nn.GELU, 6, 1500)
    x = torch.randn(200, 1500)
    plan = autoinit.initialize(model, (200, 1500))
    with torch.no_grad():
        before = model[:-1](x).square().mean().item()
        model[0].weight.mul_(float(np.exp(0.01)))
        after = model[:-1](x).square().mean().item()
    assert log(after / before) / 0.02 == pytest.approx(plan.slopes[-1].power, rel=0.05)


@pytest.mark.parametrize("act", [nn.ReLU, nn.Tanh])
def test_rectifiers_and_bounded_functions_are_stable_as_they_are(act: type[nn.Module]) -> None:
    plan = autoinit.plan(plain(act), (64, 16), variance="stable")
    assert plan.variance == 1.0 and {row.target for row in plan.weight_layers} == {1.0}
    assert max(s.power for s in plan.slopes) < 1.05
    assert "grow" not in str(plan)


@pytest.mark.parametrize("act", [nn.GELU, nn.SiLU])
def test_stable_targets_hold_deviations_down(act: type[nn.Module]) -> None:
    plan = autoinit.plan(plain(act), (64, 16), variance="stable")
    targets = [row.target for row in plan.weight_layers]
    assert targets[-1] == 1.0  # the head: no activation follows
    assert len(set(targets[:-1])) == 1 and targets[0] == plan.variance
    layers = 21
    name = "gelu" if act is nn.GELU else "silu"
    assert slope(apply(name, X), 0.0, plan.variance) == pytest.approx(1 + 1 / layers, abs=1e-3)
    assert plan.slopes[-1].power < np.e
    if act is nn.GELU:
        assert 3.0 < plan.variance < 5.0


def test_check_takes_all_up_to_the_stable_target_as_right() -> None:
    model = plain(nn.GELU, width=256)
    assert autoinit.initialize(model, (64, 256), recipe="train", warn=False).variance > 3.0
    ours = layer_rows(autoinit.check(model, (64, 256), recipe="train", warn=False))
    assert len(ours) == 21 and {row.verdict for row in ours} == {"ok"}
    others = layer_rows(autoinit.check(model, (64, 256), warn=False))
    assert [row.verdict for row in others] == ["high"] * 20 + ["ok"]
    autoinit.initialize(model, (64, 256), seed=1, distribution="orthogonal", warn=False)
    first = layer_rows(autoinit.check(model, (64, 256), recipe="train", warn=False))[0]
    assert first.verdict == "ok"  # 1 is right as well


def test_stable_by_name_beside_numbers() -> None:
    plan = autoinit.plan(plain(nn.GELU), (64, 16), variance={"40": 0.5, "*": "stable"})
    targets = [row.target for row in plan.weight_layers]
    assert targets[-1] == 0.5 and targets[0] == plan.variance > 3.0
    mixed = autoinit.plan(plain(nn.GELU), (64, 16), variance={"0": 2.0, "*": "stable"})
    assert mixed.weight_layers[0].target == 2.0


def test_shallow_networks_and_what_has_norms_stay_at_one() -> None:
    assert autoinit.plan(plain(nn.GELU, 3), (64, 16), variance="stable").variance == 1.0
    normed: list[nn.Module] = [m for _ in range(20) for m in (nn.Linear(16, 16), nn.LayerNorm(16), nn.GELU())]
    plan = autoinit.plan(nn.Sequential(*normed, nn.Linear(16, 4)), (64, 16), variance="stable")
    assert plan.variance == 1.0 and max(s.power for s in plan.slopes) == 0.0


class Trunk(nn.Module):
    """Twelve branches without norms along a trunk."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Linear(32, 32)
        self.blocks = nn.ModuleList(nn.Sequential(nn.GELU(), nn.Linear(32, 32)) for _ in range(12))

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return x


def test_along_a_trunk_the_branches_count_by_their_shares() -> None:
    plan = autoinit.plan(Trunk(), (64, 32))
    power = 1.0
    for one, added in zip(plan.slopes, plan.residual, strict=True):
        assert one.power == pytest.approx(power * one.slope, rel=1e-6)
        power = power * (1 - added.share) + max(power * one.slope, 1.0) * added.share
        assert added.power == pytest.approx(power, rel=0.01)
    assert power < slope(apply("gelu", X), 0.0, 1.0) ** 12 / 2


def test_what_no_target_makes_stable_is_left() -> None:
    class Square(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.square()

    plan = autoinit.plan(plain(Square, 6), (64, 16), variance="stable", warn=False)
    assert plan.variance == 1.0
    assert plan.slopes[0].slope == pytest.approx(2.0)


@pytest.mark.parametrize("given", ["stabel", {"*": "unstable"}])
def test_other_words_are_refused(given: Any) -> None:
    with pytest.raises(OptionError, match="or 'stable'"):
        autoinit.plan(plain(nn.ReLU, 2), (4, 16), variance=given)
