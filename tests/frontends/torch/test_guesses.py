"""Questions about values: answered from a sample, exactly where constants decide, and told."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import distributions, nn

import autoinit
from tests.frontends.torch.models import Free, state_of

X = (16, 32)


def parts() -> dict[str, Any]:
    return {
        "a": nn.Linear(32, 32), "b": nn.Linear(32, 8), "router": nn.Linear(32, 4),
        "experts": nn.ModuleDict({f"expert_{i}": nn.Linear(32, 32) for i in range(4)}),
    }  # fmt: skip


def validated_distribution(self, x):
    y = self.a(x)
    return distributions.StudentT(2 + F.softplus(y), y, F.softplus(y), validate_args=True).log_prob(x)


def no_number_missing(self, x):
    y = self.a(x)
    assert y.max().isnan().sum() == 0
    if not torch.isfinite(y).all():
        raise ValueError("not finite")
    return self.b(y)


def empty_images_dropped(self, x):
    kept = (x == 0.0).sum(-1) != x.shape[-1]
    return torch.stack(self.a(x[kept]).split([1] * 16, 0))


def split_by_counts(self, x):
    chosen = self.router(x).topk(2, -1)[1]
    counts = torch.zeros(16, 4).scatter(1, chosen, 1).long().sum(0).tolist()
    rows = x.repeat_interleave(2, 0)[chosen.flatten().sort()[1]]
    experts = self.experts.values()
    return torch.cat([expert(part) for expert, part in zip(experts, rows.split(counts, 0), strict=True)])


def experts_by_name(self, x):
    chosen, out = self.router(x).argmax(-1), torch.zeros_like(x)
    for hit in (F.one_hot(chosen, 4).sum(0) > 0).nonzero():
        rows = torch.where(chosen == hit[0])[0]
        out[rows] = self.experts[f"expert_{hit[0]}"](x[rows])
    return out


def places_as_tuples(self, x):
    place = (x[:, 0].abs() * 2).floor().long().clip(0, 3)
    seen = torch.zeros(4, 4, dtype=torch.bool)
    rows, columns = zip(*[(place[k], place[k + 1]) for k in range(3)], strict=True)
    seen[rows, columns] = True
    return self.a(x) * seen.float().mean()


def rarely_dropped_layer(self, x):
    for _ in range(20):
        if not torch.rand([]) < 0.05:
            x = self.a(x)
    return self.b(x)


FORWARDS = [
    validated_distribution, no_number_missing, empty_images_dropped, split_by_counts, experts_by_name,
    places_as_tuples, rarely_dropped_layer,
]  # fmt: skip
REACHED = {
    split_by_counts: ("router.weight", *(f"experts.expert_{i}.weight" for i in range(4))),
    experts_by_name: tuple(f"experts.expert_{i}.weight" for i in range(4)),
}


@pytest.mark.parametrize("forward", FORWARDS, ids=lambda f: f.__name__)
def test_follows_what_ordinary_data_does(forward: Any) -> None:
    """The plan is made, says that a value was guessed, reaches what it should, and leaves the model alone."""
    model = Free(forward, **parts())
    before = state_of(model)
    plan = autoinit.plan(model, X)
    after = state_of(model)
    assert before.keys() == after.keys()
    for name in ("a.weight", "router.weight"):
        assert torch.equal(before[f"tensor {name}"][1], after[f"tensor {name}"][1])
    assert any("sample" in note.message for note in plan.warnings) or forward is places_as_tuples
    reached = {p.name for p in plan.parameters if p.action == "set"}
    assert reached.issuperset(REACHED.get(forward, ("a.weight",)))


def by_selection(self, x, mask):
    return self.b(self.a(x).masked_select(mask[:, None]).view(int(mask.sum()), 32))


def by_index(self, x, mask):
    return self.b(self.a(x)[mask] + torch.zeros(int(mask.sum()), 32))


@pytest.mark.parametrize("forward", [by_selection, by_index], ids=lambda f: f.__name__)
def test_real_masks_are_counted(forward: Any) -> None:
    mask = torch.arange(16) < 11
    plan = autoinit.plan(Free(forward, a=nn.Linear(32, 32), b=nn.Linear(32, 8)), (autoinit.Input(X), mask))
    assert plan.tensors[-1].shape == [11, 8]
    assert not plan.warnings
    assert plan["b.weight"].std == pytest.approx(32**-0.5, rel=1e-6)


def test_writes_are_seen_by_later_questions() -> None:
    """A view of integers is written to; its base and another view know."""

    def forward(self, x):
        places = self.router(x).argmax(-1)
        counts = torch.zeros_like(places)
        first, again = counts[:4], counts[2:6]
        first += 3
        assert counts.tolist() == [3, 3, 3, 3, *[0] * 12]
        assert again.sum().item() == 6
        return self.a(x)

    assert autoinit.plan(Free(forward, **parts()), X)["a.weight"].action == "set"


def test_samples_leave_buffers_alone() -> None:
    """A question behind a batch norm in training: its running statistics are nobody's to change."""

    def forward(self, x):
        return self.b(x) if (self.norm(x) > 9).any() else self.a(x)

    model = Free(forward, norm=nn.BatchNorm1d(32), **parts())
    before = {name: b.clone() for name, b in model.named_buffers()}
    plan = autoinit.plan(model, X)
    assert all(torch.equal(before[name], b) for name, b in model.named_buffers())
    assert plan["a.weight"].action == "set" and plan["b.weight"].action == "unreached"


def test_python_is_left_as_it_was() -> None:
    own = dict(vars(torch.Tensor))
    autoinit.plan(Free(experts_by_name, **parts()), X)
    assert own.keys() == vars(torch.Tensor).keys()
    with pytest.raises(autoinit.AutoInitError, match="forward failed"):
        autoinit.plan(Free(lambda self, x: self.a(x)[[0, 99]].view(7, 7), **parts()), X)
    assert own.keys() == vars(torch.Tensor).keys()


def test_a_real_failure_is_reported() -> None:
    """What fails for ordinary data fails here: in the layer's name, with the model's own message."""

    def forward(self, x):
        y = self.a(x)
        assert y.isnan().any(), "needs a number that is missing"
        return y

    with pytest.raises(autoinit.AutoInitError, match="needs a number that is missing"):
        autoinit.plan(Free(forward, **parts()), X)
