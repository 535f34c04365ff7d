"""Cases of structure that a naive initializer stumbles over, and whole models against their anchors.

Keyword branches, layers used twice, odd names and outputs, depth, seeds, pretrained and compiled parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402
from tests.wrapped_functions import Call  # noqa: E402

# --- structure ------------------------------------------------------------------------------------


def test_branch_as_a_keyword_argument() -> None:
    class Merge(nn.Module):
        def forward(self, x: Any, *, other: Any) -> Any:
            return x + other

    layers = {"a": nn.Linear(32, 32), "b": nn.Linear(32, 32), "merge": Merge()}
    model = Call(lambda x, a, b, merge: merge(a(x), other=b(x)), **layers)
    plan = autoinit.plan(model, (64, 32))
    assert {plan["a.weight"].action, plan["b.weight"].action} == {"set"} and not plan.unreached()
    assert plan.tensors[plan.outputs[0]].second == pytest.approx(2.0)


def test_layer_applied_to_its_own_output() -> None:
    model = Call(lambda x, map: map(map(map(x))), map=nn.Linear(64, 64))
    plan = autoinit.initialize(model, (8, 64))
    assert len({t.call for t in plan.weight_layers}) == 3
    assert all(t.second == pytest.approx(1.0, rel=1e-6) for t in plan.weight_layers)


def test_names_nesting_and_outputs() -> None:
    """A layer named "1", nested Sequentials, a dict of outputs, and sizes that are not known."""
    inner = nn.Sequential(nn.Sequential(nn.Linear(16, 16), nn.ReLU()), nn.Sequential())
    inner.add_module("weight", nn.Linear(16, 16))
    model = Call(lambda x, body: {"a": body(x), "rest": [body(x).relu(), None]}, body=inner)
    plan = autoinit.initialize(model, Input((None, 16)))
    assert plan["body.weight.weight"].action == "set" and len(plan.outputs) == 2
    assert not plan.unreached()


def test_recurrent_with_sequences_and_states() -> None:
    model = Call(lambda x, cell, head: head(cell(x)[0] + cell(x)[1][0].transpose(0, 1)),
                 cell=nn.LSTM(16, 32, batch_first=True), head=nn.Linear(32, 16))  # fmt: skip
    plan = autoinit.initialize(model, (8, 6, 16))
    assert plan["head.weight"].action == "set" and not plan.warnings


# --- depth, seeds, pretrained parts ---------------------------------------------------------------


def test_three_hundred_layers() -> None:
    layers = [m for _ in range(300) for m in (nn.Linear(16, 16), nn.Tanh())]
    plan = autoinit.plan(nn.Sequential(*layers), (8, 16))
    assert len(plan.weight_layers) == 300
    assert all(t.second == pytest.approx(1.0, rel=1e-6) for t in plan.weight_layers)


@pytest.mark.slow
def test_eight_hundred_and_twelve_layers() -> None:
    from benchmarks.models import MODELS

    spec = MODELS["preact_resnet812"]
    plan = autoinit.plan(spec.build(), spec.inputs)
    assert len(plan.weight_layers) >= 812 and not plan.unreached()


def test_same_seed_same_weights() -> None:
    def weights(seed: int, before: int) -> list[Any]:
        torch.manual_seed(before)  # what the global generator holds must not matter
        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 4))
        autoinit.initialize(model, (2, 3, 8, 8), seed=seed)
        return [p.detach() for p in model.parameters()]

    assert all(torch.equal(a, b) for a, b in zip(weights(3, 1), weights(3, 2), strict=True))
    assert not torch.equal(weights(3, 1)[0], weights(4, 1)[0])


def test_pretrained_parts_are_kept() -> None:
    """Weights, running statistics, optimizer state and parameter objects of a trained backbone stay as they are."""
    torch.manual_seed(0)
    body = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    model = nn.Sequential(body, nn.Linear(16, 10))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        model(torch.randn(8, 3, 8, 8) * 3 + 1).square().mean().backward()
        optimizer.step()
    state = {k: v.clone() for k, v in body.state_dict().items()}
    parameters, moments = list(model.parameters()), optimizer.state_dict()
    plan = autoinit.initialize(model, (8, 3, 8, 8), skip="0.*")
    assert all(torch.equal(v, state[k]) for k, v in body.state_dict().items())
    assert all(a is b for a, b in zip(parameters, model.parameters(), strict=True))
    assert str(optimizer.state_dict()) == str(moments)
    assert plan["1.weight"].action == "set" and plan["0.0.weight"].reason == "skipped by name"


@pytest.mark.filterwarnings("ignore:Using `torch.compile")
def test_compiled_model_keeps_its_identity() -> None:
    """`torch.compile` wraps the module: planning sees through it."""
    inner = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))
    compiled = torch.compile(inner)
    plan = autoinit.initialize(compiled, (8, 16))
    assert len(plan.weight_layers) == 2
    # 256 weights: the standard error of a standard deviation is sqrt(1/512) = 4.4 %
    assert float(inner[0].weight.detach().std()) == pytest.approx(0.25, rel=5 * 0.044)


# --- whole models ---------------------------------------------------------------------------------

ANCHORS: Sequence[tuple[str, float, float]] = [
    ("allcnnc", 0.98, 0.38),
    ("preact_resnet56_bottleneck_nonorm", 0.76, 0.14),
    ("preact_resnet56_nonorm", 0.48, 0.11),
    ("preact_resnet56", 0.99, 0.56),
    ("preact_resnet164_nonorm", 0.47, 0.04),
    ("mobilenet_se", 0.85, 0.46),
    ("vit12", 0.32, 0.32),
    ("transformer_encoder_decoder", 0.32, 0.32),
    ("lstm_classifier", 0.0, 0.0),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "twice", "tenth"), ANCHORS, ids=[a[0] for a in ANCHORS])
def test_whole_models_beat_the_anchors(name: str, twice: float, tenth: float) -> None:
    """Share of weight layers whose variance, in training mode and five seeds, is within 2x and within 10 % of 1."""
    from benchmarks.models import MODELS
    from benchmarks.trials import built, inputs_of
    from benchmarks.trials import measured as run

    spec = MODELS[name]
    inputs, model = inputs_of(spec), built(spec, 0)
    plan = autoinit.plan(model, inputs)
    rows = [r for r in plan.tensors if r.target is not None]
    variances = np.array([run(plan.apply(model, seed=s), inputs, rows, s)[:, 1] for s in range(5)])
    mean = variances.mean(axis=0)
    assert float(np.mean((mean > 0.5) & (mean < 2.0))) > twice
    assert float(np.mean((variances > 0.9) & (variances < 1.1))) > tenth
