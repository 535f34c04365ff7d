"""What residual trunks make of targets: shares of branches, zeros, recipes, variances by name."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import autoinit
from autoinit.core.options import with_layers
from autoinit.errors import OptionError
from autoinit.report.data import layer_rows
from tests.core.graph.trunks import SHAPE, Net, linear, norm, prenorm, targets


def test_the_last_weight_of_a_branch_gets_its_share() -> None:
    found = targets(prenorm(6), residual="depth")
    assert {k: v for k, v in found.items() if ".3.weight" in k} == {
        f"blocks.{k}.3.weight": pytest.approx(1 / 6) for k in range(6)
    }
    assert {v for k, v in found.items() if ".1.weight" in k} == {1.0}
    assert set(targets(prenorm(6)).values()) == {1.0}


def test_the_plan_says_where_the_trunk_is() -> None:
    plan = autoinit.plan(prenorm(6), (64, 5, 8), residual="depth", warn=False)
    rows = plan.residual
    assert [(row.n, row.trunk, row.skip, row.norm) for row in rows] == [(6, 0, "identity", "inside")] * 6
    assert [row.ends for row in rows] == [[f"blocks.{k}.3.weight"] for k in range(6)]
    assert [row.share for row in rows] == pytest.approx([(1 / 6) / (1 + (k + 1) / 6) for k in range(6)], rel=1e-6)
    assert all(plan.tensors[row.tensor].op.endswith("add") for row in rows)
    assert autoinit.Plan.from_dict(plan.to_dict()).residual == rows


def test_without_norm_the_share_is_spread() -> None:
    def forward(net: Net, x: Tensor) -> Tensor:
        x = net.stem(x)
        for block in net.blocks:  # type: ignore[union-attr]
            x = x + block(x)
        return x

    blocks = nn.ModuleList(nn.Sequential(nn.ReLU(), linear(), nn.ReLU(), linear()) for _ in range(4))
    found = targets(Net(forward, stem=linear(), blocks=blocks), residual="depth")
    for k in range(4):
        assert found[f"blocks.{k}.1.weight"] == pytest.approx(4**-0.5)
        assert found[f"blocks.{k}.3.weight"] == pytest.approx(1 / 4)


def test_what_the_branch_is_multiplied_with_counts() -> None:
    def forward(net: Net, x: Tensor) -> Tensor:
        for k, block in enumerate(net.blocks):  # type: ignore[arg-type]
            x = x + (0.5 if k % 2 else 0.1) * block(x)
        return x

    blocks = nn.ModuleList(nn.Sequential(norm(), linear()) for _ in range(8))
    found = targets(Net(forward, blocks=blocks), residual="depth")
    assert found["blocks.1.1.weight"] == pytest.approx(1 / (8 * 0.25))
    assert found["blocks.0.1.weight"] == 1.0  # 0.1² is less than 1/8 already


def test_zero_ends() -> None:
    model = prenorm(3)
    plan = autoinit.initialize(model, SHAPE, residual="zero", warn=False)
    x = torch.randn(SHAPE)
    torch.testing.assert_close(model(x), x)
    assert plan["blocks.1.3.weight"].action == "zero" and plan["blocks.1.1.weight"].action == "set"
    normed = Net(lambda n, x: x + n.n(n.a(x)), a=linear(), n=norm())
    autoinit.initialize(normed, SHAPE, residual="zero", warn=False)
    torch.testing.assert_close(normed(x), x)
    assert float(normed.a.weight.detach().std()) > 0  # type: ignore[union-attr, operator]


def test_check_does_not_call_our_own_plan_vanishing() -> None:
    model = prenorm(24)
    autoinit.initialize(model, SHAPE, recipe="train", warn=False)
    report = autoinit.check(model, SHAPE, warn=False)
    rows = layer_rows(report)
    assert len(rows) == 48 and {row.verdict for row in rows} == {"ok"}


def test_a_recipe_is_a_set_of_options() -> None:
    trained, own = autoinit.plan(prenorm(2), SHAPE, recipe="train"), autoinit.plan(
        prenorm(2), SHAPE, residual="depth", tables="matched", distribution="orthogonal"
    )
    assert trained.parameters == own.parameters
    assert trained.distribution == "orthogonal"
    beside = autoinit.plan(prenorm(2), SHAPE, recipe="train", distribution="normal", residual=None)
    assert beside.distribution == "normal"
    assert {row.target for row in beside.tensors if row.weight} == {1.0}


def test_variance_by_name() -> None:
    found = targets(prenorm(2), variance={"blocks.0.*": 0.5, "blocks.1.3": 0.25, "*": 2.0})
    names = [f"blocks.{block}.{layer}.weight" for block in (0, 1) for layer in (1, 3)]
    assert found == dict(zip(names, (0.5, 0.5, 2.0, 0.25), strict=True))


@pytest.mark.parametrize("name", ["head.kernel", "head/kernel", "head.dense.kernel", "head/dense/kernel"])
def test_a_layer_is_all_but_the_last_part_of_a_name(name: str) -> None:
    """Parts of names are separated by dots, in Keras by slashes."""
    assert with_layers([name, "w"]) == [name, "w", name[: -len("kernel") - 1], ""]


def test_variance_by_name_is_checked() -> None:
    with pytest.raises(OptionError, match="variance"):
        autoinit.plan(prenorm(1), SHAPE, variance={"a": -1.0})
    with pytest.raises(OptionError, match="variance"):
        autoinit.plan(prenorm(1), SHAPE, variance={})
