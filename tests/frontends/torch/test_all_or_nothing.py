"""Applying a plan is all or nothing: after an interrupt, too little memory or any error the model is what it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.core.drawing import stretches  # noqa: E402
from autoinit.core.drawing.orthogonal import Orthogonal  # noqa: E402
from autoinit.errors import OptionError, PlanError  # noqa: E402
from tests.interrupting import everywhere  # noqa: E402

ROOT = Path(__file__).parents[3]
CHECKS = ("plan/fields.py", "plan/check.py", "enum.py", "typing.py", "dataclasses.py")
"""Lines of these run before the first write, or are a handful of others' over and over."""


def net() -> nn.Sequential:
    torch.manual_seed(0)
    layers = [nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4, bias=False), nn.BatchNorm1d(4), nn.GELU(), nn.Linear(4, 4)]
    return nn.Sequential(*layers)


def state(model: nn.Module) -> list:
    """Classes, names of buffers, and every bit of every tensor."""
    modules = model.named_modules()
    found: list = [(n, type(m), sorted(m._buffers), sorted(m._non_persistent_buffers_set)) for n, m in modules]
    for name, t in [*model.named_parameters(), *model.named_buffers()]:
        t = t.detach()
        values = torch.view_as_real(t) if t.is_complex() else t.float() if t.dtype.itemsize < 4 else t
        found.append((name, t.dtype, tuple(t.stride()), t.storage_offset(), values.contiguous().numpy().tobytes()))
    return found


def places(model: nn.Module) -> list:
    """Objects and memory, which stay the same ones even if everything is written."""
    return [(id(p), p.data_ptr(), p.grad) for p in model.parameters()]


EVERY_LINE = pytest.param(1, marks=pytest.mark.thorough)


@pytest.mark.slow
@pytest.mark.parametrize("step", [7, EVERY_LINE])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(
    "options", [{"center": "activation"}, {"center": "bias", "exact": True}, {"distribution": "orthogonal"}]
)
def test_row_7_an_exception_at_any_line(options: dict, error: type[BaseException], step: int) -> None:
    plan = autoinit.plan(net(), (8, 6), **options)
    before, complete = state(net()), state(plan.apply(net()))
    handler, seen = signal.getsignal(signal.SIGINT), {"before": 0, "complete": 0}

    def prepare():
        model = net()
        where = places(model)

        def check() -> None:
            assert torch.is_grad_enabled()
            now = state(model)
            assert now in (before, complete)
            seen["before" if now == before else "complete"] += 1
            assert places(model) == where
            signal.signal(signal.SIGINT, handler)

        return lambda: plan.apply(model), check

    lines = everywhere(prepare, lambda file: not file.endswith(CHECKS), error, step)
    assert lines > 300 and seen["before"] > 50 // step and seen["complete"] >= 1


FAILING = ["normal", "uniform", "truncated_normal", "orthogonal", "copy_"]


@pytest.mark.parametrize("what", FAILING)
def test_row_7_a_call_that_fails(what: str, monkeypatch) -> None:
    """At its first, second, third call: copy_ (of rounded values) also fails once while things are put back."""
    copying = what == "copy_"
    build = (lambda: net().bfloat16()) if copying else net
    options = {} if copying else {"distribution": what}
    plan = autoinit.plan(build(), (8, 6), center="activation", **options)
    place = {"copy_": (torch.Tensor, "copy_"), "orthogonal": (Orthogonal, "into")}.get(what, (stretches, "unit"))
    real, before = getattr(*place), state(build())
    for bad in range(1, 4):
        calls = 0

        def fails(*args, bad=bad, **kwargs):
            nonlocal calls
            calls += 1
            if calls == bad:
                raise RuntimeError("out of memory")
            return real(*args, **kwargs)

        model = build()
        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="out of memory"):
            patch.setattr(*place, fails)
            plan.apply(model)
        assert state(model) == before


def test_row_7_a_class_that_cannot_be_centred() -> None:
    class Stubborn(nn.ReLU):
        def __init_subclass__(cls) -> None:
            raise TypeError("final")

    def model():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(6, 8), Stubborn(), nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 4))

    stubborn = model()
    plan = autoinit.plan(stubborn, (8, 6), center="activation")
    with pytest.raises(TypeError, match="final"):
        plan.apply(stubborn)
    assert state(stubborn) == state(model())


def test_row_7_hooks_on_buffers_that_fail() -> None:
    def refuse(module, name, buffer):
        if name == "center_shift" and isinstance(module, nn.GELU):
            raise RuntimeError("no buffers here")

    model = net()
    plan, before = autoinit.plan(model, (8, 6), center="activation"), state(model)
    handle = torch.nn.modules.module.register_module_buffer_registration_hook(refuse)
    try:
        with pytest.raises(RuntimeError, match="no buffers"):
            plan.apply(model)
    finally:
        handle.remove()
    assert state(model) == before
    assert type(model[1]) is nn.ReLU
    plan.apply(model)
    assert type(model[1]) is not nn.ReLU and type(model[4]) is not nn.GELU


