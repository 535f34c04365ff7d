"""Numbers that are right or said: functions at absurd places, narrow layers, overflow, complex numbers, scattered rows.

One line per case. Planned: every number of the plan is finite, and what was not computed is a note. Measured: the
second moment of the model's inside is within the factor of what the plan predicts (mean over draws).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import autoinit
from autoinit.core.gaussian.ranges import bounds
from autoinit.frontends.torch.inputs import call_arguments
from autoinit.frontends.torch.measure import record
from autoinit.measurement import key_of

Inside = Callable[[Any, Tensor], Tensor]
C = torch.complex64
FEATURES = 48


class Net(nn.Module):
    """Dense, something, dense. Parameters that the something needs are given by name."""

    def __init__(self, inside: Inside, features: int, depth: int = 1, **parameters: Tensor) -> None:
        super().__init__()
        self.first = nn.Linear(features, FEATURES)
        self.more = nn.ModuleList(nn.Linear(FEATURES, FEATURES) for _ in range(depth - 1))
        self.last, self.inside = nn.LazyLinear(16), inside
        for name, value in parameters.items():
            setattr(self, name, nn.Parameter(value))

    def forward(self, x: Tensor) -> Any:
        x = self.first(x)
        for layer in self.more:
            x = layer(torch.relu(x))
        return self.last(self.inside(self, x))


def made(inside: Inside, features: int = 32, depth: int = 1, **parameters: Tensor) -> Net:
    torch.manual_seed(0)
    net = Net(inside, features, depth, **parameters)
    with torch.no_grad():
        net(torch.randn(64, features))
    return net


def all_finite(plan: autoinit.Plan) -> bool:
    """No NaN anywhere, and no number so large that it stands for one without a warning."""
    warned = bool(plan.warnings)
    numbers = [v for t in plan.tensors for v in (t.mean, t.variance, t.tensor_variance)]
    stds = [part.std for p in plan.parameters for part in p.parts]
    return all(math.isfinite(v) and (warned or abs(v) < 1e30) for v in numbers) and all(
        s == 0.0 or (math.isfinite(s) and 1e-12 < s < 1e12) for s in stds
    )


def draw(net: nn.Module, plan: autoinit.Plan, seed: int) -> None:
    """Normal weights with the planned deviations; of complex ones E|w|² is the square of it."""
    generator = torch.Generator().manual_seed(seed)
    named = dict(net.named_parameters())
    for planned in plan.parameters:
        for part in planned.parts:
            view = torch.as_strided(named[planned.name].data, part.shape, part.stride, part.offset)
            drawn = torch.randn(view.shape, dtype=view.dtype, generator=generator) * part.std
            view.copy_(torch.full_like(view, part.std) if part.kind == "constant" else drawn)


def worst(net: nn.Module, inputs: Any, draws: int = 8) -> tuple[float, str]:
    """The largest factor between a predicted variance and the mean of those measured, and where it is."""
    plan = autoinit.plan(net, inputs)
    found: dict[int, list[float]] = {}
    for seed in range(draws):
        draw(net, plan, seed)
        seen = record(net, *call_arguments(inputs), training=True, seed=seed).moments
        for row in plan.tensors:
            if key_of(row) in seen:
                found.setdefault(row.index, []).append(seen[key_of(row)][1])
    factors = [(1.0, "")]
    for row in plan.tensors:
        if row.index in found and max(row.tensor_variance, np.mean(found[row.index])) > 1e-6:
            ratio = (row.tensor_variance + 1e-9) / (float(np.mean(found[row.index])) + 1e-9)
            factors.append((max(ratio, 1 / ratio), f"{row.module} {row.op}: {row.tensor_variance:.3g}, "
                            f"measured {np.mean(found[row.index]):.3g}"))  # fmt: skip
    return max(factors)


# --- absurd places: planned, every number finite -------------------------------------------------------------------

ABSURD: list[tuple[str, Inside]] = [
    ("exp of 100 x", lambda s, x: torch.exp(100 * x)),
    ("exp of exp", lambda s, x: torch.exp(torch.exp(x))),
    ("exp of exp of exp", lambda s, x: torch.exp(torch.exp(torch.exp(x)))),
    ("log of a negative", lambda s, x: torch.log(x - 1e6)),
    ("log of zero", lambda s, x: torch.log(x * 0)),
    ("sqrt of a negative", lambda s, x: torch.sqrt(-(x**2))),
    ("0/0", lambda s, x: (x * 0) / (x * 0)),
    ("1/0", lambda s, x: 1 / (x * 0)),
    ("inf - inf", lambda s, x: x / 0.0 - x / 0.0),
    ("power 50", lambda s, x: x**50),
    ("power 50, ten times", lambda s, x: (x**50) ** 10),
    ("1e30 x", lambda s, x: x * 1e30),
    ("1e-30 x", lambda s, x: x * 1e-30),
    ("x + 1e20", lambda s, x: x + 1e20),
    ("square of 1e20", lambda s, x: (x + 1e20) ** 2),
    ("tan", lambda s, x: torch.tan(100 * x)),
    ("acos outside", lambda s, x: torch.acos(10 * x)),
    ("atanh outside", lambda s, x: torch.atanh(10 * x)),
    ("lgamma", lambda s, x: torch.lgamma(100 * x)),
    ("digamma", lambda s, x: torch.digamma(100 * x)),
    ("sinh of 100 x", lambda s, x: torch.sinh(100 * x)),
    ("pow by itself", lambda s, x: x.abs() ** (50 * x)),
    ("cumprod", lambda s, x: torch.cumprod(100 * x, -1)),
    ("prod", lambda s, x: torch.prod(1e3 * x, -1, keepdim=True).expand(-1, 8)),
    ("logsumexp of 1e6 x", lambda s, x: torch.logsumexp(1e6 * x, -1, keepdim=True).expand(-1, 8)),
    ("softmax of 1e6 x", lambda s, x: torch.softmax(1e6 * x, -1)),
    ("exp, normalised", lambda s, x: F.layer_norm(torch.exp(40 * x), (FEATURES,))),
    ("variance of a constant", lambda s, x: x / (x * 0 + 1).std(-1, keepdim=True)),
    ("fmod by zero", lambda s, x: torch.fmod(x, x * 0)),
    ("erfinv outside", lambda s, x: torch.erfinv(5 * x)),
]


@pytest.mark.parametrize(("name", "inside"), ABSURD, ids=[name for name, _ in ABSURD])
def test_absurd_values_are_planned_with_finite_numbers(name: str, inside: Inside) -> None:
    plan = autoinit.plan(made(inside), (64, 32))
    assert all_finite(plan), str(plan)
    last = next(p for p in plan.parameters if p.name == "last.weight")
    assert 1e-9 < last.parts[0].std < 1e36, "what follows must be initialized"


@pytest.mark.parametrize(
    "inside",
    [lambda s, x: torch.exp(100 * x), lambda s, x: torch.exp(torch.exp(torch.exp(x))), lambda s, x: (x**50) ** 10],
)
def test_an_overflow_is_said_where_it_is_and_does_not_spread(inside: Inside) -> None:
    plan = autoinit.plan(made(inside), (64, 32))
    assert any("overflow" in n.message for n in plan.warnings)
    last = next(p for p in plan.parameters if p.name == "last.weight").parts[0].std
    assert last == pytest.approx(FEATURES**-0.5, rel=0.01)  # as for variance 1


# --- bounded functions stay in their range -------------------------------------------------------------------------

BOUNDED: list[tuple[str, Callable[[Tensor], Tensor]]] = [
    ("sin", torch.sin), ("cos", torch.cos), ("sigmoid", torch.sigmoid), ("tanh", torch.tanh), ("erf", torch.erf),
    ("sin 3x + 1", lambda x: torch.sin(3 * x + 1)), ("cos + 2", lambda x: torch.cos(x) + 2), ("atan", torch.atan),
    ("clamp", lambda x: x.clamp(-0.5, 2.0)), ("hardtanh", F.hardtanh), ("hardsigmoid", F.hardsigmoid),
    ("relu6", F.relu6), ("softsign", F.softsign), ("sign", torch.sign),
    ("sigmoid x - 2", lambda x: torch.sigmoid(x - 2)),
    ("gaussian bell", lambda x: torch.exp(-x.square())), ("sin cos", lambda x: torch.sin(x) * torch.cos(x)),
    ("sinc", torch.sinc),
]  # fmt: skip
NARROW = [(1, 1, 1.0), (3, 1, 1.0), (3, 4, 1.0), (2, 3, 10.0)]
"""Input features, layers before the function, and a factor."""


@pytest.mark.parametrize(("features", "depth", "factor"), NARROW)
@pytest.mark.parametrize(("name", "function"), BOUNDED, ids=[name for name, _ in BOUNDED])
def test_bounded_functions_behind_narrow_layers(
    name: str, function: Callable[[Tensor], Tensor], features: int, depth: int, factor: float
) -> None:
    """E[sin] = -1.62 cannot be."""
    net = made(lambda s, x: function(factor * x), features, depth)
    plan = autoinit.plan(net, (64, features))
    grid = function(torch.linspace(-60.0, 60.0, 200001))
    low, high = float(grid.min()) - 1e-3, float(grid.max()) + 1e-3
    row = plan.tensors[-2]
    assert low <= row.mean <= high
    assert 0.0 <= row.variance <= (high - row.mean) * (row.mean - low) + 1e-6  # the most that a range allows


def test_the_range_of_an_expression() -> None:
    from autoinit.core.gaussian.expression import X, apply

    assert bounds(apply("sin", X)) == (-1.0, 1.0)
    assert bounds(apply("mul", apply("sin", X), apply("add", apply("cos", X), 2.0))) == (-3.0, 3.0)
    assert bounds(apply("relu", X)) == (0.0, math.inf)
    assert bounds(apply("sigmoid", apply("relu", X))) == (0.5, 1.0)
    assert bounds(apply("exp", apply("neg", apply("square", X)))) == (0.0, 1.0)
    assert bounds(apply("sub", 1.0, apply("tanh", X))) == (0.0, 2.0)
    assert bounds(apply("mul", X, apply("sigmoid", X))) == (-math.inf, math.inf)


# --- complex numbers -----------------------------------------------------------------------------------------------


def weights(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=C, generator=torch.Generator().manual_seed(1)) * 0.1


def modrelu(s: Any, x: Tensor) -> Tensor:
    z = F.linear(x.to(C), s.w)
    return (torch.relu(z.abs() - 0.5) * torch.exp(1j * z.angle())).imag


def lowpass(s: Any, x: Tensor) -> Tensor:
    z = torch.zeros(x.shape[0], 25, dtype=C)
    z[:, :8] = torch.fft.rfft(x)[:, :8] @ s.w
    return torch.fft.irfft(z, n=48)


COMPLEX: list[tuple[str, Inside, dict[str, Tensor]]] = [
    ("1j x, imaginary part", lambda s, x: (1j * x).imag, {}),
    ("x 1j, real part", lambda s, x: (x * 1j).real + x, {}),
    ("modulus of 1j x", lambda s, x: (1j * x).abs(), {}),
    ("x + 1j", lambda s, x: (x + 1j).abs(), {}),
    ("x / 2j", lambda s, x: (x / 2j).imag, {}),
    ("(1 + 2j) x", lambda s, x: ((1 + 2j) * x).abs(), {}),
    ("complex(x, y)", lambda s, x: torch.complex(x, x.roll(1, -1)).abs(), {}),
    ("x + i x", lambda s, x: (x.to(C) + 1j * x).abs(), {}),
    ("view as complex and real", lambda s, x: torch.view_as_real(
        torch.view_as_complex(x.reshape(-1, 24, 2))).flatten(1), {}),
    ("rotary", lambda s, x: torch.view_as_real(torch.view_as_complex(x.reshape(-1, 24, 2))
                                               * torch.polar(torch.ones(24), torch.arange(24.0))).flatten(1), {}),
    ("conjugate", lambda s, x: (x.to(C) * (1 + 1j)).conj().imag, {}),
    ("angle", lambda s, x: torch.complex(x, x.flip(-1)).angle(), {}),
    ("polar", lambda s, x: torch.polar(x.abs(), x).imag, {}),
    ("exp(1j x)", lambda s, x: torch.exp(1j * x).real, {}),
    ("complex tanh", lambda s, x: torch.tanh(x.to(C) * (1 + 1j)).real, {}),
    ("square", lambda s, x: ((1j * x) ** 2).real, {}),
    ("fft, real part", lambda s, x: torch.fft.fft(x).real, {}),
    ("fft2, real part", lambda s, x: torch.fft.fft2(x, norm="ortho").real, {}),
    ("there and back", lambda s, x: torch.fft.irfft(torch.fft.rfft(x), n=48), {}),
    ("power spectrum", lambda s, x: (lambda z: (z * z.conj()).real)(torch.fft.fft(x, norm="ortho")), {}),
    ("spectral weight, einsum", lambda s, x: torch.fft.irfft(torch.einsum("bk,ko->bo", torch.fft.rfft(x), s.w), n=48),
     {"w": weights(25, 25)}),
    ("spectral weight, matmul", lambda s, x: torch.fft.irfft(torch.fft.rfft(x, norm="ortho") @ s.w, n=48, norm="ortho"),
     {"w": weights(25, 25)}),
    ("spectral filter", lambda s, x: torch.fft.irfft(torch.fft.rfft(x) * s.w, n=48), {"w": weights(25)}),
    ("low frequencies only", lowpass, {"w": weights(8, 8)}),
    ("dense, complex weight", lambda s, x: F.linear(x.to(C), s.w).real, {"w": weights(40, 48)}),
    ("dense, complex bias", lambda s, x: F.linear(x.to(C), s.w, s.b).imag, {"w": weights(40, 48), "b": weights(40)}),
    ("modrelu", modrelu, {"w": weights(40, 48)}),
    ("unit numbers", lambda s, x: (lambda z: (z / z.abs()).real)(F.linear(x.to(C), s.w)), {"w": weights(40, 48)}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "inside", "parameters"), COMPLEX, ids=[c[0] for c in COMPLEX])
def test_complex_numbers_are_predicted(name: str, inside: Inside, parameters: dict[str, Tensor]) -> None:
    factor, where = worst(made(inside, **parameters), (128, 32))
    assert factor < 1.5, where


def test_a_complex_weight_has_the_deviation_that_gives_its_output_the_target() -> None:
    """y = W x with E|x|² = 1: n E|w|² = 1."""
    net = made(lambda s, x: F.linear(x.to(C), s.w).real, w=weights(40, 48))
    part = next(p for p in autoinit.plan(net, (128, 32)).parameters if p.name == "w").parts[0]
    assert part.std == pytest.approx(48**-0.5, rel=0.02)


def test_a_complex_input() -> None:
    class Spectral(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w, self.last = nn.Parameter(weights(32, 24)), nn.Linear(24, 8)

        def forward(self, z: Tensor) -> Tensor:
            return self.last((z @ self.w).abs())

    z = torch.randn(64, 32, dtype=C, generator=torch.Generator().manual_seed(2)) * 3
    plan = autoinit.plan(Spectral(), z)
    std = next(p for p in plan.parameters if p.name == "w").parts[0].std
    assert std == pytest.approx(32**-0.5 / 3, rel=0.1)


# --- rows at the places that indices name --------------------------------------------------------------------------

INDEX = torch.randint(0, 40, (200,), generator=torch.Generator().manual_seed(3))
COUNTS = torch.bincount(INDEX, minlength=40)
WIDE = INDEX[:, None].expand(200, FEATURES)
ORDER = INDEX.argsort()


def zeros(x: Tensor) -> Tensor:
    return x.new_zeros(40, FEATURES)


SCATTERED: list[tuple[str, Inside]] = [
    *[(f"scatter_reduce {kind}, {'with' if own else 'without'} base",
       lambda s, x, kind=kind, own=own: zeros(x).scatter_reduce(0, WIDE, x, kind, include_self=own))
      for kind in ("sum", "mean", "amax", "amin") for own in (True, False)],
    *[(f"index_reduce {kind}", lambda s, x, kind=kind: zeros(x).index_reduce(0, INDEX, x, kind, include_self=False))
      for kind in ("mean", "amax", "amin")],
    *[(f"segment_reduce {kind}", lambda s, x, kind=kind: torch.segment_reduce(x[ORDER], kind, lengths=COUNTS))
      for kind in ("sum", "mean", "max", "min")],
    ("segment_reduce by offsets", lambda s, x: torch.segment_reduce(
        x[ORDER], "mean", offsets=torch.cat([torch.zeros(1, dtype=torch.int64), COUNTS.cumsum(0)]))),
    ("onto rows of its own", lambda s, x: x[:40].scatter_reduce(0, WIDE[40:], x[40:], "mean", include_self=True)),
    ("maximum onto rows of its own", lambda s, x: x[:40].scatter_reduce(0, WIDE[40:], x[40:], "amax")),
    ("in place", lambda s, x: zeros(x).scatter_reduce_(0, WIDE, x, "amax", include_self=False)),
    ("of relu", lambda s, x: zeros(x).scatter_reduce(0, WIDE, torch.relu(x), "amax", include_self=False)),
    ("sum over count", lambda s, x: zeros(x).scatter_add(0, WIDE, x) / COUNTS.clamp(min=1)[:, None]),
    ("sum over expanded count", lambda s, x: (lambda y: y / COUNTS.clamp(min=1)[:, None].expand_as(y))(
        zeros(x).scatter_add(0, WIDE, x))),
    ("index_add over root of count", lambda s, x: zeros(x).index_add(0, INDEX, x) / (1.0 + COUNTS)[:, None] ** 0.5),
    ("index_add times weight", lambda s, x: zeros(x).index_add(0, INDEX, x) * (1.0 / (1 + COUNTS))[:, None]),
    ("scatter_add", lambda s, x: zeros(x).scatter_add(0, WIDE, x)),
    ("most places empty", lambda s, x: x.new_zeros(400, FEATURES).scatter_reduce(
        0, WIDE, x, "mean", include_self=False)),
    ("along features", lambda s, x: x.new_zeros(200, 10).scatter_reduce(
        1, (torch.arange(FEATURES) % 10).expand(200, -1), x, "amax", include_self=False)),
    ("all to one place", lambda s, x: x.new_zeros(2, FEATURES).scatter_reduce(
        0, WIDE * 0, x, "sum", include_self=False)),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:index_reduce:UserWarning")
@pytest.mark.parametrize(("name", "inside"), SCATTERED, ids=[name for name, _ in SCATTERED])
def test_scattered_rows_are_predicted(name: str, inside: Inside) -> None:
    torch.manual_seed(0)
    net = Net(inside, 32)
    with torch.no_grad():
        net(torch.randn(200, 32))
    factor, where = worst(net, (200, 32), draws=12)
    assert factor < 1.35, where


@pytest.mark.parametrize("own", [True, False])
def test_products_of_scattered_rows(own: bool) -> None:
    """prod of n independent rows of variance 1 has variance 1, the number of rows aside."""
    torch.manual_seed(0)
    one = lambda s, x: x.new_ones(40, FEATURES).scatter_reduce(0, WIDE, x, "prod", include_self=own)  # noqa: E731
    net = Net(one, 32)
    with torch.no_grad():
        net(torch.randn(200, 32))
    row = autoinit.plan(net, (200, 32)).tensors[-2]
    assert 0.8 < row.variance + row.mean**2 < 1.25


# --- the scatter of local variances --------------------------------------------------------------------------------


def test_a_volatility_that_cannot_be_is_not_kept() -> None:
    """V(S) < -1 made powers of negative numbers: NaN in detection networks (SiLU behind batch norm)."""
    from autoinit.core.gaussian.expression import X, apply
    from autoinit.core.signal.signal import Signal

    K = np.array([[1.0, 0.2], [0.2, 0.1]])
    for V in (np.array([[0.5, -1.7], [-3.0, -1.2]]), np.full((2, 2), np.nan), np.array([[-2.0, -5.0], [0.1, 50.0]])):
        source = Signal((8, 8), 0.0, K, volatility=V)
        made_of = Signal.function(source, apply("silu", X))
        assert np.isfinite(made_of.K).all() and np.isfinite(made_of.mean)
        assert made_of.volatility is None or np.isfinite(made_of.volatility).all()
        assert np.abs(made_of.K).max() <= made_of.K.flat[0] + 1e-12
        source = source.but(volatility=V)
        assert source.volatility is None or (source.volatility > -1).all()
