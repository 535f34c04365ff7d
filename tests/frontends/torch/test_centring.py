"""center="activation" for PyTorch models: what is centred, what is not, and what the model becomes."""

import copy
import io
import pickle
from math import log, pi, sqrt

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import autoinit
from autoinit.frontends.torch.centred import Centered

RELU = 1 / sqrt(2 * pi)


def centred_places(model, inputs=(64, 32), **options):
    return [c.place for c in autoinit.plan(model, inputs, center="activation", **options).centers]


def notes(model, inputs=(64, 32), **options):
    return [f"{n.place}: {n.message}" for n in autoinit.plan(model, inputs, center="activation", **options).notes]


def between(*middle):
    return nn.Sequential(nn.Linear(32, 32), *middle, nn.Linear(32, 32))


class Swish(nn.Module):
    """Several ops, an inner activation module, a learned number per channel."""

    def __init__(self, features):
        super().__init__()
        self.slope = nn.Parameter(torch.full((features,), 1.5))
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        return x * self.sigmoid(self.slope * x)


class ByHand(nn.Module):
    def forward(self, x):
        return torch.where(x > 0, x, 0.25 * x) * 2.0


class Squared(nn.Module):
    def forward(self, x):
        return x * x


@pytest.mark.parametrize("make", [
    nn.ReLU, lambda: nn.ReLU(inplace=True), nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.CELU, nn.GELU, nn.SiLU, nn.Mish,
    nn.Softplus, nn.Sigmoid, nn.Hardswish, nn.Hardsigmoid, lambda: nn.PReLU(32), lambda: Swish(32), ByHand, Squared,
    lambda: nn.Threshold(0.1, 0.5), nn.LogSigmoid,
])  # fmt: skip
def test_modules_that_are_activations(make):
    """The output of every one is centred, and the layer behind it has variance 1 by what is measured."""
    torch.manual_seed(0)
    model = between(make())
    plan = autoinit.initialize(model, (512, 32), center="activation")
    (center,) = plan.centers
    assert center.place == "1" and isinstance(model[1], Centered) and center.shift != 0
    assert float(model[1].center_shift) == pytest.approx(center.shift, rel=1e-6)
    measured = autoinit.measure(model, (512, 32))
    row = next(r for r in measured.rows if (r.predicted.module, r.predicted.op) == ("1", "aten.sub"))
    # 32 rows of 32 weights: lengths scatter by sqrt(2/32)/2, and so does the mean; means are over the 32 rows.
    assert abs(row.mean) < 5 * (abs(center.shift) * 0.25 + sqrt(center.variance) / sqrt(512)) / sqrt(32)
    assert abs(log(measured.weight_layers[-1].variance)) < 5 * plan.weight_layers[-1].scatter


@pytest.mark.parametrize("make", [
    nn.Identity, nn.Tanh, nn.Softsign, lambda: nn.Dropout(0.5), lambda: nn.LayerNorm(32), lambda: nn.BatchNorm1d(32),
    lambda: nn.Softmax(-1), nn.Flatten, lambda: nn.Sequential(nn.Identity()),
])  # fmt: skip
def test_modules_that_have_no_mean_to_take_off(make):
    assert centred_places(between(make())) == []


def test_the_signal_that_comes_in_decides():
    """A gain of 2 in front of a ReLU doubles its mean; wide layers scatter little."""

    class Doubled(nn.Module):
        def forward(self, x):
            return 2.0 * x

    model = nn.Sequential(nn.Linear(4096, 8), Doubled(), nn.ReLU(), nn.Linear(8, 8))
    (center,) = autoinit.plan(model, (64, 4096), center="activation").centers
    assert center.shift == pytest.approx(2 * RELU, rel=1e-3)
    plain = autoinit.plan(between(nn.ReLU()), (64, 32), center="activation", rules=autoinit.rules.independent)
    assert plain.centers[0].shift == pytest.approx(RELU, rel=1e-9)


# --- what stays as it is ------------------------------------------------------------------------------------------


class Excite(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up, self.relu, self.gate = nn.Linear(32, 8), nn.Linear(8, 32), nn.ReLU(), nn.Sigmoid()

    def forward(self, x):
        return x * self.gate(self.up(self.relu(self.down(x)))).unsqueeze(-1).squeeze(-1)


def test_gates_keep_their_mean():
    model = between(Excite())
    assert centred_places(model) == ["1.relu"]
    assert "1.gate: aten.sigmoid: Sigmoid is not centred: it gates another signal" in notes(model)


def test_what_a_gate_acts_on_is_centred():
    """Of two factors, the one between 0 and 1 is the gate."""
    model = nn.Sequential(nn.Linear(32, 32), nn.SiLU(), Excite(), nn.Linear(32, 32))
    assert centred_places(model) == ["1", "2.relu"]


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.gate, self.act = nn.Linear(32, 32), nn.Linear(32, 32), nn.SiLU()

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)