def test_centring_again_is_undone_as_well(monkeypatch) -> None:
    model = net()
    autoinit.initialize(model, (8, 6), center="activation")
    plan, before = autoinit.plan(model, (8, 6), center="activation", seed=3), state(model)
    for center in plan.centers:
        center.shift += 1.0
    count = len(plan.centers)
    real = torch.Tensor.fill_

    def fails(tensor, value):
        if tensor.dim() == 0 and value == pytest.approx(plan.centers[count - 1].shift):
            raise MemoryError
        return real(tensor, value)

    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(torch.Tensor, "fill_", fails)
        plan.apply(model)
    assert state(model) == before


def test_what_cannot_be_put_back_is_said(monkeypatch) -> None:
    plan, model = autoinit.plan(net(), (8, 6)), net()

    def fails(*args, **kwargs):
        raise RuntimeError("the device is gone")

    with monkeypatch.context() as patch, pytest.raises(PlanError, match="could not be put back") as caught:
        patch.setattr(torch.Tensor, "copy_", fails)
        patch.setattr(stretches, "unit", fails)
        plan.apply(model)
    assert isinstance(caught.value.__cause__, RuntimeError) and caught.value.where == "0.weight"


# --- real signals, real limits --------------------------------------------------------------------------------------

CHILD = """
import copy, hashlib, os, resource, signal, sys, threading, time
import torch, autoinit
from torch import nn
torch.set_num_threads(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us without

def net():
    torch.manual_seed(0)
    return nn.Sequential(*(nn.Linear(256, 256) for _ in range(60)))

def digest(model):
    made = hashlib.sha256()
    for p in model.parameters():
        made.update(p.detach().numpy().tobytes())
    return made.hexdigest()

blank = net()
model = copy.deepcopy(blank)
plan = autoinit.plan(model, (4, 256))
before = digest(model)
begin = time.perf_counter(); plan.apply(model); took = time.perf_counter() - begin
complete = digest(model)
torn, outcomes = 0, []
def judge(model, thrown):
    now = digest(model)
    outcomes.append("before" if now == before else "complete" if now == complete else "torn")
"""

INTERRUPTED = (
    CHILD
    + """
for k in range(40):
    model = copy.deepcopy(blank)
    timer = threading.Timer(took * k / 40, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        plan.apply(model)
        timer.join(); time.sleep(0.05)
        outcomes.append("late")
    except KeyboardInterrupt:
        judge(model, True)
    timer.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print(" ".join(outcomes))
"""
)

LIMITED = (
    CHILD
    + """
def size():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
models = [copy.deepcopy(blank) for _ in range(12)]
for k, model in enumerate(models):
    resource.setrlimit(resource.RLIMIT_AS, (size() + k * 2**21, resource.RLIM_INFINITY))
    try:
        plan.apply(model)
        thrown = False
    except (MemoryError, RuntimeError):
        thrown = True
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    judge(model, thrown)
print(" ".join(outcomes))
"""
)


def outcomes_of(code: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_row_7_sigint() -> None:
    """Ctrl-C at forty moments of writing 60 layers."""
    outcomes = outcomes_of(INTERRUPTED)
    assert len(outcomes) == 40 and "torn" not in outcomes
    assert outcomes.count("before") >= 5


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_AS and /proc")
def test_row_7_no_memory() -> None:
    """16 MB of weights with 0 to 22 MB of memory left."""
    outcomes = outcomes_of(LIMITED)
    assert len(outcomes) == 12 and "torn" not in outcomes
    assert "before" in outcomes


def test_sigint_waits_for_a_handler_of_the_user() -> None:
    """One that raises nothing is called, and does not stop the writing."""
    called, model = [], net()
    plan = autoinit.plan(model, (8, 6))
    complete = state(plan.apply(net()))
    real, before = stretches.unit, signal.getsignal(signal.SIGINT)

    def interrupted(words, kind):
        signal.raise_signal(signal.SIGINT)
        assert not called  # not while a parameter is half written
        stretches.unit = real
        return real(words, kind)

    def handler(number, frame):
        called.append(number)

    signal.signal(signal.SIGINT, handler)
    try:
        stretches.unit = interrupted
        plan.apply(model)
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        stretches.unit = real
        signal.signal(signal.SIGINT, before)
    assert called == [signal.SIGINT] and state(model) == complete


def test_ignored_interrupts_stay_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        autoinit.initialize(net(), (8, 6))
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_that_was_left_behind_lets_interrupts_through() -> None:
    """Should an exception have come between the last write and the end of the transaction."""
    from autoinit.frontends.transaction import Interrupts

    def left() -> None:
        Interrupts().hold(sys._getframe())

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        left()
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        autoinit.initialize(net(), (8, 6))
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread() -> None:
    model, plan = net(), autoinit.plan(net(), (8, 6), center="activation")
    thread = threading.Thread(target=plan.apply, args=(model,))
    thread.start()
    thread.join()
    assert state(model) == state(plan.apply(net()))


@pytest.mark.parametrize("seed", ["0", 1.0, True, [3], float("nan")])
def test_a_seed_is_an_integer(seed) -> None:
    model = net()
    before = state(model)
    with pytest.raises(OptionError, match="seed"):
        autoinit.plan(model, (8, 6)).apply(model, seed=seed)
    assert state(model) == before
