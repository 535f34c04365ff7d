"""Whatever forward does: in-place writes, views, control flow, containers, transforms, nested machinery.

Each case is planned, drawn and really run; measured variances have to be the planned ones.
"""

from __future__ import annotations

import sys
import time
import warnings

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402
from tests.wrapped_functions import Between  # noqa: E402

from .models import Free, assert_as_planned  # noqa: E402

X = (64, 64)


def write_slices(x):
    y = torch.zeros(x.shape[0], 128)
    y[:, :64] = x
    y[:, 64:] = 3 * x
    y += 1
    return y


def view_written_later(x):
    left, view = x[:, :32], x.view(-1, 2, 32)
    left.mul_(3)
    return view.reshape(-1, 64)


def zero_where_negative(x):
    x = x.clone()
    x[x < 0] = 0.0
    return x


BODIES = {
    "in place": (lambda x: x.mul_(2).add_(1).relu_(), 64),
    "slices of a new tensor": (write_slices, 128),
    "a view whose base is written later": (view_written_later, 64),
    "chunk": (lambda x: torch.cat([(k + 1) * part for k, part in enumerate(x.chunk(4, -1))], -1), 64),
    "split": (lambda x: torch.cat([part.relu() for part in x.split([16, 48], -1)], -1), 64),
    "unbind": (lambda x: torch.stack([2 * part for part in x.view(-1, 4, 16).unbind(1)], 1).flatten(1), 64),
    "branch on a value": (lambda x: 2 * x if x.sum() > 0 else x + x, 64),
    "product with a mask": (lambda x: x * (x > 0), 64),
    "masked fill": (lambda x: x.masked_fill(x < 0, 0.0), 64),
    "assignment by a mask": (zero_where_negative, 64),
    "where": (lambda x: torch.where(x > 0, x, 0.1 * x), 64),
    "selection by a mask": (lambda x: x[x[:, 0] > 0], 64),
    "nonzero": (lambda x: x[torch.nonzero(x[:, 0] > 0).squeeze(1)], 64),
    "einops style": (lambda x: x.view(-1, 8, 8).permute(0, 2, 1).reshape(-1, 64), 64),
    "no_grad": (torch.no_grad()(lambda x: x.relu()), 64),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies(name: str) -> None:
    function, width = BODIES[name]
    assert_as_planned(Between(function, out=width), X, model_error=0.03)


def test_exact_numbers_of_written_slices() -> None:
    """Halves x + 1 and 3 x + 1 of variance 1 and 9: E[y^2] = (1 + 9) / 2 + 1."""
    plan = autoinit.plan(Between(write_slices, out=128), X)
    assert plan["last.weight"].std == pytest.approx((128 * 6) ** -0.5, rel=1e-6)


@pytest.mark.parametrize("name", ["branch on a value", "selection by a mask", "nonzero"])
def test_a_guess_is_told(name: str) -> None:
    plan = autoinit.plan(Between(BODIES[name][0]), X)
    assert any("guessed" in n.message or "depends on data" in n.message for n in plan.warnings)


def two() -> dict[str, nn.Module]:
    return {"a": nn.Linear(64, 64), "b": nn.Linear(64, 64)}


def energy_gradient(self, x):
    with torch.enable_grad():
        x = x.detach().requires_grad_(True)
        (gradient,) = torch.autograd.grad(torch.tanh(self.a(x)).sum(), x, create_graph=True)
    return self.b(gradient)


def under_autocast(self, x):
    with torch.autocast("cpu", torch.bfloat16):
        return self.b(F.relu(self.a(x)))


MACHINERY = {
    "checkpoint": lambda self, x: self.b(checkpoint(lambda y: F.relu(self.a(y)), x, use_reentrant=False)),
    "reentrant checkpoint": lambda self, x: self.b(checkpoint(lambda y: F.relu(self.a(y)), x, use_reentrant=True)),
    "functional_call": lambda self, x: self.b(
        torch.func.functional_call(self.a, {k: 2 * v for k, v in self.a.named_parameters()}, (x,))
    ),
    "vmap": lambda self, x: self.b(torch.vmap(lambda y: F.relu(self.a(y)))(x)),
    "autocast": under_autocast,
    "autograd.grad": energy_gradient,
}


@pytest.mark.parametrize("name", MACHINERY)
def test_machinery(name: str) -> None:
    model = Free(MACHINERY[name], **two())
    plan = autoinit.plan(model, X)
    assert not plan.unreached()
    if name == "functional_call":
        assert plan["a.weight"].std == pytest.approx(0.5 / 8, rel=1e-6)
    if name == "autograd.grad":  # the gradient of a sum of tanh is tanh' W: nothing that a rule predicts exactly
        assert plan["b.weight"].action == "set"
        return
    assert_as_planned(model, X, model_error=0.03)


def test_scripted_submodule() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scripted = torch.jit.script(nn.Sequential(nn.Linear(64, 64), nn.ReLU()))
    assert_as_planned(nn.Sequential(scripted, nn.Linear(64, 64)), X, model_error=0.03)


def test_compiled_submodule() -> None:
    model = nn.Sequential(torch.compile(nn.Sequential(nn.Linear(64, 64), nn.ReLU())), nn.Linear(64, 64))
    plan = autoinit.plan(model, X)
    assert [p.std for p in plan.parameters if p.action == "set"] == pytest.approx([1 / 8, 2**0.5 / 8], rel=1e-6)
    assert_as_planned(model, X, model_error=0.03)


def test_containers_in_and_out() -> None:
    def forward(self, pair, *, extra):
        return {"y": (self.a(pair["x"][0]), [self.b(pair["x"][1] + extra)]), "nothing": None}

    model = Free(forward, **two())
    plan = autoinit.plan(model, [{"x": [X, Input(X, variance=4.0)]}, {"extra": Input(X, mean=2.0)}])
    assert plan["a.weight"].std == pytest.approx(1 / 8, rel=1e-6)
    assert plan["b.weight"].std == pytest.approx((64 * (4 + 1 + 4)) ** -0.5, rel=1e-6)
    assert len(plan.outputs) == 2
    assert_as_planned(model, [{"x": [X, X]}, {"extra": X}], model_error=0.03)


def test_inputs_by_name_and_real_batches() -> None:
    model = Free(lambda self, a, b: self.a(a) + self.b(b), **two())
    generator = torch.Generator().manual_seed(0)
    batch = 5 * torch.randn(256, 64, generator=generator)
    plan = autoinit.plan(model, {"b": batch, "a": (256, 64)})
    assert plan["a.weight"].std == pytest.approx(1 / 8, rel=1e-6)
    assert plan["b.weight"].std == pytest.approx((64 * float(batch.square().mean())) ** -0.5, rel=1e-5)


def test_integer_inputs_as_tensor_and_as_vocabulary() -> None:
    def model():
        return Free(
            lambda self, tokens: self.map(self.table(tokens)), table=nn.Embedding(50, 64), map=nn.Linear(64, 64)
        )

    tokens = torch.randint(0, 50, (16, 20), generator=torch.Generator().manual_seed(0))
    for inputs in (tokens, Input((16, 20), vocabulary=50)):
        plan = autoinit.plan(model(), inputs)
        assert plan["table.weight"].std == pytest.approx(1.0, rel=1e-6)
        assert plan["map.weight"].std == pytest.approx(1 / 8, rel=1e-6)
    # Tokens repeat with chance 1/50, and equal tokens have equal rows.
    assert plan.tensors[0].correlation[:2] == pytest.approx([1 / 50] * 2, abs=0.02)


def test_module_called_twice_has_two_rows() -> None:
    model = Free(lambda self, x: self.a(torch.tanh(self.a(x))), a=nn.Linear(64, 64))
    plan = autoinit.plan(model, X)
    assert [(t.module, t.call) for t in plan.weight_layers] == [("a", 1), ("a", 2)]
    assert_as_planned(model, X, model_error=0.05)


def test_exceptions_that_are_handled_change_nothing() -> None:
    """Planning inside an except block, and a forward that falls back inside one."""

    def forward(self, x):
        try:
            raise RuntimeError("the fast path is not there")
        except RuntimeError:
            return self.b(self.norm(self.a(x)))

    norm = nn.utils.parametrizations.spectral_norm(nn.Linear(64, 64))
    model = Free(forward, norm=norm, **two())
    expected = autoinit.plan(model, X)
    assert "normalised" in expected["norm.parametrizations.weight.original"].reason
    try:
        raise KeyError("outside")
    except KeyError:
        assert autoinit.plan(model, X) == expected


def test_odd_names() -> None:
    model = nn.Sequential()
    for name in ("1", "weight", "a b", "forward_", "ünï", "0"):
        model.add_module(name, nn.Linear(8, 8))
    plan = autoinit.initialize(model, (4, 8))
    assert [t.module for t in plan.weight_layers] == ["1", "weight", "a b", "forward_", "ünï", "0"]


def packed(self, x):
    lengths = torch.tensor([6, 5, 4, 3] * (x.shape[0] // 4))
    y, _ = self.cell(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
    return self.head(pad_packed_sequence(y, batch_first=True)[0])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_packed_sequences(kind: type) -> None:
    model = Free(packed, cell=kind(32, 64, batch_first=True), head=nn.Linear(64, 64))
    plan = autoinit.plan(model, (32, 6, 32))
    assert not plan.unreached()
    assert plan["cell.weight_hh_l0"].parts[0].kind == "orthogonal"
    # Sequences of 3 to 6 steps count with their mean number of entries per step; the rest is the sampled cell.
    assert_as_planned(model, (32, 6, 32), model_error=0.2, every=False)


def unrolled(self, x):
    state = torch.zeros(x.shape[0], 64)
    if isinstance(self.cell, nn.LSTMCell):
        memory = state
        for t in range(x.shape[1]):
            state, memory = self.cell(x[:, t], (state, memory))
    else:
        for t in range(x.shape[1]):
            state = self.cell(x[:, t], state)
    return self.head(state)


@pytest.mark.parametrize("kind", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_cells_in_a_loop(kind: type) -> None:
    model = Free(unrolled, cell=kind(32, 64), head=nn.Linear(64, 64))
    plan = autoinit.plan(model, (64, 5, 32))
    assert {p.kind for p in plan["cell.weight_hh"].parts} == {"orthogonal"}
    assert {p.kind for p in plan["cell.weight_ih"].parts} == {"uniform"}
    assert_as_planned(model, (64, 5, 32), model_error=0.15, every=False)


def test_complex_tensors_do_not_crash() -> None:
    def forward(self, x):
        spectrum = torch.fft.rfft(self.a(x))
        return self.b(torch.fft.irfft(spectrum * torch.view_as_complex(self.filter), n=64))

    model = Free(forward, filter=nn.Parameter(torch.randn(33, 2)), **two())
    plan = autoinit.plan(model, X)
    assert plan["a.weight"].std == pytest.approx(1 / 8, rel=1e-6)
    # |filter|^2 has mean 2 (of one draw, 33 numbers: a quarter of it): a filter keeps power times that.
    assert plan["b.weight"].std == pytest.approx(1 / 8 / 2**0.5, rel=0.3)
    assert any(n.kind == "simulated" and "fft" in n.place for n in plan.notes)


def test_very_deep_chain() -> None:
    """No recursion anywhere: more layers than Python's stack has frames here, 10,000 in the thorough test."""
    deep_chain(sys.getrecursionlimit() + 200)


@pytest.mark.thorough
def test_ten_thousand_layers() -> None:
    deep_chain(10_000)


def deep_chain(depth: int) -> None:
    model = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(depth)])
    start = time.process_time()
    plan = autoinit.initialize(model, (4, 4))
    assert time.process_time() - start < 0.012 * depth  # about 3 ms a layer; quadratic time would be minutes
    assert len(plan.weight_layers) == depth
    assert plan.weight_layers[-1].second == pytest.approx(1.0, rel=1e-6)


def test_long_elementwise_chain() -> None:
    def forward(self, x):
        x = self.a(x)
        for _ in range(1_000):
            x = torch.sin(x) * 1.1
        return x

    plan = autoinit.plan(Free(forward, a=nn.Linear(64, 64)), X)
    # The values contract to the fixed points of x = 1.1 sin(x), +-0.75; long chains are cut and count as normal again.
    assert 0.5 * 0.75**2 < plan.tensors[-1].second < 1.5 * 0.75**2
