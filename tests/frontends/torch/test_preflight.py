"""Preflight: what parameters and buffers hold, without running the model."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import nn
from typer.testing import CliRunner

import autoinit
from autoinit.cli.app import app
from autoinit.frontends.torch.remembering.built import was_built


def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))


def kinds(model: nn.Module) -> set[tuple[str, str]]:
    return {(p.name, p.kind) for p in autoinit.check(model).problems}


def test_a_model_that_is_fine() -> None:
    report = autoinit.check(net())
    assert report.ok and report.problems == [] and "as far as one can see" in str(report)
    assert repr(report) == "<Preflight of Sequential: 9 tensors, 0 with problems>"


SPOILT = {
    "nan": lambda m: m[0].weight.data[0].fill_(float("nan")),
    "infinite": lambda m: m[0].weight.data[0].fill_(float("-inf")),
    "huge": lambda m: m[0].weight.data[0].fill_(-8.8e27),
    "denormal": lambda m: m[0].weight.data[0].fill_(1e-41),
    "meta": lambda m: m[0].__setattr__("weight", nn.Parameter(torch.empty(8, 8, device="meta"))),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_what_is_wrong(kind: str) -> None:
    model = net()
    SPOILT[kind](model)
    assert kinds(model) == {("0.weight", kind)}
    report = autoinit.check(model)
    assert not report.ok and str(report.problems[0]).startswith("0.weight ")
    assert str(report.problems[0]) in str(report)


def test_masks_may_hold_infinities() -> None:
    model = net()
    model.register_buffer("mask", torch.full((3, 3), float("-inf")))
    model.register_buffer("lowest", torch.full((3, 3), torch.finfo(torch.float32).min))
    assert autoinit.check(model).ok


def test_what_nobody_wrote_since_to_empty() -> None:
    with autoinit.meta():
        model = net()
    plan = autoinit.plan(model, (4, 8))
    assert {kind for _, kind in kinds(model)} == {"meta"}
    model.to_empty(device="cpu")
    unwritten = {name for name, kind in kinds(model) if kind == "unwritten"}
    assert unwritten == {name for name, _ in (*model.named_parameters(), *model.named_buffers())}
    with torch.no_grad():
        model[2].weight.zero_()
    assert ("2.weight", "unwritten") not in kinds(model)
    plan.apply(model)
    assert autoinit.check(model).ok


def test_what_a_plan_wrote_stays_written_when_the_model_moves() -> None:
    """`.cuda()`, `.to(...)`: new tensors, which look as if nobody had written to them."""
    with autoinit.meta():
        model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    plan = autoinit.plan(model, (4, 4), warn=False)
    model.to_empty(device="cpu")
    plan.apply(model, warn=False)
    for module in model:
        for name, p in module._parameters.items():
            module._parameters[name] = nn.Parameter(torch.from_numpy(p.detach().numpy().copy()))
            assert module._parameters[name]._version == 0
    assert autoinit.check(model).ok


def test_models_built_in_threads_know_their_own_story() -> None:
    """The hooks of PyTorch that see modules being built are global, what they collect is not."""
    made: dict[int, nn.Module] = {}

    def build(k: int) -> None:
        for _ in range(20):
            with autoinit.meta():
                made[k] = nn.Sequential(*(nn.Linear(4, 4) for _ in range(k + 1)))
        autoinit.plan(made[k], (2, 4), warn=False)

    threads = [threading.Thread(target=build, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    outside = nn.Linear(3, 3)  # built meanwhile, with memory
    for thread in threads:
        thread.join()
    assert not was_built(outside)
    assert all(was_built(module) for model in made.values() for module in model)


def test_dtypes_and_layouts() -> None:
    model = nn.Module()
    for dtype in (torch.float64, torch.bfloat16, torch.float16, torch.complex64):
        model.register_parameter(f"w_{dtype}".replace("torch.", ""), nn.Parameter(torch.randn(3, 5).to(dtype).T))
    model.register_buffer("integers", torch.arange(4))
    model.register_buffer("nothing", torch.empty(0))
    model.register_buffer("sparse", torch.eye(3).to_sparse())
    assert autoinit.check(model).ok
    model.w_complex64.data[0, 0] = complex(0, float("nan"))
    assert kinds(model) == {("w_complex64", "nan")}


def test_looking_changes_nothing() -> None:
    model = net()
    before = [(id(t), t._version, t.clone()) for t in (*model.parameters(), *model.buffers())]
    state = torch.get_rng_state()
    autoinit.check(model)
    now = [(id(t), t._version, t) for t in (*model.parameters(), *model.buffers())]
    assert all(a[:2] == b[:2] and torch.equal(a[2], b[2]) for a, b in zip(before, now, strict=True))
    assert torch.equal(torch.get_rng_state(), state)


def test_many_problems_are_counted() -> None:
    model = nn.ModuleList(nn.Linear(2, 2) for _ in range(20))
    for p in model.parameters():
        p.data.fill_(float("nan"))
    assert "... and 32 more that holds NaN" in str(autoinit.check(model))


MODEL = """
import torch
from torch import nn

def good():
    return nn.Sequential(nn.Linear(4, 4))

def bad():
    model = good()
    model[0].weight.data[0, 0] = float("nan")
    return model
"""


def test_command_line(tmp_path) -> None:
    (tmp_path / "nets.py").write_text(MODEL)
    result = CliRunner().invoke(app, ["check", "--preflight", f"{tmp_path}/nets.py:good"])
    assert result.exit_code == 0 and "Preflight of Sequential" in result.output
    result = CliRunner().invoke(app, ["check", "--preflight", f"{tmp_path}/nets.py:bad"])
    assert result.exit_code == 1 and "0.weight holds NaN (1 of 16)" in result.output
