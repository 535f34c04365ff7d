"""Inputs whose columns differ in scale, mean and meaning: each layer gets the level of the columns that it sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402

RNG = np.random.default_rng(0)
SCALES = np.array([50.0, 50.0, 50.0, 1.0, 1.0, 0.01])
MEANS = np.array([0.0, 100.0, 0.0, 0.0, 3.0, 0.0])
DATA = torch.from_numpy((RNG.standard_normal((512, 6)) * SCALES + MEANS).astype("float32"))
DESCRIBED = Input((512, 6), mean=MEANS, variance=SCALES**2)


class Halves(nn.Module):
    """Two layers for two halves of the columns."""

    def __init__(self, cut: Any) -> None:
        super().__init__()
        self.first, self.second, self.cut = nn.Linear(3, 64), nn.Linear(3, 64), cut
        self.out = nn.Linear(128, 64)

    def forward(self, x: Any) -> Any:
        first, second = self.cut(x)
        return self.out(torch.cat([self.first(first), self.second(second)], -1))


class Standardised(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 64)
        self.register_buffer("mean", torch.tensor(MEANS, dtype=torch.float32))
        self.register_buffer("std", torch.tensor(SCALES, dtype=torch.float32))

    def forward(self, x: Any) -> Any:
        return self.layer((x - self.mean) / self.std)


def scaled(x: Any) -> Any:
    return (x - torch.tensor(MEANS, dtype=x.dtype)) / torch.tensor(SCALES, dtype=x.dtype)


def second_moments(model: Any, plan: autoinit.Plan, inputs: Any, draws: int = 16) -> Any:
    """E[y^2] of the layers with weights, in the real model, averaged over draws."""
    found: dict[str, list[float]] = {name: [] for name, m in model.named_modules() if isinstance(m, WEIGHTS)}
    for name, values in found.items():
        model.get_submodule(name).register_forward_hook(lambda m, x, y, v=values: v.append(float(y.square().mean())))
    for seed in range(draws):
        plan.apply(model, seed=seed)
        sample = inputs
        if isinstance(inputs, Input):
            sample = torch.from_numpy(inputs.sample(np.random.default_rng(seed)).astype("float32"))
        with torch.no_grad():
            model(sample)
    return np.array([np.mean(values) for values in found.values()])


WEIGHTS = (nn.Linear, nn.Embedding)
COLUMNS = {
    "slices": lambda: Halves(lambda x: (x[:, :3], x[:, 3:])),
    "ellipsis": lambda: Halves(lambda x: (x[..., :3], x[..., 3:])),
    "split": lambda: Halves(lambda x: x.split(3, -1)),
    "chunk": lambda: Halves(lambda x: x.chunk(2, 1)),
    "narrow": lambda: Halves(lambda x: (x.narrow(1, 0, 3), x.narrow(1, 3, 3))),
    "single columns, stacked": lambda: Halves(lambda x: (torch.stack([x[..., k] for k in (0, 1, 2)], -1), x[:, 3:])),
    "unbind": lambda: Halves(lambda x: (torch.stack(x.unbind(1)[:3], 1), torch.stack(x.unbind(1)[3:], 1))),
    "a list of columns": lambda: Halves(lambda x: (x[:, [0, 2, 4]], x[:, [5, 3, 1]])),
    "slices of slices": lambda: Halves(lambda x: (x[:, :4][:, :3], x[:, 1:][:, 2:])),
    "columns put together anew": lambda: Halves(lambda x: (torch.cat([x[:, :1], x[:, 4:]], 1), x[:, 1:4])),
    "a bounded function, then slices": lambda: Halves(lambda x: (torch.tanh(x)[:, :3], torch.tanh(x)[:, 3:])),
    "tables of the user's, then slices": lambda: Halves(lambda x: (scaled(x)[:, :3], scaled(x)[:, 3:])),
    "numbers times columns": lambda: Halves(lambda x: ((x * 2 + 1)[:, :3], (x / 7)[:, 3:])),
    "all of them": lambda: nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64)),
    "a bounded function": lambda: nn.Sequential(nn.Tanh(), nn.Linear(6, 64)),
    "layer norm": lambda: nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 64)),
    "batch norm": lambda: nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 64)),
    "standardised by buffers": Standardised,
}


@pytest.mark.parametrize("inputs", [DATA, DESCRIBED], ids=["batch", "described"])
@pytest.mark.parametrize("name", COLUMNS)
def test_row_columns_of_one_input_are_unlike(name: str, inputs: Any) -> None:
    """Every layer comes out at E[y^2] = 1: the mean over 16 draws, each over 64 features of few dominant columns.

    A feature is w x with few columns that count (two at least), so one draw of 64 features scatters by up to
    sqrt(2/64) of 1, and the mean of 16 draws by 0.05.
    """
    model = COLUMNS[name]()
    plan = autoinit.plan(model, inputs)
    assert second_moments(model, plan, inputs) == pytest.approx(1.0, abs=0.2)


class Tabular(nn.Module):
    """Indices and numbers in one floating tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.layer, self.out = nn.Embedding(10, 32), nn.Linear(5, 32), nn.Linear(64, 8)

    def forward(self, x: Any) -> Any:
        return self.out(torch.cat([self.table(x[:, 0].long()), self.layer(x[:, 1:])], -1))


