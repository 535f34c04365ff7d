"""The summary of a model: every parameter counted once, every layer there, what changes nothing left out."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.report.layout import WIDTH  # noqa: E402


def encoder(layers: int = 4) -> nn.Module:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    return nn.Sequential(nn.Linear(16, 32), nn.TransformerEncoder(layer, layers), nn.Linear(32, 5))


def size(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def test_every_parameter_is_counted_once() -> None:
    model = encoder()
    found = autoinit.summary(model, (2, 6, 16), warn=False)
    assert found.parameters == size(model) == sum(row.parameters for row in found.rows)
    by_name = {row.name: row for row in reversed(found.rows) if row.parameters}
    assert by_name["1.layers.0.linear1"].parameters == size(model[1].layers[0].linear1)
    assert by_name["1.layers.0.norm2"].parameters == 64
    attention = [row for row in found.rows if row.name == "1.layers.2.self_attn" and row.parameters]
    assert [row.parameters for row in attention] == [3 * 32 * 32 + 3 * 32, 32 * 32 + 32]


def test_views_are_left_out() -> None:
    ops = [row.op for row in autoinit.summary(encoder(), (2, 6, 16), warn=False).rows]
    assert {"linear", "scaled_dot_product_attention", "layer_norm", "add", "relu"} <= set(ops)
    assert not {"transpose", "view", "unsqueeze", "contiguous", "permute"} & set(ops)


def test_a_module_that_only_hands_on_has_its_row() -> None:
    found = autoinit.summary(nn.Sequential(nn.Flatten(), nn.Linear(12, 3), nn.Identity()), (4, 3, 4))
    assert [(row.name, row.shape) for row in found.rows][:2] == [("0", (4, 12)), ("1", (4, 3))]


def test_the_table() -> None:
    model = encoder(6)
    nn.init.normal_(model[2].weight, std=1e3)
    text = str(autoinit.summary(model, (2, 6, 16), warn=False))
    lines = text.splitlines()
    assert lines[0] == "Sequential, as it is now" and max(map(len, lines)) <= WIDTH
    assert "std" not in lines[2] and "verdict" in lines[2]
    assert any(line.startswith("1.layers.2 … 1.layers.5: as 1.layers.1 (") for line in lines)
    assert lines[-1] == f"{size(model):,} parameters, 1 weight layer exploding"


def test_of_a_plan() -> None:
    plan = autoinit.plan(encoder(), (2, 6, 16))
    found = autoinit.summary(plan)
    assert str(found).splitlines()[0] == "Sequential, as it is planned" and " std" in str(found).splitlines()[2]
    assert found.rows[0].std == plan.parameter("0.weight").std and found.rows[0].verdict == "ok"
    assert repr(found) == f"<Summary of Sequential: {found.parameters:,} parameters>"
    assert "<table" in found._repr_html_() and "as it is planned" in found._repr_html_()
    with pytest.raises(autoinit.AutoInitError, match="knows its inputs"):
        autoinit.summary(plan, (2, 6, 16))
    with pytest.raises(autoinit.AutoInitError, match="knows its inputs"):
        autoinit.summary(plan, seed=3)


class Shared(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(8))
        self.layer = nn.Linear(8, 8)
        self.spare = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(torch.relu(self.layer(x + self.token)))


def test_shared_layers_frozen_and_spare_parameters() -> None:
    model = Shared()
    model.token.requires_grad_(False)
    found = autoinit.summary(model, (4, 8), warn=False)
    assert [row.parameters for row in found.rows if row.name == "layer"] == [72, 0]
    assert found.parameters == 8 + 72 + 18 and found.frozen == 8
    assert str(found).splitlines()[-1].startswith("98 parameters, 8 of them frozen")


def test_nothing_is_changed() -> None:
    model = encoder()
    before = [p.clone() for p in model.parameters()]
    autoinit.summary(model, (2, 6, 16), warn=False)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
