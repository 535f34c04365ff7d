"""What every front end has to do, as tests. A front end's test module subclasses `FrontEndSuite`:

class TestTorch(FrontEndSuite):
    def build(self, model): ...

and pytest runs the rest: the same numbers as the core alone, nothing touched by analysis, all or nothing in apply.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import autoinit

from ..core.options import Distribution
from ..core.plan.plan import PlanData
from ..errors import AutoInitError, PlanError
from .randomness import violations
from .reference import reference_plan, words
from .specs import CENTRED, MODELS, Activation, Dense, Model

SEEDS = 5


def stds(plan: PlanData) -> list[float]:
    """Standard deviations of the weights, in the order in which they are first used."""
    return [plan.parameter(t.weight).parts[0].std for t in plan.weight_layers if t.weight and t.target is not None]


class FrontEndSuite:
    """Subclass it, and say how your framework builds, reads and writes models."""

    # --- what a front end's tests have to say -------------------------------------------------------------------------

    def build(self, model: Model) -> Any:
        """The specified model in this framework, with random weights and biases."""
        raise NotImplementedError

    def read(self, model: Any) -> dict[str, NDArray[Any]]:
        """Copies of all parameters by their names in a plan."""
        raise NotImplementedError

    def write(self, model: Any, name: str, values: NDArray[Any]) -> None:
        """Overwrite a parameter."""
        raise NotImplementedError

    def freeze(self, model: Any, name: str) -> None:
        """Mark a parameter as not to be trained."""
        raise NotImplementedError

    def call(self, model: Any, inputs: NDArray[Any]) -> NDArray[Any]:
        """What the model gives in evaluation mode, for inputs in the order of this framework."""
        raise NotImplementedError

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """An input shape (batch, *spatial, features) in the order of this framework."""
        return shape

    def axis(self, axis: int, ndim: int) -> int:
        """Where an axis of the specified input is in this framework."""
        return axis

    # --- how models are used: a front end overrides these where models are values -----------------------------------

    def plan(self, model: Any, inputs: Any, **options: Any) -> autoinit.Plan:
        return autoinit.plan(model, inputs, **options)

    def initialize(self, model: Any, inputs: Any, **options: Any) -> autoinit.Plan:
        plan: autoinit.Plan = autoinit.initialize(model, inputs, **options)
        return plan

    def check(self, model: Any, inputs: Any, **options: Any) -> autoinit.Plan:
        found = autoinit.check(model, inputs, **options)
        assert isinstance(found, autoinit.Plan)
        return found

    def measure(self, model: Any, inputs: Any, **options: Any) -> Any:
        return autoinit.measure(model, inputs, **options)

    def apply(self, plan: autoinit.Plan, model: Any, **options: Any) -> None:
        plan.apply(model, **options)

    # --- the tests ---------------------------------------------------------------------------------

    def inputs(self, model: Model) -> Any:
        if model.vocabulary is not None:
            return words(model)
        correlation = {self.axis(a, len(model.shape)): r for a, r in model.correlation.items()}
        return autoinit.Input(self.shape(model.shape), model.mean, model.variance, correlation or 0.0)

    @pytest.mark.parametrize("name", MODELS)
    def test_same_numbers_as_the_core(self, name: str) -> None:
        spec = MODELS[name]
        wanted, found = reference_plan(spec), self.plan(self.build(spec), self.inputs(spec))
        assert stds(found) == pytest.approx(stds(wanted), rel=1e-6)
        one, two = wanted.tensors[wanted.outputs[0]], found.tensors[found.outputs[0]]
        assert (two.mean, two.variance) == pytest.approx((one.mean, one.variance), rel=1e-6, abs=1e-9)
        assert not [n for n in found.notes if n.kind in ("passed", "simulated")]

    @pytest.mark.parametrize("name", MODELS)
    def test_analysis_touches_nothing(self, name: str) -> None:
        spec = MODELS[name]
        model = self.build(spec)
        before = self.read(model)
        self.plan(model, self.inputs(spec))
        self.check(model, self.inputs(spec))
        self.measure(model, self.inputs(spec))
        self.same(before, self.read(model))

    @pytest.mark.parametrize("name", MODELS)
    def test_weights_are_drawn_as_planned(self, name: str) -> None:
        spec = MODELS[name]
        model = self.build(spec)
        plan = self.initialize(model, self.inputs(spec))
        values = self.read(model)
        for entry in plan.parameters:
            if entry.action == "set":
                w = values[entry.name]
                error = 5 * (2 * w.size) ** -0.5
                assert w.std() == pytest.approx(entry.parts[0].std, rel=error), entry.name
            elif entry.action == "zero":
                assert not values[entry.name].any(), entry.name

    @pytest.mark.parametrize("name", ["dense", "dropout", "batch norm", "layer norm", "branches", "embedding"])
    def test_measurement_agrees(self, name: str) -> None:
        spec = MODELS[name]
        model = self.build(spec)
        plan = self.plan(model, self.inputs(spec))
        found: dict[int, list[float]] = {}
        for seed in range(SEEDS):
            self.apply(plan, model, seed=seed)
            for row in self.measure(model, self.inputs(spec), seed=seed).weight_layers:
                found.setdefault(row.predicted.index, []).append(row.variance)
        assert len(found) >= 2
        for index, variances in found.items():
            # A median of n draws has 1.25/sqrt(n) of their scatter; a few per cent for what a rule leaves out.
            allowed = 4 * 1.25 * plan.tensors[index].scatter / SEEDS**0.5 + 0.15
            assert abs(np.log(np.median(variances))) < allowed, plan.tensors[index].module

    @pytest.mark.parametrize("name", MODELS)
    @pytest.mark.parametrize("distribution", ["truncated_normal", "orthogonal"])
    def test_what_is_set_is_random(self, name: str, distribution: Distribution) -> None:
        """Entries that differ, no constant axis, no collapsed spectrum; and a weight that is spoilt is found out."""
        spec = MODELS[name]
        model = self.build(spec)
        plan = self.initialize(model, self.inputs(spec), distribution=distribution)
        values = self.read(model)
        drawn = [p.name for p in plan.parameters if p.action == "set"]
        assert drawn and set(drawn) <= set(values)
        assert not violations(plan, values)
        spoilt = {**values, drawn[0]: np.full_like(values[drawn[0]], 0.1)}
        assert {v.parameter for v in violations(plan, spoilt)} == {drawn[0]}

    def test_seeds(self) -> None:
        spec = MODELS["dense"]
        model = self.build(spec)
        plan = self.plan(model, self.inputs(spec))
        self.apply(plan, model, seed=1)
        first = self.read(model)
        self.apply(plan, model, seed=2)
        assert any(not np.array_equal(first[n], v) for n, v in self.read(model).items())
        self.apply(plan, model, seed=1)
        self.same(first, self.read(model))

    def test_a_plan_can_be_saved(self, tmp_path: Any) -> None:
        spec = MODELS["convolutions"]
        model = self.build(spec)
        plan = self.plan(model, self.inputs(spec))
        plan.save(tmp_path / "plan.json")
        self.apply(plan, model, seed=3)
        first = self.read(model)
        self.apply(autoinit.Plan.load(tmp_path / "plan.json"), model, seed=3)
        self.same(first, self.read(model))

    def test_frozen_parameters_stay(self) -> None:
        spec = MODELS["dense"]
        model = self.build(spec)
        name = self.weights(model, spec)[1]
        before = self.read(model)[name]
        self.write(model, name, 3.0 * before)
        self.freeze(model, name)
        plan = self.initialize(model, self.inputs(spec))
        np.testing.assert_array_equal(self.read(model)[name], np.asarray(3.0 * before, before.dtype))
        kept = plan.parameter(name)
        assert kept.action == "kept" and kept.frozen and "frozen" in kept.reason

    def test_zeros_stay_unless_told_otherwise(self) -> None:
        spec = MODELS["dense"]
        model = self.build(spec)
        name = self.weights(model, spec)[1]
        self.write(model, name, np.zeros_like(self.read(model)[name]))
        self.initialize(model, self.inputs(spec))
        assert not self.read(model)[name].any()
        self.initialize(model, self.inputs(spec), keep_zeros=False)
        assert self.read(model)[name].any()

    def test_skip_and_only(self) -> None:
        spec = MODELS["dense"]
        model = self.build(spec)
        first, second, third = self.weights(model, spec)
        before = self.read(model)
        self.initialize(model, self.inputs(spec), skip=second)
        after = self.read(model)
        assert np.array_equal(before[second], after[second]) and not np.array_equal(before[third], after[third])
        plan = self.initialize(model, self.inputs(spec), only=[second], seed=5)
        assert [p.name for p in plan.changed()] == [second]
        assert np.array_equal(self.read(model)[first], after[first])

    def test_centred_biases(self) -> None:
        """center="bias": W x + b = W (x - mu), so that a relu's mean is not passed on."""
        spec = Model((Dense(64, 256), Activation("relu"), Dense(256, 64)), (256, 64))
        model = self.build(spec)
        plan = self.initialize(model, self.inputs(spec), center="bias")
        biases = [p for p in plan.parameters if p.action == "centre"]
        assert len(biases) == 1
        row = self.measure(model, self.inputs(spec)).weight_layers[-1]
        assert abs(row.mean) < 0.1 and row.variance == pytest.approx(1.0, rel=0.25)

    @pytest.mark.parametrize("name", CENTRED)
    def test_both_ways_to_centre_give_the_same_network(self, name: str) -> None:
        """W x + b with b = -mu sum(W), and W (f(x) - mu)."""
        spec = CENTRED[name]
        model = self.build(spec)
        x = self.sample(spec)
        self.initialize(model, self.inputs(spec), center="bias", training=False)
        by_bias = self.call(model, x)
        plan = self.initialize(model, self.inputs(spec), center="activation", training=False)
        assert plan.centers and all(c.shift != 0 for c in plan.centers)
        np.testing.assert_allclose(self.call(model, x), by_bias, rtol=1e-4, atol=2e-5)
        plain = self.plan(model, self.inputs(spec), center="activation", training=False)
        plain.centers = [replace(center, shift=0.0) for center in plain.centers]
        self.apply(plain, model)
        assert np.abs(self.call(model, x) - by_bias).max() > 0.01  # so that the test above can fail

    @pytest.mark.parametrize("name", CENTRED)
    def test_centred_activations_are_measured_as_planned(self, name: str) -> None:
        spec = CENTRED[name]
        model = self.build(spec)
        plan = self.initialize(model, self.inputs(spec), center="activation")
        measured = self.measure(model, self.inputs(spec))
        rows = {(r.predicted.module, r.predicted.op, r.predicted.call): r for r in measured.rows}
        last = {t.module: t for t in plan.tensors}  # of every module: the centred output
        for tensor in (last[center.place] for center in plan.centers):
            row = rows[tensor.module, tensor.op, tensor.call]
            # A row of n weights has length 1 up to sqrt(2/n)/2, a ReLU's mean 0.4 of that; the mean is over all rows.
            # The fewest: 16 rows of 27 weights, 0.4 * 0.136/sqrt(16) = 0.014.
            assert tensor.mean == pytest.approx(0.0, abs=1e-9) and abs(row.mean) < 5 * 0.014
            assert row.variance == pytest.approx(tensor.tensor_variance, rel=0.25)

    def test_centring_touches_nothing_before_it_is_applied(self) -> None:
        spec = CENTRED["dense"]
        model, x = self.build(spec), self.sample(spec)
        before, output = self.read(model), self.call(model, x)
        plan = self.plan(model, self.inputs(spec), center="activation")
        self.check(model, self.inputs(spec), center="activation")
        self.same(before, self.read(model))
        np.testing.assert_array_equal(self.call(model, x), output)
        plan.centers[-1].function = "another"
        with pytest.raises(PlanError, match="another activation"):
            self.apply(plan, model)
        plan.centers[-1].function, plan.centers[-1].place = plan.centers[0].function, "nowhere"
        with pytest.raises(PlanError, match="another activation"):
            self.apply(plan, model)
        self.same(before, self.read(model))
        np.testing.assert_array_equal(self.call(model, x), output)

    def test_centring_again_replaces_the_shift(self, tmp_path: Any) -> None:
        spec = CENTRED["dense"]
        model, x = self.build(spec), self.sample(spec)
        plan = self.initialize(model, self.inputs(spec), center="activation")
        output = self.call(model, x)
        again = self.plan(model, self.inputs(spec), center="activation")
        assert [(c.place, c.function) for c in again.centers] == [(c.place, c.function) for c in plan.centers]
        assert [c.shift for c in again.centers] == pytest.approx([c.shift for c in plan.centers], rel=1e-6)
        plan.save(tmp_path / "plan.json")
        for repeated in (again, autoinit.Plan.load(tmp_path / "plan.json")):
            self.apply(repeated, model)
            np.testing.assert_allclose(self.call(model, x), output, rtol=1e-5, atol=1e-6)

    def test_check_names_what_is_wrong(self) -> None:
        spec = MODELS["dense"]
        model = self.build(spec)
        self.initialize(model, self.inputs(spec))
        name = self.weights(model, spec)[1]
        self.write(model, name, 100.0 * self.read(model)[name])
        found = self.check(model, self.inputs(spec))
        bad = [row.weight for row in found.weight_layers if row.variance > 100]
        assert bad[0] == name

    def test_all_or_nothing(self) -> None:
        spec = MODELS["dense"]
        model = self.build(spec)
        before = self.read(model)
        plan = self.plan(model, self.inputs(spec))
        last = list(plan.changed())[-1]
        last.shape = [n + 1 for n in last.shape]
        with pytest.raises(PlanError, match="another shape"):
            self.apply(plan, model)
        self.same(before, self.read(model))

    def test_a_plan_for_another_model_is_refused(self) -> None:
        plan = self.plan(self.build(MODELS["layer norm"]), self.inputs(MODELS["layer norm"]))
        model = self.build(MODELS["shifted input"])
        before = self.read(model)
        with pytest.raises(PlanError):
            self.apply(plan, model)
        self.same(before, self.read(model))

    @pytest.mark.parametrize("bad", ["text", 3, (32, 41), object()], ids=["text", "number", "wrong size", "object"])
    def test_wrong_inputs(self, bad: Any) -> None:
        model = self.build(MODELS["dense"])
        before = self.read(model)
        for entry in (self.plan, self.initialize, self.check, self.measure):
            with pytest.raises(AutoInitError) as error:
                entry(model, bad)
            assert "to fix" in str(error.value)
        self.same(before, self.read(model))

    def test_a_shared_weight_is_set_once_and_reported(self) -> None:
        spec = MODELS["shared"]
        plan = self.plan(self.build(spec), self.inputs(spec))
        assert any("earlier use" in n.message for n in plan.notes)
        used = [row.weight for row in plan.weight_layers]
        assert len(used) == len(set(used)) + 1

    # --- helpers -----------------------------------------------------------------------------------

    def sample(self, spec: Model) -> NDArray[Any]:
        return np.random.default_rng(0).standard_normal(self.shape(spec.shape)).astype(np.float32)

    def weights(self, model: Any, spec: Model) -> list[str]:
        """Names of the weights in the order in which they are used."""
        return [str(row.weight) for row in self.plan(model, self.inputs(spec)).weight_layers]

    def same(self, one: dict[str, NDArray[Any]], two: dict[str, NDArray[Any]]) -> None:
        assert one.keys() == two.keys()
        for name, values in one.items():
            np.testing.assert_array_equal(values, two[name], err_msg=name)
