"""Quotients that moments cannot tell are measured on samples of the real ops, from the last weights on."""

import pytest
import torch
from torch import nn

import autoinit
from autoinit.core.dependence import sampling_fallback as retrace
from autoinit.measurement import key_of


class Share(nn.Module):
    """a / (a + b) of two positive tensors: between 0 and 1, whatever their moments."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(64, 64)
        self.outer = nn.Linear(32, 64)

    def forward(self, x):
        y = nn.functional.softplus(self.inner(x)) + 1e-4
        a, b = y[:, :32], y[:, 32:]
        return self.outer(torch.log(a / (a + b)))


class Spline(nn.Module):
    """Divides by the bin widths that neighbouring knots are apart: positive by construction."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(64, 20)
        self.outer = nn.Linear(10, 64)

    def forward(self, x):
        w, h = self.inner(x).split(10, dim=-1)
        slopes = self.knots(h) / self.knots(w)
        return self.outer(slopes)

    def knots(self, logits):
        edges = nn.functional.pad(torch.cumsum(torch.softmax(2 * logits, -1) + 1e-3, -1), (1, 0))
        edges = 10 * edges - 5
        return edges[..., 1:] - edges[..., :-1]


class Decays(nn.Module):
    """exp of differences of running sums, of which only those that are negative count: the lower triangle."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(64, 32)
        self.outer = nn.Linear(32, 64)

    def forward(self, x):
        sums = torch.cumsum(-nn.functional.softplus(self.inner(x)), -1)
        table = (sums[..., :, None] - sums[..., None, :]).tril().exp().tril()
        return self.outer(table.sum(-1))


@pytest.mark.parametrize("model", [Share, Spline, Decays])
def test_quotients_meet_what_is_measured(model):
    net = model()
    plan = autoinit.plan(net, (512, 64))
    ratios = []
    for seed in range(8):
        plan.apply(net, seed=seed)
        measured = autoinit.measure(net, (512, 64), seed=seed)
        ratios.append([row.variance for row in measured.rows if row.predicted.weight == "outer.weight"])
    median = float(torch.tensor(ratios).median())
    assert 0.8 < median < 1.25, median


def test_the_plan_says_what_was_simulated_and_why():
    plan = autoinit.plan(Share(), (64, 64))
    notes = [n for n in plan.notes if n.kind == "simulated"]
    assert notes and notes[0].place == "(root): aten.div" and "divisor" in notes[0].message
    assert {t.status for t in plan.tensors if t.op == "aten.div"} == {"simulated"}
    assert {t.status for t in plan.tensors if t.weight} == {"rule"}  # weights end it


class Chosen(nn.Module):
    """max(a, b), written with a condition that depends on both."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.outer = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x):
        a, b = self.a(x), self.b(x)
        return self.outer(torch.where(a > b, a, b))


def test_a_condition_on_what_it_chooses():
    """E[max(a, b)] = 1/sqrt(pi) for two independent standard normals."""
    plan = autoinit.plan(Chosen(), (512, 64))
    chosen = next(t for t in plan.tensors if t.op == "aten.where")
    assert chosen.status == "simulated"
    assert chosen.mean == pytest.approx(torch.pi**-0.5, rel=0.05)
    assert chosen.second == pytest.approx(1.0, rel=0.05)


class PartOfQuotient(nn.Module):
    """A part is cut out of a quotient of something that was put together."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(64, 32), nn.Linear(32, 64)

    def forward(self, x):
        h = nn.functional.softplus(self.inner(x))
        both = torch.cat([h, torch.ones(h.shape)], 1)
        share = both / (both + 2 * torch.nn.functional.pad(h, (32, 0)) + h.repeat(1, 2))
        return self.outer(share[:, :32])


def test_a_part_of_a_quotient():
    """h/(h + h) = 1/2 exactly."""
    plan = autoinit.plan(PartOfQuotient(), (64, 64))
    part = next(t for t in reversed(plan.tensors) if t.op == "aten.slice")
    assert (part.mean, part.variance) == (pytest.approx(0.5, abs=1e-3), pytest.approx(0.0, abs=1e-3))


def test_a_plan_is_the_same_every_time():
    net = Spline()
    first, second = (autoinit.plan(net, (64, 64)) for _ in range(2))
    assert [t.variance for t in first.tensors] == [t.variance for t in second.tensors]


def test_beyond_the_budget_the_rules_go_on(monkeypatch):
    monkeypatch.setattr(retrace, "BUDGET", 10)
    plan = autoinit.plan(Share(), (64, 64))
    assert not [n for n in plan.notes if n.kind == "simulated"]
    assert all(t.variance == t.variance for t in plan.tensors)


def test_without_memory_nothing_is_sampled():
    """Parameters on the meta device have no values; data between weights needs none."""
    with torch.device("meta"):
        net = Share()
    plan = autoinit.plan(net, (64, 64))
    assert any(n.kind == "simulated" for n in plan.notes)


def test_a_safe_quotient_needs_no_samples():
    class Safe(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x):
            return self.a(x) / (2 + torch.tanh(self.b(x)))

    plan = autoinit.plan(Safe(), (16, 8))
    assert not [n for n in plan.notes if n.kind == "simulated"]
    assert key_of(plan.tensors[-1])