def test_gated_units_keep_their_gate():
    assert centred_places(between(Gated())) == []


class LinearAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.feature = nn.Linear(32, 32), nn.Linear(32, 32), nn.ELU()

    def forward(self, x):
        return (self.feature(self.q(x)) + 1) @ (self.feature(self.k(x)) + 1).transpose(-1, -2) @ x


def test_feature_maps_of_linear_attention_are_gates():
    assert centred_places(between(LinearAttention()), (4, 8, 32)) == []


@pytest.mark.parametrize("end", [
    lambda x: x, lambda x: x.unsqueeze(-1).flatten(), lambda x: 2 * x - 1, lambda x: {"scores": x, "sum": x.sum()},
])  # fmt: skip
def test_outputs_of_the_model_keep_their_mean(end):
    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.act = between(nn.ReLU()), nn.Sigmoid()

        def forward(self, x):
            return end(self.act(self.body(x)))

    assert centred_places(Head()) == ["body.1"]


def test_an_average_behind_it_is_no_output():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    assert centred_places(model, (4, 3, 8, 8)) == ["1"]


def test_a_part_of_another_function_keeps_its_mean():
    class Mish(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.inner, self.outer, self.b = nn.Linear(32, 32), nn.Softplus(), nn.Tanh(), nn.Linear(32, 32)

        def forward(self, x):
            x = self.a(x)
            return self.b(self.outer(self.inner(x)))

    model = Mish()
    assert centred_places(model) == ["outer"]
    assert any("another function is taken of it" in n for n in notes(model))


def test_functions_in_forward_are_noted():
    class Functional(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c, self.act = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32), nn.GELU()

        def forward(self, x):
            return torch.tanh(self.c(self.act(self.b(F.relu(self.a(x))))))

    found = notes(Functional())
    (note,) = (n for n in found if "center='bias'" in n)
    assert note.startswith("(root): aten.relu: no activation that can be replaced stands here")


def test_frozen_and_skipped_layers_get_what_they_expect():
    model = nn.Sequential(*between(nn.ReLU()), nn.ReLU(), nn.Linear(32, 8))
    model[2].requires_grad_(False)
    assert centred_places(model) == ["3"]
    assert any("1: aten.relu: ReLU is not centred: a layer reads it whose weight" in n for n in notes(model))
    model[2].requires_grad_(True)
    assert centred_places(model, skip=["4.*"]) == ["1"]
    assert centred_places(model, skip=["1"]) == ["3"]


def test_one_shift_for_all_calls():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c, self.act = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32), nn.ReLU()

        def forward(self, x):
            return self.c(self.act(3 * self.b(self.act(self.a(x)))))

    model = Shared()
    plan = autoinit.initialize(model, (256, 32), center="activation")
    (center,) = plan.centers
    assert center.calls == 2 and center.shift == pytest.approx(RELU, rel=0.02)
    assert any("called several times" in n.message for n in plan.notes)
    row = [r for r in plan.tensors if r.module == "act"][-1]
    assert row.mean == pytest.approx(2 * RELU, rel=0.05)  # 3 RELU arrive, RELU is taken off


def test_a_shared_object_in_two_places_is_centred_once():
    act = nn.ReLU()
    model = nn.Sequential(nn.Linear(32, 32), act, nn.Linear(32, 32), act, nn.Linear(32, 8))
    autoinit.initialize(model, (64, 32), center="activation")
    assert model[1] is model[3] is act and isinstance(act, Centered)


# --- zero padding -------------------------------------------------------------------------------------------------


def test_padding_differs_from_a_bias_at_the_border_only():
    def made():
        torch.manual_seed(0)
        return nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1))

    one, two = made(), made()
    autoinit.initialize(one, (4, 3, 14, 14), center="activation")
    plan = autoinit.initialize(two, (4, 3, 14, 14), center="bias")
    scale = plan["2.weight"].std / autoinit.plan(made(), (4, 3, 14, 14), center="activation")["2.weight"].std
    x = torch.randn(4, 3, 14, 14)
    difference = (one(x) * scale - two(x)).abs()
    assert difference[:, :, 1:-1, 1:-1].max() < 1e-5 < 0.05 < difference[:, :, 0].mean()


