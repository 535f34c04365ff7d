"""Parameters that do not simply lie in memory one after the other, and types that are not float32."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.core.graph.graph import ParameterView  # noqa: E402
from autoinit.errors import PlanError  # noqa: E402
from autoinit.frontends.views import contiguous_strides, relaid  # noqa: E402

X = (32, 6, 9, 9)


class Packed(nn.Module):
    """Convolutions, a packed projection cut in three, biases cut too, a weight used transposed."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(6, 8, 3)
        self.grouped = nn.Conv2d(8, 8, 3, groups=2)
        self.packed = nn.Parameter(torch.randn(24, 8))
        self.bias = nn.Parameter(torch.randn(24))
        self.turned = nn.Parameter(torch.randn(8, 5))
        self.last = nn.Parameter(torch.randn(5))

    def forward(self, x):
        x = F.relu(self.grouped(F.relu(self.conv(x)))).mean((2, 3))
        q, k, v = (F.linear(x, w, b) for w, b in zip(self.packed.chunk(3), self.bias.chunk(3), strict=True))
        return F.linear(F.relu(q + k + v), self.turned.t(), self.last)


def c_order(p: torch.Tensor) -> torch.Tensor:
    return p.clone()


def transposed(p: torch.Tensor) -> torch.Tensor:
    return p.permute(*reversed(range(p.dim()))).contiguous().permute(*reversed(range(p.dim())))


def channels_last(p: torch.Tensor) -> torch.Tensor:
    return p.contiguous(memory_format=torch.channels_last) if p.dim() == 4 else p.clone()


def columns(p: torch.Tensor) -> torch.Tensor:
    """Every second entry of something that is larger all around."""
    room = torch.full([2 * n + 3 for n in p.shape], 7.0)
    made = room[tuple(slice(2, 2 + 2 * n, 2) for n in p.shape)]
    made.copy_(p)
    return made


def shifted(p: torch.Tensor) -> torch.Tensor:
    room = torch.full((p.numel() + 11,), 7.0)
    made = room[5 : 5 + p.numel()].view(p.shape)
    made.copy_(p)
    return made


LAYOUTS = {f.__name__: f for f in (c_order, transposed, channels_last, columns, shifted)}


def laid(layout: str) -> Packed:
    model = Packed()
    for p in model.parameters():
        p.data = LAYOUTS[layout](p.data)
    return model


def outside(p: torch.Tensor) -> torch.Tensor:
    """What lies in the parameter's storage around it."""
    held = torch.empty(0, dtype=p.dtype).set_(p.untyped_storage()).clone()
    held.as_strided(p.shape, p.stride(), p.storage_offset()).fill_(0)
    return held


OPTIONS = [{}, {"center": "bias"}, {"exact": True}, {"distribution": "orthogonal"}, {"keep_zeros": False, "seed": 4}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_5_the_same_values_however_parameters_lie(layout: str, options: dict) -> None:
    """A plan of the plain model, applied to one that lies otherwise."""
    plain, model = laid("c_order"), laid(layout)
    plan = autoinit.initialize(plain, X, **options)
    around = {n: outside(p) for n, p in model.named_parameters()}
    lies = {n: (p.stride(), p.data_ptr(), p.storage_offset()) for n, p in model.named_parameters()}
    plan.apply(model)
    for (name, p), q in zip(model.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(p, q, rtol=1e-6, atol=1e-7)
        assert torch.equal(outside(p), around[name]), name
        assert lies[name] == (p.stride(), p.data_ptr(), p.storage_offset())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "shifted"])
def test_row_5_the_same_plan_however_parameters_lie(layout: str, options: dict) -> None:
    wanted, found = (autoinit.plan(laid(name), X, **options) for name in ("c_order", layout))
    for one, two in zip(wanted.parameters, found.parameters, strict=True):
        assert (one.name, one.action, len(one.parts)) == (two.name, two.action, len(two.parts))
        for a, b in zip(one.parts, two.parts, strict=True):
            assert (a.shape, a.offset, a.kind, a.rows, a.of_offset) == (b.shape, b.offset, b.kind, b.rows, b.of_offset)
            assert a.std == pytest.approx(b.std, rel=1e-4)
            assert [s for s, n in zip(a.stride, a.shape, strict=True) if n > 1] == [
                s for s, n in zip(b.stride, b.shape, strict=True) if n > 1
            ]


def fails(*_) -> None:
    raise TypeError("fails")


def test_row_5_one_flat_buffer(monkeypatch) -> None:
    """`vector_to_parameters` leaves all parameters in one storage."""
    plain, model = laid("c_order"), laid("c_order")
    vector = torch.cat([torch.zeros(3), nn.utils.parameters_to_vector(model.parameters()), torch.full((4,), 7.0)])
    at = 3
    for p in model.parameters():
        p.data = vector[at : at + p.numel()].view(p.shape)
        at += p.numel()
    plan = autoinit.plan(plain, X, center="bias", exact=True)
    plan.apply(plain)
    before = vector.clone()
    with monkeypatch.context() as patch, pytest.raises(TypeError, match="fails"):
        patch.setattr("autoinit.frontends.torch.apply.write_centred", fails)
        plan.apply(model)
    assert torch.equal(vector, before)
    plan.apply(model)
    assert torch.equal(vector[3:-4], nn.utils.parameters_to_vector(plain.parameters()))
    assert torch.equal(vector[:3], torch.zeros(3)) and torch.equal(vector[-4:], torch.full((4,), 7.0))


