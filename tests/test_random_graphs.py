"""Random graphs of modules: no crash, finite predictions, plans that survive a file, and numbers that come true.

Hypothesis puts blocks together (plain, residual, concatenated, gated, branched, normalised, attention, pooling) at
random; each network is planned, and then really run with several draws of weights and data.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Plan  # noqa: E402

torch.set_num_threads(1)

WIDTH = 48
BATCH = 24
SEEDS = 6
MODEL_ERROR = 0.25
"""What the moments leave out at this width: finite fans, entries that are not normal, dependence between branches."""

ACTIVATIONS = (nn.ReLU, nn.GELU, nn.Tanh, nn.SiLU, nn.ELU, nn.Identity, nn.LeakyReLU, nn.Softplus, nn.Hardswish)


class Sum(nn.Module):
    """x + f(x), or f(x) + g(x)."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        if len(self.branches) == 1:
            return x + self.branches[0](x)
        return sum(branch(x) for branch in self.branches)


class Join(nn.Module):
    """Branches side by side, brought back to the width."""

    def __init__(self, axis: int, back: nn.Module, *branches: nn.Module) -> None:
        super().__init__()
        self.axis, self.back = axis, back
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return self.back(torch.cat([branch(x) for branch in self.branches], self.axis))


class Gate(nn.Module):
    """f(x) sigmoid(g(x)), as in gated linear units and squeeze-and-excitation."""

    def __init__(self, value: nn.Module, gate: nn.Module) -> None:
        super().__init__()
        self.value, self.gate = value, gate

    def forward(self, x):
        return self.value(x) * torch.sigmoid(self.gate(x))


class SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


def activation(draw) -> nn.Module:
    return draw(st.sampled_from(ACTIVATIONS))()


def dense(draw) -> nn.Module:
    return nn.Linear(WIDTH, WIDTH, bias=draw(st.booleans()))


def conv(draw) -> nn.Module:
    kernel = draw(st.sampled_from([1, 3]))
    return nn.Conv2d(WIDTH, WIDTH, kernel, padding=kernel // 2, groups=draw(st.sampled_from([1, 1, 4])))


def layer(draw, kind: str) -> nn.Module:
    """One weight layer followed by an activation, sometimes a norm or dropout."""
    parts = [conv(draw) if kind == "image" else dense(draw), activation(draw)]
    extra = draw(st.sampled_from(["none", "none", "norm", "dropout"]))
    if extra == "norm":
        norms = (
            [nn.BatchNorm2d(WIDTH), nn.GroupNorm(4, WIDTH)]
            if kind == "image"
            else [nn.LayerNorm(WIDTH), nn.RMSNorm(WIDTH)]
        )
        parts.insert(draw(st.integers(0, 1)), norms[draw(st.integers(0, 1))])
    if extra == "dropout":
        parts.append(nn.Dropout(draw(st.sampled_from([0.1, 0.5]))))
    return nn.Sequential(*parts)


def block(draw, kind: str, special: list[str]) -> nn.Module:
    """One block; what is in `special` comes once at most.

    A pooling of pooled maps, or attention to what attention mixed in heads of 12 features, has local or low-rank
    dependence that moments per axis do not describe.
    """

    def contraction() -> nn.Module:
        return conv(draw) if kind == "image" else dense(draw)

    axis = 1 if kind == "image" else -1
    back = nn.Conv2d(2 * WIDTH, WIDTH, 1) if kind == "image" else nn.Linear(2 * WIDTH, WIDTH)
    shape = draw(st.sampled_from(["plain", "residual", "concat", "gated", "branched", *special]))
    if shape in special:
        special.remove(shape)
    if shape == "residual":
        return Sum(nn.Sequential(layer(draw, kind), contraction()))
    if shape == "concat":
        return Join(axis, back, layer(draw, kind), layer(draw, kind))
    if shape == "gated":
        return Gate(contraction(), contraction())
    if shape == "branched":
        return Sum(nn.Sequential(layer(draw, kind), contraction()), nn.Sequential(layer(draw, kind), contraction()))
    if shape == "pool":
        return nn.Sequential(contraction(), draw(st.sampled_from([nn.AvgPool2d(2), nn.MaxPool2d(2)])))
    if shape == "attention":
        return Sum(nn.Sequential(nn.LayerNorm(WIDTH), SelfAttention()))
    return layer(draw, kind)


INPUTS = {"rows": (BATCH, WIDTH), "tokens": (BATCH, 6, WIDTH), "image": (BATCH, WIDTH, 8, 8)}


@st.composite
def networks(draw) -> tuple[nn.Module, tuple[int, ...]]:
    kind = draw(st.sampled_from(sorted(INPUTS)))
    special = {"image": ["pool"], "tokens": ["attention"]}.get(kind, [])
    blocks = [block(draw, kind, special) for _ in range(draw(st.integers(1, 4)))]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten()] if kind == "image" and draw(st.booleans()) else []
    if head or kind != "image":
        head.append(nn.Linear(WIDTH, 32))
    return nn.Sequential(*blocks, *head), INPUTS[kind]


def measured(model: nn.Module, plan: Plan, inputs: tuple[int, ...]) -> dict[tuple, tuple[float, float]]:
    """Mean and standard error over seeds of the variance of every tensor."""
    found: dict[tuple, list[float]] = {}
    for seed in range(SEEDS):
        plan.apply(model, seed=seed)
        for row in autoinit.measure(model, inputs, seed=seed).rows:
            t = row.predicted
            found.setdefault((t.module, t.op, t.call, t.output), []).append(row.variance)
    return {k: (float(np.mean(v)), float(np.std(v, ddof=1)) / math.sqrt(SEEDS)) for k, v in found.items()}


EXAMPLES = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)


@settings(EXAMPLES, max_examples=20)
@given(networks())
def test_random_network(drawn) -> None:
    as_measured(*drawn)


@pytest.mark.thorough
@settings(EXAMPLES, max_examples=60)
@given(networks())
def test_more_random_networks(drawn) -> None:
    as_measured(*drawn)


def as_measured(model: nn.Module, inputs: tuple[int, ...]) -> None:
    plan = autoinit.plan(model, inputs)
    assert not plan.unreached()
    assert not [n for n in plan.notes if n.kind in ("passed", "simulated", "warning")], plan.notes
    numbers = [v for t in plan.tensors for v in (t.mean, t.variance, t.tensor_variance, t.second, *t.correlation)]
    numbers += [part.std for p in plan.parameters for part in p.parts]
    assert all(math.isfinite(v) for v in numbers)
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict(), allow_nan=False))) == plan
    real = measured(model, plan, inputs)
    for t in plan.tensors:
        key = (t.module, t.op, t.call, t.output)
        if key not in real or t.tensor_variance < 1e-9:
            continue
        mean, error = real[key]
        assert abs(mean - t.tensor_variance) <= 5 * error + MODEL_ERROR * t.tensor_variance, (
            f"{key}: predicted {t.tensor_variance:.4g}, measured {mean:.4g} +- {error:.2g}\n{model}"
        )
