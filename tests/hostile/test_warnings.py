"""The library speaks up, once per call and on the user's line; what the user asked for is no reason to."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import AutoInitWarning, Input  # noqa: E402
from tests.wrapped_functions import Between  # noqa: E402

X = (32, 16)
ENTRY_POINTS = [autoinit.plan, autoinit.initialize, autoinit.check, autoinit.measure]


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))


def frozen() -> nn.Module:
    return mlp().requires_grad_(False)


class Unused(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = nn.Linear(16, 4), nn.Linear(16, 4)

    def forward(self, x: Any) -> Any:
        return self.used(x)


def heard(call: Any) -> list[Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if issubclass(w.category, AutoInitWarning)]


SPEAKS = {
    "only that matches nothing": (mlp, {"only": "nosuch.*"}, "none of 4 parameters is set (4 skipped by name)"),
    "the pattern of only": (mlp, {"only": "nosuch.*"}, "'nosuch.*' of 'only' matches no parameter"),
    "skip that matches nothing": (mlp, {"skip": "haed.*"}, "'haed.*' of 'skip' matches no parameter"),
    "variance for nothing": (mlp, {"variance": {"haed": 2.0, "*": 1.0}}, "'haed' of 'variance' matches no parameter"),
    "skip of everything": (mlp, {"skip": "*"}, "none of 4 parameters is set (4 skipped by name)"),
    "everything frozen": (frozen, {}, "none of 4 parameters is set (4 frozen)"),
    "one layer that is not reached": (Unused, {}, "2 of 4 parameters were not reached"),
    "an op without a rule": (lambda: Between(lambda x: torch.cdist(x, x)[:, :16], 16, features=16), {}, "simulated"),
    "a quotient without moments": (lambda: Between(lambda x: x / (x + x[:, :1]), 16, features=16), {}, "simulated"),
    "a signal that is capped": (lambda: Between(lambda x: torch.exp(torch.exp(x)), 16, features=16), {}, "warning"),
    "a signal that is zero": (lambda: Between(lambda x: x * 0, 16, features=16), {}, "1 warning"),
    "a value that is guessed": (lambda: Between(lambda x: x if x.sum() > 0 else -x, 16, features=16), {}, "1 warning"),
}


@pytest.mark.parametrize("name", SPEAKS)
def test_it_speaks_up(name: str) -> None:
    make, options, text = SPEAKS[name]
    for function in (autoinit.plan, autoinit.initialize):
        model = make()
        said = heard(lambda model=model, function=function: function(model, X, **options))
        assert len(said) == 1, [str(w.message) for w in said]
        assert text in str(said[0].message) and "\n" not in str(said[0].message)
        assert "print(plan)" in str(said[0].message) and Path(said[0].filename).name == Path(__file__).name
        assert not heard(lambda model=model, function=function: function(model, X, warn=False, **options))


@pytest.mark.parametrize("function", ENTRY_POINTS)
def test_once_per_call_on_the_line_of_the_user(function: Any) -> None:
    model = Unused()
    said = heard(lambda: function(model, X))
    assert len(said) == 1 and Path(said[0].filename).name == Path(__file__).name
    assert said[0].lineno == test_once_per_call_on_the_line_of_the_user.__code__.co_firstlineno + 3
    assert "Unused: " in str(said[0].message) and "2 of 4 parameters were not reached" in str(said[0].message)
    assert not heard(lambda: function(model, X, warn=False))


def half_frozen() -> nn.Module:
    model = Unused()
    model.unused.requires_grad_(False)
    return model


SILENT = {
    "a plain network": (mlp, {}),
    "a part that is frozen": (lambda: nn.Sequential(frozen(), nn.Linear(4, 4)), {}),
    "a part that is skipped": (mlp, {"skip": "0.*"}),
    "a part that is chosen": (mlp, {"only": "2.*"}),
    "a variance for a layer": (mlp, {"variance": {"2": 2.0, "0.weight": 3.0, "*": 1.0}}),
    "a skipped part that is not reached": (Unused, {"skip": "unused.*"}),
    "a frozen part that is not reached": (half_frozen, {}),
    "weights of zero": (lambda: nn.Sequential(mlp(), _zero(nn.Linear(4, 4))), {}),
    "norms and dropout": (lambda: nn.Sequential(nn.Linear(16, 16), nn.LayerNorm(16), nn.Dropout(0.5), mlp()), {}),
    "centring biases": (mlp, {"center": "bias"}),
    "a recurrent layer": (lambda: nn.LSTM(16, 8), {}),
    "attention": (lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), {}),
    "centred activations": (mlp, {"center": "activation"}),
}


def _zero(layer: nn.Linear) -> nn.Linear:
    nn.init.zeros_(layer.weight)
    return layer


@pytest.mark.parametrize("name", SILENT)
def test_it_is_silent(name: str) -> None:
    make, options = SILENT[name]
    shape = (4, 8, 16) if name == "attention" else X
    for function in ENTRY_POINTS:
        said = heard(lambda function=function: function(make(), shape, **options))
        assert not said, str(said[0].message)


def test_unlike_inputs_are_no_reason() -> None:
    assert not heard(lambda: autoinit.plan(mlp(), Input(X, variance=[1.0] * 8 + [1e4] * 8)))


def test_parameters_that_are_frozen_by_the_time_a_plan_is_applied() -> None:
    model = mlp()
    plan = autoinit.plan(model, X)
    model[0].requires_grad_(False)
    said = heard(lambda: plan.apply(model))
    assert len(said) == 1 and "2 of 4 parameters that the plan sets were left alone: frozen now" in str(said[0].message)
    assert Path(said[0].filename).name == Path(__file__).name
    assert not heard(lambda: plan.apply(model, warn=False))


def test_a_plan_that_sets_nothing() -> None:
    model = mlp()
    plan = autoinit.plan(model, X, only="nosuch.*", warn=False)
    said = heard(lambda: plan.apply(model))
    assert len(said) == 1 and "none of 4 parameters is set" in str(said[0].message)


def test_a_warning_can_be_made_an_error() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", AutoInitWarning)
        with pytest.raises(AutoInitWarning):
            autoinit.plan(Unused(), X)


def test_a_script_hears_it_by_default(tmp_path: Path) -> None:
    """Shown without any filter of the user's, as warnings of users' code are."""
    import subprocess
    import sys

    script = tmp_path / "script.py"
    script.write_text("import torch, autoinit\nm = torch.nn.Linear(4, 4)\nautoinit.initialize(m, (8, 4), only='x')\n")
    source = str(Path(autoinit.__file__).parents[1])
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env={"PYTHONPATH": source})
    assert done.returncode == 0 and "script.py:3: AutoInitWarning: Linear: none of 2 parameters is set" in done.stderr


def test_wrapped_models() -> None:
    """What wraps a model is walked with it; what hides its parameters is told of."""

    class Hides(nn.Module):
        def __init__(self, inner: nn.Module) -> None:
            super().__init__()
            self.inner = [inner]
            self.own = nn.Parameter(torch.ones(1))

        def forward(self, x: Any) -> Any:
            return self.inner[0](x) * self.own

    assert not heard(lambda: autoinit.plan(nn.DataParallel(mlp()), X))
    assert "none of 1 parameter is set" in str(heard(lambda: autoinit.plan(Hides(mlp()), X))[0].message)


def test_row_a_sharded_model_is_told_of(tmp_path: Path) -> None:
    distributed = pytest.importorskip("torch.distributed")
    if not distributed.is_available():
        pytest.skip("torch without torch.distributed")
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import Shard, distribute_module, distribute_tensor

    store = distributed.FileStore(str(tmp_path / "store"), 1)
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        mesh = init_device_mesh("cpu", (1,))

        def shard(name: str, module: nn.Module, mesh: Any) -> None:
            for key, p in list(module.named_parameters(recurse=False)):
                module.register_parameter(key, nn.Parameter(distribute_tensor(p, mesh, [Shard(0)])))

        for model in (distribute_module(mlp(), mesh, shard), fully_shard(mlp(), mesh=mesh)):
            try:
                said = heard(lambda model=model: autoinit.initialize(model, X))
            except autoinit.AutoInitError as error:
                assert error.fix
            else:
                done = {p.action for p in autoinit.plan(model, X, warn=False).parameters} <= {"set", "zero"}
                assert said or done
    finally:
        distributed.destroy_process_group()
