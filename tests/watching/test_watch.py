"""The watch in plain PyTorch loops."""

from __future__ import annotations

import copy
import io
import json
import warnings

import pytest

pytest.importorskip("torch")
import torch
from torch import nn

import autoinit
from autoinit.errors import PlanError

from .loops import Net, digits, train


def fresh(seed: int = 0) -> tuple[nn.Module, autoinit.Plan]:
    torch.manual_seed(seed)
    model = Net()
    return model, autoinit.initialize(model, digits()[0][:64])


def test_every_weight_layer_at_the_chosen_steps():
    model, plan = fresh()
    with autoinit.watch(model, plan, steps=(0, 1, 5)) as watch:
        train(model, 8)
    assert watch.steps == [0, 1, 5]
    assert [r.layer for r in watch.record if r.step == 0] == ["first", "(model)", "last"]
    start = [r for r in watch.record if r.step == 0]
    assert all(0.6 < r.ratio < 1.6 and r.nonfinite == 0 for r in start)
    assert [r.predicted for r in start] == plan.weight_layers


def test_values_are_those_of_the_training_step():
    """Of its own batch, dropout mask and modes: compared with a hook on the real forward."""
    model, plan = fresh()
    model.norm.eval()  # one module in another mode than the rest
    real = []
    watch = autoinit.watch(model, plan, steps=(0, 3))
    hook = model.last.register_forward_hook(
        lambda m, a, out: real.append((out.mean().item(), out.var(correction=0).item()))
    )
    train(model, 4)
    hook.remove()
    seen = {r.step: r for r in watch.record if r.layer == "last"}
    assert len(real) == 4  # the steps; what hooks of the user's keep, a look leaves alone
    for row, (mean, variance) in ((seen[0], real[0]), (seen[3], real[3])):
        assert row.mean == pytest.approx(mean, abs=1e-6) and row.variance == pytest.approx(variance, rel=1e-5)


def test_training_goes_as_it_would_without():
    losses, states = [], []
    for watched in (False, True):
        model, plan = fresh()
        watch = autoinit.watch(model, plan, every=2) if watched else None
        losses.append(train(model, 6))
        states.append({k: v.clone() for k, v in model.state_dict().items()})
        if watch is not None:
            watch.close()
    assert losses[0] == losses[1]
    assert all(torch.equal(states[0][k], states[1][k]) for k in states[0])


def test_the_model_is_left_as_it_was():
    model, plan = fresh()
    before = [dict(vars(m)) for m in model.modules()]
    watch = autoinit.watch(model, plan, every=1)
    assert len(model._forward_pre_hooks) == 1
    train(model, 2)
    watch.close()
    assert watch.closed and not model._forward_pre_hooks and not model._forward_pre_hooks_with_kwargs
    assert [set(vars(m)) for m in model.modules()] == [set(b) for b in before]


def test_it_removes_itself_after_the_last_step():
    model, plan = fresh()
    watch = autoinit.watch(model, plan, first=2)
    train(model, 2)
    assert watch.closed and not model._forward_pre_hooks


def test_evaluation_is_no_step():
    model, plan = fresh()
    watch = autoinit.watch(model, plan, every=1)
    x = digits()[0]
    model.eval()
    model(x)
    model.train()
    with torch.no_grad():
        model(x)
    autoinit.measure(model, x)
    autoinit.check(model, x)
    assert watch.record == []
    train(model, 1)
    assert watch.steps == [0]


def test_without_a_plan_the_weights_are_checked_on_the_first_batch():
    torch.manual_seed(0)
    model = Net()
    watch = autoinit.watch(model, steps=(0, 2))
    with pytest.raises(autoinit.AutoInitError, match="no prediction"):
        watch.plan  # noqa: B018
    train(model, 3)
    assert watch.plan.checked and watch.steps == [0, 2]
    assert all(0.5 < r.ratio < 2.0 for r in watch.record if r.step == 0)


def test_several_forwards_per_step():
    model, plan = fresh()
    watch = autoinit.watch(model, plan, first=3)
    x = digits()[0][:64]
    for step in range(3):
        watch.begin_step(step)
        for _ in range(4):
            model(x).sum().backward()
    assert watch.steps == [0, 1, 2] and len(watch.record) == 9


def test_look_at_any_moment():
    model, plan = fresh()
    watch = autoinit.watch(model, plan, steps=(0,))
    seen = watch.look(digits()[0][:64], step=7)
    assert [r.step for r in seen] == [7, 7, 7] and watch.record == seen


