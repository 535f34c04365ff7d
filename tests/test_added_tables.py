"""A table that is tied to a projection, beside tables that are added to it (row 12 of the classes of harm)."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.report.data import first_problem, layer_rows  # noqa: E402

WORDS, PLACES, WIDTH, LENGTH = 200, 32, 64, 16


class Language(nn.Module):
    """Tokens and positions, a block, and logits from the token table."""

    def __init__(self, tied: bool = True, scale: float = 1.0, kinds: bool = False) -> None:
        super().__init__()
        self.scale = scale
        self.token, self.place = nn.Embedding(WORDS, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.kind = nn.Embedding(2, WIDTH) if kinds else None
        self.norm, self.drop = nn.LayerNorm(WIDTH), nn.Dropout(0.1)
        self.block, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        if tied:
            self.head.weight = self.token.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.token(ids) * self.scale + self.place(torch.arange(ids.shape[1]))[None]
        if self.kind is not None:
            x = x + self.kind(torch.zeros_like(ids))
        x = self.drop(x)
        return self.head(self.norm(x + self.block(self.norm(x))))


IDS = autoinit.Input((8, LENGTH), vocabulary=WORDS)


@pytest.mark.parametrize("scale", [1.0, 8.0])
@pytest.mark.parametrize("kinds", [False, True])
def test_what_is_added_to_a_tied_table_has_its_size(scale: float, kinds: bool) -> None:
    model = Language(scale=scale, kinds=kinds)
    plan = autoinit.initialize(model, IDS)
    token = plan["token.weight"].std
    assert token == pytest.approx(WIDTH**-0.5, rel=0.01)  # the head reads a normalised signal
    assert plan["place.weight"].std == pytest.approx(scale * token, rel=1e-6)
    if kinds:
        assert plan["kind.weight"].std == pytest.approx(scale * token, rel=1e-6)


def test_our_own_table_is_not_called_vanishing() -> None:
    model = Language()
    autoinit.initialize(model, IDS)
    report = autoinit.check(model, IDS)
    assert first_problem(report) is None
    words = [row.verdict for row in layer_rows(report)]
    assert words[0] == "shared" and words[1] == "ok"
    with torch.no_grad():
        model.place.weight.mul_(50)  # a table that drowns the tokens is said to
    assert [row.verdict for row in layer_rows(autoinit.check(model, IDS))][1] == "exploding"


def test_tables_that_are_not_tied_are_set_for_themselves() -> None:
    plan = autoinit.plan(Language(tied=False), IDS)
    assert plan["token.weight"].std == pytest.approx(1.0) and plan["place.weight"].std == pytest.approx(1.0)
