"""Whatever is wrong with what is given: a clear error or a warning in the plan, and a model that is what it was."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402
from autoinit.errors import AutoInitError, InputError, ModelError, OptionError, PlanError, TraceError  # noqa: E402
from tests.wrapped_functions import Between  # noqa: E402

X = (8, 16)


def snapshot(model: nn.Module) -> dict[str, bytes]:
    values = {n: t.detach().numpy().tobytes() for n, t in model.state_dict().items()}
    return values | {"modes": bytes(m.training for m in model.modules())}


def assert_complete(error: AutoInitError) -> None:
    """Every error says where, what was received, why, and how to mend it."""
    assert error.where and error.why and error.fix and error.received is not None
    for part in (error.where, error.why, error.fix, str(error.received)):
        assert part in str(error)


ENTRY_POINTS = [autoinit.plan, autoinit.initialize, autoinit.check, autoinit.measure]


def refused(model, inputs, kind: type, text: str, entry_points=ENTRY_POINTS, **options) -> AutoInitError:
    before = snapshot(model) if isinstance(model, nn.Module) else {}
    for function in entry_points:
        with pytest.raises(kind, match=text) as caught:
            function(model, inputs, **options)
        assert_complete(caught.value)
    assert (snapshot(model) if isinstance(model, nn.Module) else {}) == before
    return caught.value


# --- models -------------------------------------------------


@pytest.mark.parametrize("thing", [3, "model", {}, nn.Linear, torch.zeros(3), None, lambda x: x])
def test_not_a_model(thing) -> None:
    error = refused(thing, X, ModelError, "not a model")
    assert getattr(thing, "__name__", type(thing).__name__) in str(error)


def test_no_parameters() -> None:
    refused(nn.Sequential(nn.ReLU()), X, ModelError, "no parameters")


def test_lazy_parameters() -> None:
    with pytest.raises(ModelError, match="lazy") as caught:
        autoinit.plan(nn.Sequential(nn.LazyLinear(4)), X)
    assert caught.value.where == "0.weight"


def test_everything_frozen_is_a_warning() -> None:
    model = nn.Linear(16, 16).requires_grad_(False)
    before = snapshot(model)
    plan = autoinit.initialize(model, X)
    assert any("no parameter is set" in n.message for n in plan.warnings)
    assert snapshot(model) == before


# --- inputs -------------------------------------------------


def deep() -> nn.Module:
    return nn.Sequential(nn.Linear(16, 16), nn.Sequential(nn.ReLU(), nn.Linear(5, 5)))


def test_wrong_shape_names_the_layer() -> None:
    error = refused(deep(), X, TraceError, "forward failed")
    assert error.where == "layer '1.1'"
    assert isinstance(error.__cause__, RuntimeError)


def test_python_error_names_the_layer() -> None:
    class Raises(nn.Module):
        def forward(self, x):
            raise KeyError("nothing here")

    error = refused(nn.Sequential(nn.Linear(16, 16), Raises()), X, TraceError, "nothing here")
    assert error.where == "layer '1'"


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_wrong_dtype(dtype: torch.dtype) -> None:
    error = refused(nn.Sequential(nn.Linear(16, 16)), torch.ones(8, 16, dtype=dtype), TraceError, "dtype")
    assert error.where == "layer '0'" and str(dtype) in str(error)


def test_floats_for_an_embedding() -> None:
    refused(nn.Sequential(nn.Embedding(4, 8)), (3, 3), TraceError, "Long")


def test_index_out_of_range() -> None:
    error = refused(nn.Sequential(nn.Embedding(4, 8)), torch.full((3, 3), 9), TraceError, "out of range")
    assert error.where == "layer '0'"


def test_integers_without_a_vocabulary() -> None:
    refused(nn.Embedding(4, 8), Input((3, 3), dtype="int64"), InputError, "range of its values")


@pytest.mark.parametrize("inputs", [None, "8,16", 5, object(), [object()], {"input": object()}])
def test_not_an_input(inputs) -> None:
    without = [f for f in ENTRY_POINTS if inputs is not None or f is not autoinit.check]  # that is a preflight
    refused(nn.Linear(16, 16), inputs, InputError, "input", without)


def test_batch_with_nan() -> None:
    batch = torch.zeros(8, 16)
    batch[0, :3] = math.nan
    error = refused(nn.Linear(16, 16), batch, InputError, "NaN", [autoinit.plan, autoinit.initialize, autoinit.check])
    assert "3 such values" in str(error)


def test_unknown_keyword_of_forward() -> None:
    refused(nn.Linear(16, 16), {"nonsense": X}, TraceError, "nonsense")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"shape": (-1, 3)}, "not negative"),
        ({"shape": 5}, "sequence of sizes"),
        ({"shape": X, "variance": -1.0}, "not negative"),
        ({"shape": X, "mean": math.inf}, "finite"),
        ({"shape": X, "vocabulary": 0}, "at least one word"),
        ({"shape": X, "correlation": 1.5}, "between -1 and 1"),
        ({"shape": X, "correlation": {4: 0.5}}, "2 axes"),
    ],
)
def test_input_descriptions(arguments, text: str) -> None:
    with pytest.raises(InputError, match=text) as caught:
        Input(**arguments)
    assert_complete(caught.value)


# --- options -------------------------------------------------


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"varianc": 2.0}, "did you mean 'variance'"), ({"distributions": "normal"}, "did you mean 'distribution'"),
        ({"nonsense": 1}, "known options"), ({"variance": -1}, "finite positive"), ({"variance": "1"}, "positive"),
        ({"variance": math.nan}, "finite positive"), ({"distribution": "cauchy"}, "truncated_normal"),
        ({"seed": 1.5}, "integer"), ({"seed": True}, "integer"), ({"training": "yes"}, "True, False"),
        ({"keep_zeros": 3}, "True, False"), ({"skip": 3}, "name patterns"), ({"only": [3]}, "name patterns"),
        ({"center": "mean"}, "'bias'"), ({"rules": 3}, "mapping"), ({"rules": {"lineare": print}}, "no such op"),
    ],
)  # fmt: skip
def test_options(options, text: str) -> None:
    refused(nn.Linear(16, 16), X, OptionError, text, **options)


def test_pattern_that_matches_nothing_is_a_warning() -> None:
    plan = autoinit.plan(nn.Linear(16, 16), X, skip="haed.*")
    assert any("'haed.*'" in n.message for n in plan.warnings)


@pytest.mark.parametrize("repeats", [0, -1, 1.5])
def test_repeats(repeats) -> None:
    refused(nn.Linear(16, 16), X, OptionError, "positive integer", [autoinit.measure], repeats=repeats)


# --- signals that misbehave -------------------------------------------------

ILL = {
    "exp of a huge variance": (lambda x: torch.exp(40 * x), "overflows"),
    "exp of exp": (lambda x: torch.exp(torch.exp(x)), "overflows"),
    "log of negatives": (torch.log, "not finite"),
    "root of negatives": (torch.sqrt, "not finite"),
    "1/x": (torch.reciprocal, "not integrable"),
    "x / x^2": (lambda x: x / (x * x), "not integrable"),
    "tan": (torch.tan, "not integrable"),
    "division by zero": (lambda x: x / 0.0, "not finite"),
}


@pytest.mark.parametrize("name", ILL)
def test_activation_without_moments_is_a_warning(name: str) -> None:
    function, text = ILL[name]
    model = Between(function, 16, features=16)
    before = snapshot(model)
    plan = autoinit.plan(model, X)
    told = [n for n in plan.warnings if text in n.message]
    assert told and len(told) <= 2
    assert all(n.place.startswith("(root)") for n in told)
    assert all(math.isfinite(v) for t in plan.tensors for v in (t.mean, t.variance, t.second, t.tensor_variance))
    assert all(math.isfinite(part.std) for p in plan.parameters for part in p.parts)
    assert snapshot(model) == before
    plan.apply(model)
    assert all(p.isfinite().all() for p in model.parameters())


def test_harmless_chains_are_not_warned_of() -> None:
    """log(exp(40 x)) is 40 x: the chain is one function, though its middle overflows."""
    plan = autoinit.plan(Between(lambda x: torch.log(torch.exp(40 * x)), 16, features=16), X)
    assert plan["last.weight"].std == pytest.approx(1 / (4 * 40), rel=1e-3)


@pytest.mark.parametrize(
    ("function", "inputs"),
    [(lambda x: x * 0, X), (torch.relu, Input(X, variance=0.0))],
)
def test_zero_signal_is_a_warning(function, inputs) -> None:
    plan = autoinit.plan(Between(function, 16, features=16), inputs)
    assert any("is zero" in n.message and n.place == "last: aten.linear" for n in plan.warnings)
    assert plan["last.weight"].std == pytest.approx(0.25)


def test_constant_signal_is_no_problem() -> None:
    """Every entry is 3: E[x^2] = 9 is all that a layer needs."""
    plan = autoinit.plan(Between(torch.relu, 16, features=16), Input(X, mean=3.0, variance=0.0))
    assert plan["first.weight"].std == pytest.approx(1 / 12)
    assert not plan.warnings


# --- forwards that need values, weights that are broken -------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[: int(x.abs().sum().item()) + 1],
        lambda x: x * sum(x[0].tolist()),
        lambda x: x if x.sum() > 0 else -x,
    ],
)
def test_forward_that_needs_values_is_told(function) -> None:
    plan = autoinit.plan(Between(function, 16, features=16), X)
    assert any("guessed" in n.message for n in plan.warnings)


def test_forward_that_leaves_torch() -> None:
    model = Between(lambda x: x * torch.as_tensor(x.detach().numpy()), 16, features=16)
    error = refused(model, X, TraceError, "numpy", [autoinit.plan, autoinit.initialize, autoinit.check])
    assert "autoinit.rule" in error.fix


def broken() -> Between:
    model = Between(torch.relu, 16, features=16)
    with torch.no_grad():
        model.first.weight[0, :3] = math.nan
        model.last.weight[1, 1] = math.inf
    return model


def test_nan_in_weights_that_are_replaced_is_fine() -> None:
    model = broken()
    plan = autoinit.initialize(model, X)
    assert not plan.warnings
    assert all(p.isfinite().all() for p in model.parameters())


def test_nan_in_weights_that_count_is_a_warning() -> None:
    model = broken()
    before = snapshot(model)
    checked = autoinit.check(model, X)
    assert [(n.place, n.message.split()[0]) for n in checked.warnings] == [("first.weight", "3"), ("last.weight", "1")]
    model.first.requires_grad_(False)
    plan = autoinit.plan(model, X)
    assert [n.place for n in plan.warnings] == ["first.weight"]
    for found in (checked, plan):
        assert all(math.isfinite(t.second) for t in found.tensors)
    assert snapshot(model) == before


# --- plans -------------------------------------------------


def test_plan_for_another_model_changes_nothing() -> None:
    plan = autoinit.plan(nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 16)), X)
    for other in (nn.Sequential(nn.Linear(16, 16)), nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 8))):
        before = snapshot(other)
        with pytest.raises(PlanError) as caught:
            plan.apply(other)
        assert_complete(caught.value)
        assert snapshot(other) == before


@pytest.mark.parametrize("content", ["", "not json", "[]", "{}", '{"autoinit_plan": 1}', '{"autoinit_plan": 99}'])
def test_file_that_is_no_plan(content: str, tmp_path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(content)
    with pytest.raises(PlanError) as caught:
        autoinit.Plan.load(path)
    assert_complete(caught.value)
    assert str(path) in str(caught.value)


def test_check_cannot_be_applied() -> None:
    model = nn.Linear(16, 16)
    with pytest.raises(PlanError, match="only describes"):
        autoinit.check(model, X).apply(model)
