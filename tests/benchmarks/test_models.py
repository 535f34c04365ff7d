"""The benchmark architectures build, run, and are what their names say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from autoinit.errors import OptionError  # noqa: E402
from autoinit.labs.models import preactivation_resnet  # noqa: E402
from benchmarks.models import MODELS, Tokens  # noqa: E402

FINGERPRINTS = json.loads((Path(__file__).parent / "fingerprints.json").read_text(encoding="utf-8"))


def names(*, heavy_as_slow: bool = True) -> list:
    """Every model, the heavy ones marked slow."""
    return [
        pytest.param(name, marks=pytest.mark.slow) if spec.heavy and heavy_as_slow else name
        for name, spec in MODELS.items()
    ]


def parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def weight_layers(model: nn.Module) -> int:
    """Convolutions and dense layers on the main path: 1x1 shortcuts and channel gates do not count."""
    return sum(
        isinstance(module, nn.Conv2d | nn.Linear)
        for name, module in model.named_modules()
        if not {"shortcut", "squeeze", "excite"} & set(name.split("."))
    )


@pytest.mark.parametrize("name", names())
def test_forward_is_finite(name: str) -> None:
    spec = MODELS[name]
    torch.manual_seed(0)
    model = spec.build()
    inputs = spec.example(seed=1)
    with torch.no_grad():
        output = model(*inputs)
    assert output.shape[0] == inputs[0].shape[0]
    assert output.isfinite().all()
    assert output.std() > 0


@pytest.mark.parametrize("name", names(heavy_as_slow=False))
def test_spec_is_well_formed(name: str) -> None:
    spec = MODELS[name]
    assert spec.name == name
    assert spec.note
    first, again, other = spec.example(seed=1), spec.example(seed=1), spec.example(seed=2)
    for declared, x, y, z in zip(spec.inputs, first, again, other, strict=True):
        assert torch.equal(x, y)
        assert not torch.equal(x, z)
        if isinstance(declared, Tokens):
            assert x.shape == declared.shape
            assert x.dtype == torch.long
            assert 0 <= x.min() <= x.max() < declared.vocabulary
        else:
            assert x.shape == declared
            assert x.dtype == torch.float32


@pytest.mark.parametrize("name", MODELS)
def test_names_and_shapes_are_those_of_the_published_figures(name: str) -> None:
    """Names decide the drawn values: another name is another figure in benchmarks/results."""
    with torch.device("meta"):
        model = MODELS[name].build()
    rows = [f"{key} {'x'.join(map(str, value.shape))}" for key, value in model.named_parameters()]
    assert hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16] == FINGERPRINTS[name]
    assert parameters(model) == MODELS[name].size


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("allcnnc", 9),
        ("preact_resnet56", 56),
        ("preact_resnet56_nonorm", 56),
        ("preact_resnet56_bottleneck", 56),
        ("preact_resnet164", 164),
        ("preact_resnet164_nonorm", 164),
        pytest.param("preact_resnet812", 812, marks=pytest.mark.slow),
        pytest.param("preact_resnet812_nonorm", 812, marks=pytest.mark.slow),
        ("cnn40_relu", 40 + 1),
        ("mlp_dropout", 20),
        ("mlp_selu", 20),
        ("densenet", 100),
        ("se_resnet", 20),
        pytest.param("resnet50", 50, marks=pytest.mark.slow),
    ],
)
def test_depth_is_that_of_the_name(name: str, depth: int) -> None:
    assert weight_layers(MODELS[name].build()) == depth


@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("allcnnc", 1.37),  # 1.4 M in Springenberg et al., table 4
        ("preact_resnet56", 0.86),  # 0.85 M in He et al. 2015, plus the two 1x1 shortcuts
        ("preact_resnet164", 1.70),  # 1.7 M in He et al. 2016
        ("densenet", 0.77),  # 0.8 M in Huang et al., table 2
        pytest.param("resnet50", 25.56, marks=pytest.mark.slow),
    ],
)
def test_parameter_count_is_the_published_one(name: str, millions: float) -> None:
    assert parameters(MODELS[name].build()) / 1e6 == pytest.approx(millions, abs=0.01)


@pytest.mark.parametrize("name", ["preact_resnet56", "preact_resnet164", "vit12", "unet"])
def test_nonorm_has_no_normalization(name: str) -> None:
    norms = (nn.BatchNorm2d, nn.LayerNorm)
    assert any(isinstance(m, norms) for m in MODELS[name].build().modules())
    assert not any(isinstance(m, norms) for m in MODELS[f"{name}_nonorm"].build().modules())


def test_gpt_is_causal_and_tied() -> None:
    torch.manual_seed(0)
    model = MODELS["gpt_swiglu"].build()
    assert model.head.weight is model.embedding.weight
    (tokens,) = MODELS["gpt_swiglu"].example()
    changed = tokens.clone()
    changed[:, 40:] = (changed[:, 40:] + 1) % 512
    with torch.no_grad():
        before, after = model(tokens), model(changed)
    torch.testing.assert_close(before[:, :40], after[:, :40])
    assert not torch.allclose(before[:, 40:], after[:, 40:])


def test_resnet_refuses_an_impossible_depth() -> None:
    with pytest.raises(OptionError, match=r"9n \+ 2"):
        preactivation_resnet(57, bottleneck=True)
    with pytest.raises(OptionError, match=r"6n \+ 2"):
        preactivation_resnet(57, bottleneck=False)
