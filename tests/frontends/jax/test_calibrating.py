"""Calibration of JAX's models: one run of noise puts a draw on its targets, and touches nothing of the user's."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("jax")
pytest.importorskip("flax")
pytest.importorskip("equinox")
pytest.importorskip("haiku")

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import numpy as np
from flax import nnx
from jax import lax
from jax import numpy as jnp

import autoinit
import autoinit.equinox
import autoinit.haiku
import autoinit.linen
import autoinit.nnx
from autoinit.core.plan.calibration import TOLERANCE, goals
from autoinit.core.plan.measured import key_of
from autoinit.errors import AutoInitError, OptionError, PlanError
from autoinit.frontends.jax import calibrating
from tests.frontends.jax.libraries import INPUTS, InEquinox, InNnx, same

Params = dict[str, Any]
DEPTH, WIDTH = 6, 24
ROWS = (1024, 40)
SIZES = (40, *[WIDTH] * DEPTH)
"""Dense layers without norms, whose draws miss their targets by more with each: 5 / width of log x.var() per layer."""


class Plain(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        for size in SIZES[1:]:
            x = nn.relu(nn.Dense(size)(x))
        return nn.Dense(16)(x)


class PlainNnx(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.layers = nnx.List([nnx.Linear(a, b, rngs=rngs) for a, b in pairwise(SIZES)])
        self.head = nnx.Linear(WIDTH, 16, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = nnx.relu(layer(x))
        return self.head(x)


def plain_equinox(key: Any) -> eqx.nn.MLP:
    return eqx.nn.MLP(40, 16, WIDTH, DEPTH, key=key)


def plain_haiku(x: Any) -> Any:
    return hk.nets.MLP([*SIZES[1:], 16])(x)


def chain(params: Params, x: Any) -> Any:
    """Dense layers without norms."""
    for k in range(DEPTH):
        x = jax.nn.relu(x @ params[f"w{k}"] + params[f"b{k}"])
    return x @ params["head"]


CHAIN = {
    **{f"w{k}": jax.ShapeDtypeStruct(shape, jnp.float32) for k, shape in enumerate(pairwise(SIZES))},
    **{f"b{k}": jax.ShapeDtypeStruct((WIDTH,), jnp.float32) for k in range(DEPTH)},
    "head": jax.ShapeDtypeStruct((WIDTH, 16), jnp.float32),
}  # fmt: skip


def drawn(shapes: Params, seed: int = 0) -> Params:
    key = jax.random.key(seed)
    return {name: jax.random.normal(jax.random.fold_in(key, k), s.shape) for k, (name, s) in enumerate(shapes.items())}


def ratios(model: Any, plan: autoinit.Plan, inputs: Any, seed: int = 77, **given: Any) -> list[float]:
    """By what every layer with a goal misses it in a run on noise of this seed: not that of the calibration."""
    rows = autoinit.measure(model, inputs, seed=seed, warn=False, **given).rows
    found = {key_of(row.predicted): row.variance for row in rows}
    wanted = goals(plan)
    assert wanted
    return [found[key] / goal.variance for key, goal in wanted.items()]


def off(*args: Any, **given: Any) -> float:
    return max(max(r, 1 / r) for r in ratios(*args, **given))


def on_target(function: Any, params: Params, inputs: Any, within: float = 1.15, **options: Any
              ) -> tuple[Params, autoinit.Plan]:  # fmt: skip
    """Calibrated, every layer is near its goal on fresh noise; the new parameters and the plan."""
    new, plan = autoinit.initialize(function, inputs, params=params, calibrate=True, warn=False, **options)
    assert off(function, plan, inputs, params=new) < within
    return new, plan


# --- every library ---------------------------------------------------------------------------------------------------


def test_nnx_in_place() -> None:
    model = PlainNnx(nnx.Rngs(0))
    kernel = model.head.kernel
    before = np.asarray(kernel[...])
    plain = autoinit.plan(model, ROWS)
    plan = autoinit.plan(model, ROWS, calibrate=True)
    np.testing.assert_array_equal(kernel[...], before)
    assert plain.apply(model) is model and off(model, plan, ROWS) > 1.25
    assert plan.apply(model) is model and off(model, plan, ROWS) < 1.15
    assert model.head.kernel is kernel


def test_linen_and_haiku_get_new_parameters() -> None:
    for model in (Plain(), hk.transform(plain_haiku)):
        params, plan = autoinit.initialize(model, ROWS)
        assert off(model, plan, ROWS, params=params) > 1.25
        params, plan = autoinit.initialize(model, ROWS, calibrate=True)
        assert off(model, plan, ROWS, params=params) < 1.15


def test_equinox_gets_a_new_module_also_of_an_abstract_one() -> None:
    model = plain_equinox(jax.random.key(0))
    before = np.asarray(model.layers[0].weight)
    new, plan = autoinit.initialize(model, ROWS, calibrate=True)
    np.testing.assert_array_equal(model.layers[0].weight, before)
    assert off(new, plan, ROWS) < 1.15
    abstract = eqx.filter_eval_shape(plain_equinox, jax.random.key(0))
    assert same(eqx.filter(autoinit.initialize(abstract, ROWS, calibrate=True)[0], eqx.is_array),
                eqx.filter(new, eqx.is_array))  # fmt: skip


def test_init_functions_of_the_libraries() -> None:
    """The same weights as by `initialize`; under jit a key has no seed yet."""
    x, options = jnp.ones(ROWS), {"calibrate": True}
    wanted, plan = autoinit.initialize(Plain(), ROWS, seed=5, calibrate=True)
    found = autoinit.linen.init(Plain(), jax.random.key(5), x, options=options)
    assert plan.calibrated and same(found, wanted)
    with pytest.raises(OptionError, match="a traced key has none"):
        jax.jit(lambda key: autoinit.linen.init(Plain(), key, x, options=options))(jax.random.key(5))
    params, _ = autoinit.initialize(hk.transform(plain_haiku), ROWS, seed=2, calibrate=True)
    made = autoinit.haiku.transform(hk.transform(plain_haiku), options).init(jax.random.key(2), x)
    assert same(made, params)


def test_create_functions_of_the_libraries() -> None:
    one, plan = autoinit.nnx.create(lambda: PlainNnx(nnx.Rngs(0)), ROWS, calibrate=True)
    two = PlainNnx(nnx.Rngs(0))
    assert autoinit.initialize(two, ROWS, calibrate=True) == plan and plan.calibrated
    assert same(nnx.state(one, nnx.Param), nnx.state(two, nnx.Param))
    module, plan = autoinit.equinox.create(lambda: plain_equinox(jax.random.key(0)), ROWS, calibrate=True)
    assert off(module, plan, ROWS) < 1.15


def test_convolutions_and_dropout() -> None:
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any, train: bool) -> Any:
            for k in range(3):
                x = nn.relu(nn.Conv(16, (3, 3), feature_group_count=1 if k == 0 else 4)(x))
            x = nn.ConvTranspose(16, (2, 2), strides=(2, 2))(x)
            return nn.Dense(12)(nn.Dropout(0.2, deterministic=not train)(x))

    images = (64, 10, 10, 3)
    params, plan = autoinit.initialize(Net(), images, calibrate=True)
    assert len(goals(plan)) == 5 and off(Net(), plan, images, params=params) < 1.15


# --- plain functions, which are all of them in the end ---------------------------------------------------------------


@pytest.mark.parametrize("distribution", ["truncated_normal", "orthogonal", "uniform"])
def test_functions_of_shapes(distribution: Any) -> None:
    params, plan = autoinit.initialize(chain, ROWS, params=CHAIN, distribution=distribution)
    assert off(chain, plan, ROWS, params=params) > 1.2
    on_target(chain, CHAIN, ROWS, distribution=distribution)


def test_on_the_noise_of_the_calibration_itself_layers_are_exact() -> None:
    params, plan = on_target(chain, CHAIN, ROWS, seed=3)
    assert ratios(chain, plan, ROWS, seed=3, params=params) == pytest.approx([1.0] * (DEPTH + 1), rel=2 * TOLERANCE)


def test_one_run_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    replayed = calibrating.replayed
    monkeypatch.setattr(calibrating, "replayed", lambda *a: (runs.append(1), replayed(*a))[1])
    autoinit.plan(chain, ROWS, params=CHAIN, calibrate=True)
    autoinit.plan(PlainNnx(nnx.Rngs(0)), ROWS, calibrate=True)
    assert len(runs) == 2


def test_the_same_factors_as_in_pytorch() -> None:
    """The same draws of parameters of the same names and shapes, on the same noise."""
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential()
    for k in range(4):
        model.add_module(f"w{k}", torch.nn.Linear(40, 40, bias=False))
        model.add_module(f"act{k}", torch.nn.ReLU())

    def function(params: Params, x: Any) -> Any:
        for k in range(4):
            x = jax.nn.relu(x @ params[f"w{k}"]["weight"].T)
        return x

    shapes = {f"w{k}": {"weight": jax.ShapeDtypeStruct((40, 40), jnp.float32)} for k in range(4)}
    one = autoinit.plan(model, (64, 40), calibrate=True)
    two = autoinit.plan(function, (64, 40), params=shapes, calibrate=True)
    factors = [[plan[f"w{k}.weight"].parts[0].factor for k in range(4)] for plan in (one, two)]
    assert any(abs(f - 1.0) > 0.02 for f in factors[0])
    assert factors[1] == pytest.approx(factors[0], rel=1e-4)


def test_a_saved_plan_gives_the_same_weights_and_no_other_seed(tmp_path: Any) -> None:
    params, plan = on_target(chain, CHAIN, ROWS, seed=5)
    plan.save(tmp_path / "plan.json")
    loaded = autoinit.Plan.load(tmp_path / "plan.json")
    assert loaded.calibrated and same(loaded.apply(CHAIN), params)
    with pytest.raises(PlanError, match="another seed"):
        loaded.apply(CHAIN, seed=6)
    bound = autoinit.initialize(chain, ROWS, params=CHAIN, calibrate=True, seed=6)[1]
    assert bound.to_dict() != plan.to_dict()


def test_the_first_use_of_a_shared_weight_decides() -> None:
    """Also where what is made of the weight is read again: then another run looks once more."""

    def direct(params: Params, x: Any) -> Any:
        for _ in range(4):
            x = jnp.tanh(x @ params["w"])
        return x @ params["head"]

    def turned(params: Params, x: Any) -> Any:
        w = params["w"].T
        for _ in range(4):
            x = jax.nn.relu(x @ w)
        return x @ params["head"]

    shapes = {"w": jax.ShapeDtypeStruct((40, 40), jnp.float32), "head": jax.ShapeDtypeStruct((40, 16), jnp.float32)}
    for function in (direct, turned):
        _, plan = on_target(function, shapes, ROWS)
        assert len(goals(plan)) == 2


def test_layers_of_a_scanned_stack_have_factors_of_their_own() -> None:
    def function(params: Params, x: Any) -> Any:
        x = lax.scan(lambda x, p: (jax.nn.relu(x @ p[0] + p[1]), None), x, (params["w"], params["b"]))[0]
        return x @ params["head"]

    shapes = {"w": jax.ShapeDtypeStruct((6, 40, 40), jnp.float32), "b": jax.ShapeDtypeStruct((6, 40), jnp.float32),
              "head": jax.ShapeDtypeStruct((40, 16), jnp.float32)}  # fmt: skip
    _, plan = on_target(function, shapes, ROWS)
    assert len({part.factor for part in plan["w"].parts}) == 6


def test_residual_branches_get_their_share() -> None:
    def function(params: Params, x: Any) -> Any:
        x = x @ params["stem"]
        for k in range(4):
            x = x + jax.nn.relu(jax.nn.relu(x) @ params[f"up{k}"]) @ params[f"down{k}"]
        return x @ params["head"]

    shapes = {"stem": (40, 64), "head": (64, 16)}
    shapes |= {f"up{k}": (64, 64) for k in range(4)} | {f"down{k}": (64, 64) for k in range(4)}
    params = {name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, shape in shapes.items()}
    _, plan = on_target(function, params, ROWS, 1.25, recipe="train")
    assert min(goal.variance for goal in goals(plan).values()) < 0.3


def test_weights_that_are_made_of_parameters() -> None:
    def function(params: Params, x: Any) -> Any:
        v = params["v"]
        w = params["g"] * v / jnp.linalg.norm(v, axis=0, keepdims=True)
        x = jax.nn.relu(jax.nn.relu(x @ w) @ (params["a"] @ params["b"]))
        return x @ jnp.concatenate([params["left"], params["right"]], axis=1)

    shapes = {"v": (40, 64), "g": (1, 64), "a": (64, 3), "b": (3, 64), "left": (64, 16), "right": (64, 16)}
    params = drawn({name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, shape in shapes.items()})
    _, plan = on_target(function, params, ROWS, 1.25)
    assert plan["a"].parts[0].factor == plan["b"].parts[0].factor != 1.0


def test_centring_follows() -> None:
    def function(params: Params, x: Any) -> Any:
        for k in range(3):
            x = jax.nn.softplus(x @ params[f"w{k}"] + params[f"b{k}"])
        return x @ params["head"]

    shapes = {name: CHAIN[name] for name in ("w0", "w1", "w2", "b0", "b1", "b2", "head")}
    params, plan = on_target(function, shapes, ROWS, center="bias")
    part = next(p for p in plan["b1"].parts if p.kind == "centre")
    np.testing.assert_allclose(params["b1"], -part.value * np.asarray(params["w1"], np.float64).sum(0), atol=1e-5)


def test_frozen_skipped_and_zero_weights_stay_and_biases_that_are_kept_count() -> None:
    class Frozen(nnx.Variable):
        pass

    class Net(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            sizes = (40, 64, 64, 64, 64, 16)
            self.layers = nnx.List([nnx.Linear(a, b, rngs=rngs) for a, b in pairwise(sizes)])
            self.layers[1].kernel = Frozen(self.layers[1].kernel[...])
            self.layers[0].bias[...] = 0.5 * jax.random.normal(rngs(), (64,))
            self.layers[4].kernel[...] = jnp.zeros((64, 16))

        def __call__(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(nnx.relu(x))
            return x

    model = Net(nnx.Rngs(0))
    layers = model.layers
    kept = [np.asarray(a[...]) for a in (layers[1].kernel, layers[0].bias, layers[2].kernel, layers[4].kernel)]
    plan = autoinit.initialize(model, ROWS, calibrate=True, skip=["layers.0.bias", "layers.2.kernel"])
    assert off(model, plan, ROWS) < 1.15
    assert {name for goal in goals(plan).values() for name in goal.names} == {"layers.0.kernel", "layers.3.kernel"}
    now = (layers[1].kernel, layers[0].bias, layers[2].kernel, layers[4].kernel)
    assert all(np.array_equal(a, b[...]) for a, b in zip(kept, now, strict=True))


def test_a_table_that_was_read_before_it_is_decided_keeps_its_scale() -> None:
    def function(params: Params, ids: Any) -> Any:
        x = params["table"][ids]
        return (x + jax.nn.relu(x) @ params["layer"]) @ params["table"].T

    shapes = {name: jax.ShapeDtypeStruct((n, 32), jnp.float32) for name, n in (("table", 40), ("layer", 32))}
    ids = autoinit.Input((32, 12), vocabulary=40)
    _, plan = on_target(function, shapes, ids)
    assert plan["table"].parts[0].factor == 1.0 != plan["layer"].parts[0].factor


def test_of_a_batch_only_the_moments_count() -> None:
    one = np.random.default_rng(0).standard_normal(ROWS).astype(np.float32)
    plans = [autoinit.plan(chain, batch, params=CHAIN, calibrate=True) for batch in (one, one[::-1])]
    factors = [[part.factor for p in plan.parameters for part in p.parts] for plan in plans]
    assert factors[0] == pytest.approx(factors[1], rel=1e-6)
    assert any(f != 1.0 for f in factors[0])


def test_half_precision() -> None:
    halves = jax.tree_util.tree_map(lambda s: jax.ShapeDtypeStruct(s.shape, jnp.bfloat16), CHAIN)
    params, _ = on_target(chain, halves, autoinit.Input(ROWS, dtype="bfloat16"))
    assert params["head"].dtype == jnp.bfloat16


def test_an_interrupt_in_the_run_leaves_the_model_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    model = InNnx(nnx.Rngs(0))
    before = jax.tree_util.tree_map(np.asarray, nnx.state(model, nnx.Param))

    class Interrupting(calibrating.Scaler):
        def __call__(self, *args: Any) -> None:
            super().__call__(*args)
            if len(self.variances) == 2:
                raise KeyboardInterrupt

    monkeypatch.setattr(calibrating, "Scaler", Interrupting)
    with pytest.raises(KeyboardInterrupt):
        autoinit.initialize(model, INPUTS, calibrate=True)
    assert same(before, nnx.state(model, nnx.Param))


def test_what_nobody_knows_is_said() -> None:
    """An abstract module that keeps values of a constructor that is not known cannot run."""
    model = eqx.filter_eval_shape(InEquinox, jax.random.key(0))
    with pytest.raises(AutoInitError, match="nobody knows"):
        autoinit.plan(model, INPUTS, calibrate=True, skip="last.weight")
    other = autoinit.plan(chain, ROWS, params=CHAIN)
    with pytest.raises(PlanError, match="no parameter of that name"):
        other.calibrate(InNnx(nnx.Rngs(0)), INPUTS)