MIXED = DATA.clone()
MIXED[:, 0] = torch.from_numpy(RNG.integers(0, 10, 512).astype("float32"))


WITH_INDICES = Input((512, 6), MEANS, SCALES**2, vocabulary={0: 10})


@pytest.mark.parametrize("inputs", [MIXED, WITH_INDICES], ids=["batch", "described"])
def test_row_integer_columns_inside_a_float_tensor(inputs: Any) -> None:
    model = Tabular()
    plan = autoinit.plan(model, inputs)
    assert not plan.unreached() and [round(t.second, 3) for t in plan.weight_layers] == [1.0, 1.0, 1.0]
    assert second_moments(model, plan, inputs) == pytest.approx(1.0, abs=0.2)


def test_columns_of_a_described_input() -> None:
    """The formulas of `core.signal.columns` against a large sample: standard errors of 0.5 % of each moment."""
    given = Input((20000, 3), mean=[1.0, -2.0, 5.0], variance=[1.0, 4.0, 0.0], vocabulary={2: 7}, correlation={1: 0.5})
    sample, signal = given.sample(np.random.default_rng(0)), given.signal()
    assert sorted(set(sample[:, 2])) == list(range(7))
    assert signal.mean == pytest.approx(sample.mean(), rel=0.03)
    assert signal.second == pytest.approx(np.square(sample).mean(), rel=0.03)
    between = [sample[:, i] * sample[:, j] for i, j in ((0, 1), (0, 2), (1, 2))]
    # m_i m_j + r s_i s_j; column 2 is uniform on 0 ... 6: mean 3, variance 4
    expected = [-2 + 0.5 * 1 * 2, 3.0 + 0.5 * 1 * 2, -6.0 + 0.5 * 2 * 2]
    assert float(signal.K[0, 1]) == pytest.approx(np.mean(expected))
    assert np.mean(between[0]) == pytest.approx(expected[0], abs=0.06)
    assert float(signal.K[1, 0]) == pytest.approx((1 + 4 + 9) / 3)


def test_like_columns_of_a_batch_are_pooled() -> None:
    """Noise has no unlike columns, whatever its size: single columns would only add scatter."""
    from autoinit.core.signal.columns import unlike_axes

    for shape in ((4, 64), (8, 16), (64, 256), (16, 3, 8, 8), (1000, 5), (2, 100), (1, 7), (2, 50, 6), (1, 3, 16, 16)):
        for seed in range(20):
            assert unlike_axes(np.random.default_rng(seed).standard_normal(shape)) == ()
    for shape, axes in (((8, 6), (1,)), ((2, 50, 6), (2,)), ((1, 50, 6), (2,))):
        assert unlike_axes(np.random.default_rng(0).standard_normal(shape) * SCALES) == axes


def test_channels_of_images() -> None:
    """Means per channel, as (3, 1, 1): a convolution over one channel gets that channel's level."""

    class Red(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 8, 1)

        def forward(self, x: Any) -> Any:
            return self.conv(x[:, :1])

    given = Input((16, 3, 8, 8), mean=np.reshape([4.0, 0.0, 0.0], (3, 1, 1)), variance=0.0)
    assert autoinit.plan(Red(), given)["conv.weight"].std == pytest.approx(0.25)