def test_autocast():
    model, plan = fresh()
    watch = autoinit.watch(model, plan, steps=(0,))
    other = autoinit.watch(model, steps=(0,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        train(model, 1)
    for one in (watch, other):
        assert len(one.record) == 3 and all(0.6 < r.ratio < 1.6 for r in one.record)


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointed_activations(reentrant):
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(Net):
        def forward(self, x):
            x = self.drop(torch.relu(self.first(x)))
            return checkpoint(lambda a: self.last(torch.relu(a @ self.weight.T)), x, use_reentrant=reentrant)

    torch.manual_seed(0)
    model = Checkpointed()
    plan = autoinit.initialize(model, digits()[0][:64])
    watch = autoinit.watch(model, plan, steps=(0, 1))
    train(model, 3)
    assert watch.steps == [0, 1] and len(watch.record) == 2 * len(plan.weight_layers) == 6
    assert all(0.6 < r.ratio < 1.6 for r in watch.record if r.step == 0)


@pytest.mark.slow
@pytest.mark.parametrize("in_place", [False, True])
def test_compiled_models_stay_compiled(in_place):
    from torch._dynamo.testing import CompileCounter

    torch.compiler.reset()
    model, plan = fresh()
    counter = CompileCounter()
    if in_place:
        model.compile(backend=counter, fullgraph=True)
        called = model
        compiled = model._compiled_call_impl
    else:
        called = torch.compile(model, backend=counter, fullgraph=True)
    with autoinit.watch(called, plan, steps=(0, 2, 3)) as watch:
        train(called, 5)
    assert watch.steps == [0, 2, 3] and len(watch.record) == 9
    assert counter.frame_count == 1
    if in_place:
        assert model._compiled_call_impl is compiled


@pytest.mark.skipif(not torch.distributed.is_available(), reason="needs torch.distributed")
@pytest.mark.parametrize("outer", [False, True])
def test_distributed_training(outer, tmp_path):
    """The wrapper and what it wraps can both be watched."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        model, plan = fresh()
        wrapped = nn.parallel.DistributedDataParallel(model)
        with autoinit.watch(wrapped if outer else model, plan, steps=(0, 2)) as watch:
            train(wrapped, 3)
    finally:
        torch.distributed.destroy_process_group()
    assert watch.steps == [0, 2] and len(watch.record) == 6


def test_copies_and_saved_models_carry_no_watch():
    model, plan = fresh()
    watch = autoinit.watch(model, plan, every=1)
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    for other in (copy.deepcopy(model), torch.load(file, weights_only=False)):
        train(other, 1)
    assert watch.record == []


def test_entries_that_are_not_finite_are_counted():
    model, plan = fresh()
    watch = autoinit.watch(model, plan, steps=(0,))
    with torch.no_grad():
        model.first.weight[0] = float("inf")
    train(model, 1)
    assert watch.record[0].nonfinite > 0
    assert json.loads(watch.to_json())["record"][0]["variance"] is None
    assert watch.plot() is not None and "not finite" in str(watch)


def test_a_plan_of_another_model_is_refused():
    _, plan = fresh()
    with pytest.raises(PlanError, match="another model"):
        autoinit.watch(nn.Linear(3, 4), plan)


def test_a_failure_to_look_does_not_stop_training():
    class Fickle(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(64, 10)

        def forward(self, x):
            if calls.pop(0):
                raise ValueError("not now")
            return self.layer(x)

    calls = [False]
    model = Fickle()
    plan = autoinit.initialize(model, (64, 64))
    calls = [True, False, False]
    watch = autoinit.watch(model, plan)
    with pytest.warns(UserWarning, match="stopped at step 0.*not now"):
        assert len(train(model, 2)) == 2
    assert watch.closed


def test_a_watch_that_hears_nothing_says_so():
    model, plan = fresh()
    with pytest.warns(UserWarning, match="saw no forward"), autoinit.watch(model, plan):
        model.eval()(digits()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ZeroDivisionError), autoinit.watch(model, plan):
            1 / 0  # noqa: B018


def test_several_layers_in_one_module_have_names_of_their_own():
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(32, 4, batch_first=True)

        def forward(self, x):
            return self.attention(x, x, x, need_weights=False)[0]

    model = Block()
    plan = autoinit.initialize(model, (16, 12, 32))
    watch = autoinit.watch(model, plan, steps=(0,))
    model(torch.randn(16, 12, 32))
    names = [r.layer for r in watch.record]
    assert len(names) == len(set(names)) == len(plan.weight_layers) >= 2


# --- what comes out -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def watched():
    model, plan = fresh()
    with autoinit.watch(model, plan, first=12) as watch:
        train(model, 12)
    return watch


def test_the_table(watched):
    lines = str(watched).splitlines()
    assert lines[0].startswith("Net: variance") and "predicted" in lines[2] and "step 0" in lines[2]
    assert lines[2].count("step") == 8 and "step 11" in lines[2]  # thinned out
    assert len(lines) == 4 + 3 and lines[-1].startswith("last")


def test_json(watched, tmp_path):
    watched.to_json(tmp_path / "watch.json")
    data = json.loads((tmp_path / "watch.json").read_text("utf-8"))
    assert [row["layer"] for row in data["layers"]] == ["first", "(model)", "last"]
    assert data["layers"][0]["predicted"]["variance"] == pytest.approx(1.0, rel=0.05)
    assert len(data["record"]) == 36 and data["record"][0]["step"] == 0
    assert data["record"][5]["variance"] == pytest.approx(watched.record[5].variance)


def test_the_figure_shows_what_was_seen(watched, tmp_path):
    pytest.importorskip("matplotlib")
    figure = watched.plot(tmp_path / "watch.png", title="Twelve steps")
    assert (tmp_path / "watch.png").stat().st_size > 5000
    above, below = figure.axes[:2]
    points = [line for line in above.lines if line.get_marker() == "o"]
    assert len(points) == 12 and len([line for line in below.lines if line.get_marker() == "o"]) == 12
    first = [r.variance for r in watched.record if r.step == 0]
    assert list(points[0].get_ydata()) == pytest.approx(first)
    assert above.get_yscale() == "log" and len(above.collections) == 1  # the band
    assert len(figure.axes) == 3  # the bar of colours, as there are many steps


def test_few_steps_are_named_in_the_legend():
    pytest.importorskip("matplotlib")
    model, plan = fresh()
    watch = autoinit.watch(model, plan, steps=(0, 2))
    train(model, 3)
    figure = watch.plot()
    assert len(figure.axes) == 2
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"predicted", "step 0", "step 2"} <= set(words)