# --- the model afterwards -----------------------------------------------------------------------------------------


def centred_model():
    model = nn.Sequential(nn.Linear(32, 16), nn.ReLU(inplace=True), nn.Linear(16, 16), nn.PReLU(16), nn.Linear(16, 4))
    autoinit.initialize(model, (64, 32), center="activation")
    return model


def test_names_copies_and_pickles():
    model = centred_model()
    assert {"1.center_shift", "3.weight", "3.center_shift"} < set(model.state_dict())
    assert [n for n, _ in model.named_parameters()] == [
        "0.weight", "0.bias", "2.weight", "2.bias", "3.weight", "4.weight", "4.bias"
    ]  # fmt: skip
    assert isinstance(model[1], nn.ReLU) and "shift=0.39" in repr(model) and "CenteredReLU" in repr(model)
    x = torch.randn(8, 32)
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), torch.load(file, weights_only=False)):
        assert torch.equal(twin(x), model(x)) and type(twin[1]) is type(model[1])
    other = centred_model()
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(x), model(x))
    half = copy.deepcopy(model).half()
    assert half(x.half()).dtype == torch.float16


def test_hooks_see_the_centred_output():
    model = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 4))
    seen = []
    model[1].register_forward_hook(lambda module, inputs, output: seen.append(output))
    autoinit.initialize(model, (64, 32), center="activation")
    seen.clear()
    model(torch.randn(8, 32))
    assert float(seen[0].detach().min()) == pytest.approx(-float(model[1].center_shift))


def test_compiled_models_see_the_change():
    model = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 4))
    compiled = torch.compile(model, backend="eager")
    x = torch.randn(8, 32)
    compiled(x)
    autoinit.initialize(compiled, (64, 32), center="activation")
    assert isinstance(model[1], Centered)
    torch.testing.assert_close(compiled(x), model[2](torch.relu(model[0](x)) - model[1].center_shift))


def test_gradients_flow_and_the_shift_stays():
    model = centred_model()
    before = model[1].center_shift.clone()
    model(torch.randn(8, 32)).square().sum().backward()
    torch.optim.SGD(model.parameters(), 0.1).step()
    assert model[0].weight.grad.abs().sum() > 0 and torch.equal(model[1].center_shift, before)


def test_check_and_other_plans_take_a_centred_model_as_it_is():
    model = centred_model()
    with torch.no_grad():
        model[1].center_shift.fill_(-3.0)
    checked = autoinit.check(model, (64, 32), center="activation")
    assert [t.mean for t in checked.tensors if t.module == "1"][-1] == pytest.approx(3.4, abs=0.15)
    assert autoinit.plan(model, (64, 32)).centers == [] and float(model[1].center_shift) == -3.0


def test_a_shift_that_is_no_number_is_refused_and_nothing_changes():
    model = between(nn.ReLU())
    before = copy.deepcopy(model.state_dict())
    plan = autoinit.plan(model, (64, 32), center="activation")
    plan.centers[0].shift = float("nan")
    with pytest.raises(autoinit.AutoInitError, match="finite number"):
        plan.apply(model)
    assert type(model[1]) is nn.ReLU and all(torch.equal(v, before[k]) for k, v in model.state_dict().items())


def test_modules_whose_forward_was_replaced_stay():
    model = between(nn.ReLU())
    model[1].forward = lambda x: F.gelu(x)
    assert centred_places(model) == []


def test_meta_models_can_be_planned():
    with torch.device("meta"):
        model = between(nn.ReLU())
    plan = autoinit.plan(model, (64, 32), center="activation")
    assert plan.centers[0].shift == pytest.approx(RELU, rel=0.05)


def test_samples_of_real_ops_are_centred_too():
    """What follows a quotient without moments is measured on samples: they take the same number off."""

    class Quotient(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.act, self.b = nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 8)

        def forward(self, x):
            x = self.a(x)
            x = x / (0.2 + x.square().mean(-1, keepdim=True) * 0.8 + 0.1 * x.abs().amax(-1, keepdim=True))
            return self.b(self.act(x))

    torch.manual_seed(0)
    model = Quotient()
    plan = autoinit.initialize(model, (256, 256), center="activation")
    assert any(t.status == "simulated" for t in plan.tensors if t.module == "act")
    found = [r for r in autoinit.measure(model, (256, 256)).rows if r.predicted.module == "act"][-1]
    assert abs(found.mean) < 0.01 * 5
    row = [t for t in plan.tensors if t.module == "act"][-1]
    assert abs(row.mean) < 1e-6 and found.variance == pytest.approx(row.tensor_variance, rel=0.1)
