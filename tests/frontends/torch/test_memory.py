"""Memory: nothing depends on what is not initialized, and parameters are told apart by where they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import autoinit  # noqa: E402

from .models import Free, assert_as_planned  # noqa: E402

SHAPE = (32, 16)


class Steps(nn.Module):
    """Layers of growing scale, whose outputs are written to a buffer; a head reads the last one."""

    def __init__(self, make: Callable[..., Any], put: Callable[..., Any], get: Callable[..., Any]) -> None:
        super().__init__()
        self.steps, self.head = nn.ModuleList(nn.Linear(16, 16) for _ in range(4)), nn.Linear(16, 16)
        self.make, self.put, self.get = make, put, get

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.make(x)
        for k, layer in enumerate(self.steps):
            x = torch.tanh(layer(x)) * (k + 1.0)
            out = self.put(out, k, x)
        return self.head(self.get(out))


def row(out, k, x):
    out[k] = x
    return out


def column(out, k, x):
    out[:, k] = x
    return out


def last(out, k, x):
    out[..., k] = x
    return out


def wide(out, k, x):
    out[:, 16 * k : 16 * (k + 1)] = x
    return out


def copied(out, k, x):
    out.select(0, k).copy_(x)
    return out


def by_tensor(out, k, x):
    out[torch.tensor(k)] = x
    return out


def by_list(out, k, x):
    out[[k]] = x[None]
    return out


def put(out, k, x):
    return out.index_put_((torch.tensor([k]),), x[None])


def functional(out, k, x):
    return torch.select_scatter(out, x, 0, k)


def added(out, k, x):
    out[k] += x
    return out


def out_argument(out, k, x):
    torch.mul(x, 1.0, out=out[k])
    return out


IDIOMS = {
    "rows of empty": (lambda x: torch.empty(4, *x.shape), row, lambda o: o[-1]),
    "rows of zeros": (lambda x: torch.zeros(4, *x.shape), row, lambda o: o[3]),
    "rows of empty_like": (lambda x: torch.empty_like(torch.zeros(4, *x.shape)), row, lambda o: o[3]),
    "rows of new_empty": (lambda x: x.new_empty(4, *x.shape), row, lambda o: o[3]),
    "rows of new_zeros": (lambda x: x.new_zeros(4, *x.shape), row, lambda o: o[3]),
    "rows of empty_strided": (lambda x: torch.empty_strided((4, 32, 16), (512, 16, 1)), row, lambda o: o[3]),
    "columns": (lambda x: torch.empty(32, 4, 16), column, lambda o: o[:, -1]),
    "last axis": (lambda x: torch.empty(32, 16, 4), last, lambda o: o[..., 3]),
    "slices": (lambda x: torch.empty(32, 64), wide, lambda o: o[:, 48:]),
    "copies": (lambda x: torch.empty(4, *x.shape), copied, lambda o: o[3]),
    "index of a tensor": (lambda x: torch.empty(4, *x.shape), by_tensor, lambda o: o[3]),
    "index of a list": (lambda x: torch.empty(4, *x.shape), by_list, lambda o: o[3]),
    "index_put": (lambda x: torch.empty(4, *x.shape), put, lambda o: o[3]),
    "added to zeros": (lambda x: torch.zeros(4, *x.shape), added, lambda o: o[3]),
    "out= of an op": (lambda x: torch.empty(4, *x.shape), out_argument, lambda o: o[3]),
    "a stack": (lambda x: [], lambda o, k, x: [*o, x], lambda o: torch.stack(o)[3]),
    "a stack of columns": (lambda x: [], lambda o, k, x: [*o, x], lambda o: torch.stack(o, 1)[:, 3]),
    "a stack of features": (lambda x: [], lambda o, k, x: [*o, x], lambda o: torch.stack(o, -1)[..., 3]),
    "a list": (lambda x: [], lambda o, k, x: [*o, x], lambda o: o[3]),
}


@pytest.mark.parametrize("idiom", IDIOMS)
def test_slices_are_known_as_what_was_written(idiom: str) -> None:
    """The last of four outputs is four times as large as the first, however it is kept."""
    plain = autoinit.plan(Steps(*IDIOMS["a list"]), SHAPE)
    plan = autoinit.plan(Steps(*IDIOMS[idiom]), SHAPE)
    assert plan["head.weight"].std == pytest.approx(plain["head.weight"].std, rel=1e-6)
    assert not plan.notes


@pytest.fixture(params=[float("nan"), 1e30])
def garbage(request, monkeypatch):
    """Uninitialised memory holds something terrible."""
    import torch.utils._python_dispatch as dispatch

    class Filling(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            if "empty" in str(func) and isinstance(made, torch.Tensor) and made.device.type == "cpu":
                made.fill_(request.param) if made.is_floating_point() else made.fill_(1)
            return made

    with Filling():
        yield


@pytest.mark.parametrize("idiom", ["rows of empty", "slices", "rows of new_empty", "index_put", "out= of an op"])
def test_no_plan_depends_on_uninitialised_memory(idiom: str, garbage) -> None:
    expected = autoinit.plan(Steps(*IDIOMS["a list"]), SHAPE)["head.weight"].std
    assert autoinit.plan(Steps(*IDIOMS[idiom]), SHAPE)["head.weight"].std == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("make", ["empty", "empty_like", "new_empty", "resize_"])
def test_entries_that_were_never_written_count_as_zero(make: str, garbage) -> None:
    def forward(self, x):
        out = {
            "empty": lambda: torch.empty(32, 32), "empty_like": lambda: torch.empty_like(torch.ones(32, 32)),
            "new_empty": lambda: x.new_empty(32, 32), "resize_": lambda: torch.empty(0).resize_(32, 32),
        }[make]()  # fmt: skip
        out[:, :16] = x
        return self.layer(out)

    model = Free(forward, layer=nn.Linear(32, 8))
    assert autoinit.plan(model, SHAPE)["layer.weight"].std == pytest.approx(16**-0.5, rel=1e-6)


# --- parameters in one storage ---------------------------------------------------------------------------------------


def mlp() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 8))


def flat() -> nn.Sequential:
    """All parameters are views of one vector."""
    model = mlp()
    vector = nn.utils.parameters_to_vector(model.parameters())
    nn.utils.vector_to_parameters(vector, model.parameters())
    assert model[0].weight.untyped_storage().data_ptr() == model[4].weight.untyped_storage().data_ptr()
    return model


@pytest.mark.parametrize("options", [{}, {"center": "bias"}, {"exact": True}, {"distribution": "orthogonal"}], ids=str)
def test_parameters_in_one_flat_storage(options: dict[str, Any]) -> None:
    one, other = flat(), mlp()
    plans = [autoinit.initialize(model, SHAPE, **options) for model in (one, other)]
    assert str(plans[0]) == str(plans[1])
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b)
    checks = [autoinit.check(model, SHAPE) for model in (one, other)]
    assert checks[0].tensors[-1].second == pytest.approx(checks[1].tensors[-1].second, rel=1e-6)


def test_data_of_parameters_in_one_storage() -> None:
    model = flat()

    def forward(self, x):
        return F.linear(F.relu(F.linear(x, self.net[0].weight.data)), self.net[2].weight.data)

    reads = Free(forward, net=model)
    plan = autoinit.plan(reads, SHAPE)
    assert plan["net.0.weight"].action == plan["net.2.weight"].action == "set"
    assert plan["net.0.weight"].std == pytest.approx(16**-0.5, rel=1e-6)


def test_overlapping_parameters() -> None:
    """Two matrices that share their middle rows: each is reached under its own name."""
    base = torch.randn(24, 16)
    model = Free(
        lambda self, x: F.linear(x, self.a) + F.linear(x, self.b), a=nn.Parameter(base[:16]), b=nn.Parameter(base[8:])
    )
    plan = autoinit.plan(model, SHAPE)
    assert [plan[name].action for name in "ab"] == ["set", "set"]
    assert plan["a"].parts[0].offset == plan["b"].parts[0].offset == 0


def test_packed_weight_in_a_transposed_memory() -> None:
    """Parts are meant in the order of the parameter's axes, not of its memory."""

    def forward(self, x):
        q, k = self.w.chunk(2)
        return F.linear(x, q) + F.linear(F.relu(x), k)

    plain = Free(forward, w=nn.Parameter(torch.randn(32, 16)))
    turned = Free(forward, w=nn.Parameter(torch.randn(16, 32).t()))
    plans = [autoinit.initialize(model, SHAPE) for model in (plain, turned)]
    assert plans[0]["w"].parts == plans[1]["w"].parts
    assert torch.equal(plain.w, turned.w) and turned.w.stride() == (1, 32)


@pytest.mark.parametrize("turn", [torch.t, torch.flatten, lambda w: w.t().reshape(-1), lambda w: w[::2]])
def test_views_of_a_transposed_parameter(turn) -> None:
    """What is made of it is read as what it is, whatever the memory looks like."""

    def forward(self, x):
        return F.linear(x, turn(self.w).reshape(-1, 16))

    values = torch.randn(16, 16) * torch.linspace(0.1, 3, 16)[:, None]
    models = [Free(forward, w=nn.Parameter(w, requires_grad=False)) for w in (values, values.t().contiguous().t())]
    one, other = (autoinit.check(model, SHAPE).tensors[-1].second for model in models)
    assert one == pytest.approx(other, rel=1e-6)


def test_channels_last_convolution() -> None:
    model = nn.Conv2d(8, 16, 3).to(memory_format=torch.channels_last)
    assert_as_planned(model, (4, 8, 9, 9))