class Repeated(nn.Module):
    def __init__(self, expand_now: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        w, b = torch.randn(1, 64), torch.randn(1)
        self.w = nn.Parameter(w.expand(5, 64) if expand_now else w)
        self.b = nn.Parameter(b.expand(5) if expand_now else b)

    def forward(self, x):
        return F.linear(x, self.w.expand(5, 64), self.b.expand(5))


REPEATED = [(True, {}), (True, {"exact": True}), (False, {}), (False, {"exact": True}), (False, {"center": "bias"})]


@pytest.mark.parametrize(("expand_now", "options"), REPEATED, ids=str)
def test_entries_that_share_memory_are_drawn_once(expand_now: bool, options: dict) -> None:
    model = Repeated(expand_now)
    stride = model.w.stride()
    plan = autoinit.initialize(model, autoinit.Input((16, 64), mean=0.5), **options)
    assert model.w.stride() == stride and torch.equal(model.w[0], model.w[-1])
    assert float(model.w.detach().std()) == pytest.approx(plan["w"].std, rel=0.5)
    assert not model.b.any()


@pytest.mark.parametrize(
    ("options", "text"),
    [({"distribution": "orthogonal"}, "cannot be orthogonal"), ({"center": "bias"}, "cannot cancel a mean")],
)
def test_entries_that_share_memory_cannot_be_anything(options: dict, text: str) -> None:
    model = Repeated(True)
    before = model.w.detach().clone()
    with pytest.raises(PlanError, match=text):
        autoinit.initialize(model, autoinit.Input((16, 64), mean=0.5), **options)
    assert torch.equal(model.w, before)


class Windows(nn.Module):
    """A Hankel matrix: overlapping windows of one vector."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.w = nn.Parameter(torch.full((70,), 7.0))

    def forward(self, x):
        return F.linear(x, self.w.unfold(0, 64, 1))


@pytest.mark.parametrize("distribution", ["truncated_normal", "orthogonal"])
def test_overlapping_windows(distribution: str) -> None:
    model = Windows()
    plan = autoinit.initialize(model, (16, 64), distribution=distribution)
    if plan["w"].parts:
        assert not (model.w == 7.0).any() and len(model.w.unique()) > 60


# --- types ----------------------------------------------------------------------------------------------------------


class Spectral(nn.Module):
    """The layer of a Fourier neural operator: complex weights between an FFT and its inverse."""

    def __init__(self, dtype=torch.complex64) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(12, 16)
        self.w = nn.Parameter(torch.randn(16, 16, 5, dtype=dtype))
        self.last = nn.Linear(16, 4)

    def forward(self, x):
        x = torch.fft.rfft(self.first(x).transpose(1, 2))[..., :5]
        x = torch.fft.irfft(torch.einsum("bik,iok->bok", x, self.w), n=8)
        return self.last(x.transpose(1, 2))


@pytest.mark.parametrize("distribution", ["truncated_normal", "normal", "uniform", "orthogonal"])
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_row_6_complex_parameters(dtype: torch.dtype, distribution: str) -> None:
    model = Spectral(dtype)
    plan = autoinit.plan(Spectral(), (16, 8, 12), distribution=distribution)
    plan.apply(model)
    w = model.w.detach()
    assert plan["w"].action == "set" and w.dtype == dtype
    # Half of the variance each; 1280 entries: four standard errors of sqrt(2/1280)/2 each.
    std = plan["w"].std
    assert float(w.abs().square().mean().sqrt()) == pytest.approx(std, rel=0.1)
    for half in (w.real, w.imag):
        assert float(half.std()) == pytest.approx(std / 2**0.5, rel=0.1)
    correlation = float((w.real * w.imag).mean()) / std**2
    assert abs(correlation) < 4 * 0.5 / 1280**0.5


def test_row_6_orthogonal_is_unitary() -> None:
    class Unitary(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(24, 16, dtype=torch.complex64))

        def forward(self, x):
            return torch.view_as_real(x.to(torch.complex64) @ self.w.T).sum(-1)

    model = Unitary()
    plan = autoinit.initialize(model, (8, 16), distribution="orthogonal")
    gram = model.w.detach().mH @ model.w.detach()
    torch.testing.assert_close(gram, torch.eye(16) * gram[0, 0], rtol=1e-4, atol=1e-5)
    assert float(model.w.detach().abs().square().mean().sqrt()) == pytest.approx(plan["w"].std, rel=1e-4)


def test_row_6_exact_and_centred() -> None:
    model = Spectral()
    plan = autoinit.initialize(model, autoinit.Input((16, 8, 12), mean=0.5), exact=True, center="bias")
    w = model.w.detach()
    assert float(w.abs().square().mean().sqrt()) == pytest.approx(plan["w"].std, rel=1e-5)
    assert abs(complex(w.mean())) < 1e-6


LOW = [torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]


@pytest.mark.parametrize("distribution", ["truncated_normal", "orthogonal"])
@pytest.mark.parametrize("dtype", LOW, ids=str)
def test_low_precision_is_drawn_wide_and_rounded(dtype: torch.dtype, distribution: str) -> None:
    """A plan made in float32, applied in another type: the same values up to rounding."""
    wide, narrow = nn.Linear(32, 16), nn.Linear(32, 16)
    plan = autoinit.initialize(wide, (8, 32), distribution=distribution)
    narrow.to(dtype)
    plan.apply(narrow)
    assert narrow.weight.dtype == dtype
    assert torch.equal(narrow.weight.float(), wide.weight.detach().to(dtype).float())


def test_types_that_hold_no_weights_are_refused_before_anything_is_written() -> None:
    model = nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 6))
    plan = autoinit.plan(model, (4, 6))
    model[1].weight = nn.Parameter(torch.ones(6, 6).to(torch.float8_e8m0fnu))
    before = model[0].weight.detach().clone()
    with pytest.raises(PlanError, match="cannot be drawn") as caught:
        plan.apply(model)
    assert caught.value.where == "1.weight" and "float8_e8m0fnu" in str(caught.value)
    assert torch.equal(model[0].weight, before)


def other(kind: str) -> nn.Module:
    model = nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 6))
    if kind == "meta":
        model[1].to("meta")
    elif kind == "lazy":
        model[1] = nn.LazyLinear(6)
    elif kind == "sparse":
        model[1].weight = nn.Parameter(torch.eye(6).to_sparse())
    elif kind == "inference":
        with torch.inference_mode():
            model[1].weight = nn.Parameter(torch.ones(6, 6))
    elif kind == "scalar":
        model[1].weight = nn.Parameter(torch.ones(()))
    return model


@pytest.mark.parametrize(
    ("kind", "text"),
    [("meta", "meta"), ("lazy", "lazy"), ("sparse", "sparse"), ("inference", "inference"), ("scalar", "another shape")],
)
def test_parameters_that_cannot_be_written_are_refused_before_anything_is_written(kind: str, text: str) -> None:
    model = other(kind)
    plan = autoinit.plan(nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 6)), (4, 6))
    before = model[0].weight.detach().clone()
    with pytest.raises(PlanError, match=text):
        plan.apply(model)
    assert torch.equal(model[0].weight, before)


# --- the same entries in another layout -----------------------------------------------------------------------------


def entries(view: ParameterView, shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int] | None:
    """Which entries of a parameter with these strides a view of its memory shows, as indices in C order."""
    reach = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    memory = torch.full((2 * reach + 50,), -1)
    memory.as_strided(shape, strides).copy_(torch.arange(memory.new_empty(shape).numel()).reshape(shape))
    return memory.as_strided(view.shape, view.stride, view.offset).flatten().tolist()


VIEWS = {
    "whole": lambda p: p,
    "rows": lambda p: p[1:3],
    "columns": lambda p: p[:, 2:],
    "every other": lambda p: p[:, ::2],
    "turned": lambda p: p.transpose(0, -1),
    "split axis": lambda p: p.unflatten(0, (2, 2)),
    "merged last": lambda p: p.flatten(-2) if p.dim() > 2 else p,
    "merged when it can": lambda p: p.transpose(0, 1).flatten(0, 1) if p.dim() == 2 and p.t().is_contiguous() else p,
    "one entry": lambda p: p[1, 2],
    "diagonal": lambda p: p.diagonal(),
    "expanded": lambda p: p.unsqueeze(0).expand(3, *p.shape),
    "tail": lambda p: p.select(0, 3),
}


@pytest.mark.parametrize("layout", ["c_order", "transposed", "columns", "channels_last"])
@pytest.mark.parametrize("cut", VIEWS)
@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 3), (4, 6, 2, 3)], ids=str)
def test_views_in_c_order_show_the_same_entries(shape: tuple[int, ...], cut: str, layout: str) -> None:
    p = LAYOUTS[layout](torch.zeros(shape))
    strides = tuple(p.stride())
    try:
        made = VIEWS[cut](p)
    except (RuntimeError, ValueError):
        pytest.skip("no such view")
    if made.untyped_storage().data_ptr() != p.untyped_storage().data_ptr():
        pytest.skip("a copy")
    offset = made.storage_offset() - p.storage_offset()
    view = ParameterView("p", tuple(made.shape), tuple(made.stride()), offset, False)
    wanted = entries(view, shape, strides)
    plain = relaid(view, shape, strides, contiguous_strides(shape))
    if plain is None:
        assert cut.startswith("merged") and layout != "c_order"
        return
    assert entries(plain, shape, contiguous_strides(shape)) == wanted
    again = relaid(plain, shape, contiguous_strides(shape), strides)
    assert again is not None and entries(again, shape, strides) == wanted
