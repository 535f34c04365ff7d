"""Mistakes of the first hour: each error says where, what was received, why it is wrong, and what to do instead."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.errors import AutoInitError, AutoInitWarning, InputError, ModelError, TraceError  # noqa: E402

X = torch.randn(8, 16, generator=torch.Generator().manual_seed(0))


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(16, 4)

    def forward(self, x: Any, scale: Any, *more: Any, bias: float = 0.0) -> Any:
        return self.layer(x) * scale + bias


class Words(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.layer = nn.Embedding(50, 16), nn.Linear(16, 4)

    def forward(self, ids: Any) -> Any:
        return self.layer(self.table(ids))


class Orphan(nn.Module):
    def __init__(self) -> None:
        self.size = 3


class Headless(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(16, 4)


def in_inference_mode() -> nn.Module:
    with torch.inference_mode():
        return mlp()


MISTAKES: dict[str, tuple[Any, Any, type[AutoInitError], str, str]] = {
    "a class": (lambda: Two, X, ModelError, "the class Two", "what Two(...) makes"),
    "a function that makes one": (lambda: mlp, X, ModelError, "the function mlp", "what mlp(...) returns"),
    "weights": (lambda: mlp().state_dict(), X, ModelError, "OrderedDict", "torch.nn.Module"),
    "model and inputs the wrong way round": (lambda: X, mlp(), ModelError, "Tensor", "torch.nn.Module"),
    "no super().__init__()": (Orphan, X, ModelError, "Orphan", "super().__init__()"),
    "made in inference mode": (in_inference_mode, X, ModelError, "inference_mode", "outside"),
    "no forward": (Headless, X, TraceError, "(8, 16)", "that has a forward"),
    "a list of modules": (lambda: nn.ModuleList([mlp()]), X, TraceError, "(8, 16)", "nn.Sequential"),
    "one input of two": (Two, X, TraceError, "(8, 16)", "forward takes (x, scale, *more, bias=...)"),
    "a name that forward has not": (mlp, {"x": X}, TraceError, "(8, 16)", "forward takes (input)"),
    "a batch with its labels": (mlp, (X, torch.zeros(8)), TraceError, "(8,)", "forward takes (input)"),
    "a shape for words": (Words, (8, 12), TraceError, "(8, 12)", "autoinit.Input((8, 12), vocabulary=50)"),
    "numbers for words": (Words, X, TraceError, "torch.float32", "batch.long()"),
    "a text for words": (Words, "a sentence", InputError, "a sentence", "a tensor, a shape"),
    "a shape as text": (mlp, "8x16", InputError, "8x16", "a shape such as"),
    "single for double": (lambda: mlp().double(), X, TraceError, "float32", "inputs.to(torch.float64)"),
    "single for half": (lambda: mlp().half(), X, TraceError, "float32", "inputs.to(torch.float16)"),
    "integers for numbers": (mlp, X.long(), TraceError, "int64", "inputs.to(torch.float32)"),
    "pixels": (mlp, np.zeros((8, 16), "uint8"), TraceError, "uint8", "inputs.to(torch.float32)"),
    "complex weights": (lambda: nn.Linear(16, 4, dtype=torch.cfloat), (8, 16), TraceError, "(8, 16)", "dtype"),
    "no batch": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 2)), (3, 8, 8), TraceError,
                 "(3, 8, 8)", "batch included"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_what_to_do_instead(name: str) -> None:
    make, inputs, kind, received, fix = MISTAKES[name]
    for function in (autoinit.plan, autoinit.initialize, autoinit.check, autoinit.measure):
        with pytest.raises(kind) as caught:
            function(make(), inputs)
        error = caught.value
        assert error.where and error.why
        assert received in str(error.received) and fix in error.fix, str(error)


@pytest.mark.parametrize(("model", "fixed"), [(Words, autoinit.Input((8, 12), vocabulary=50)), (Two, (X, X[:, :4]))])
def test_it_helps(model: Any, fixed: Any) -> None:
    assert not autoinit.initialize(model(), fixed).unreached()


def test_preflight_of_a_model_that_is_none() -> None:
    with pytest.raises(ModelError, match="constructor"):
        autoinit.check(Orphan())


def test_what_is_made_in_inference_mode_can_be_used_there() -> None:
    with torch.inference_mode():
        assert not autoinit.initialize(mlp(), X).unreached()


@pytest.mark.parametrize("option", ["skip", "only"])
def test_a_layer_in_place_of_its_parameters(option: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AutoInitWarning)
        plan = autoinit.plan(mlp(), X, **{option: "2"})  # type: ignore[arg-type]
    assert "'2' of" in str(caught[0].message) and "'2.*' would" in str(caught[0].message)
    assert any("'2.*' would" in note.message for note in plan.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AutoInitWarning)
        autoinit.plan(mlp(), X, **{option: "2.*"})  # type: ignore[arg-type]
