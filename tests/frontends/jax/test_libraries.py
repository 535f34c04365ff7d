"""Models of every library: in place or as values, with the names, modes and random streams of their library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("flax")
pytest.importorskip("equinox")
pytest.importorskip("haiku")

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
from flax import nnx
from jax import numpy as jnp

import autoinit
import autoinit.linen
from autoinit.errors import ModelError, OptionError, PlanError
from autoinit.frontends.jax import apply as applying
from tests.frontends.jax.libraries import INPUTS, SHAPES, InEquinox, InLinen, InNnx, function, in_haiku, same

DROPPED = 1 / 0.75
"""E of the square of what a dropout of 0.25 makes of 1."""


def stds(plan: Any) -> list[float]:
    return [plan[row.weight].std for row in plan.weight_layers]


def test_nnx_is_set_in_place_and_its_streams_are_left_alone() -> None:
    model = InNnx(nnx.Rngs(0))
    kernel, count = model.first.kernel, int(model.drop.rngs.count[...])
    before = np.asarray(kernel[...])
    plan = autoinit.plan(model, INPUTS)
    autoinit.measure(model, INPUTS)
    np.testing.assert_array_equal(kernel[...], before)
    assert autoinit.initialize(model, INPUTS) == plan
    assert model.first.kernel is kernel and int(model.drop.rngs.count[...]) == count
    assert [p.name for p in plan.parameters] == ["first.bias", "first.kernel", "last.bias", "last.kernel"]
    # E relu(u)^2 = 1/2, over the kept three quarters
    assert stds(plan) == pytest.approx([40**-0.5, (64 * 0.5 * DROPPED) ** -0.5], rel=2e-2)
    assert stds(autoinit.plan(model, INPUTS, training=False))[1] == pytest.approx((64 * 0.5) ** -0.5, rel=2e-2)
    assert not model.drop.deterministic


def test_shared_and_frozen_variables_of_nnx() -> None:
    class Frozen(nnx.Variable):
        pass

    class Tied(InNnx):
        def __init__(self, rngs: nnx.Rngs) -> None:
            super().__init__(rngs)
            self.again = self.first
            self.last.kernel = Frozen(3.0 * self.last.kernel[...])

    model = Tied(nnx.Rngs(0))
    before = np.asarray(model.last.kernel[...])
    plan = autoinit.initialize(model, INPUTS)
    assert plan["again.kernel"].aliases == ["first.kernel"]
    assert plan["last.kernel"].action == "kept" and "frozen" in plan["last.kernel"].reason
    np.testing.assert_array_equal(model.last.kernel[...], before)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_nnx_gets_all_or_nothing(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    model = InNnx(nnx.Rngs(0))
    plan, before = autoinit.plan(model, INPUTS), nnx.state(model, nnx.Param)
    before = jax.tree_util.tree_map(np.asarray, before)
    real, drawn = applying.filled, []

    def fails_at_the_last(*args: Any) -> Any:
        drawn.append(args)
        if len(drawn) == 4:
            raise error
        return real(*args)

    monkeypatch.setattr(applying, "filled", fails_at_the_last)
    with pytest.raises(error):
        plan.apply(model)
    assert same(before, nnx.state(model, nnx.Param))


def test_linen_with_and_without_variables() -> None:
    variables, plan = autoinit.initialize(InLinen(), INPUTS)
    assert {"Dense_0.kernel", "BatchNorm_0.scale"} <= {p.name for p in plan.parameters}
    assert not [p for p in plan.parameters if p.name.startswith("batch_stats")]
    assert plan.weight_layers[0].module == "Dense_0"
    np.testing.assert_array_equal(variables["batch_stats"]["BatchNorm_0"]["var"], 1.0)
    np.testing.assert_array_equal(variables["params"]["BatchNorm_0"]["scale"], 1.0)
    again, _ = autoinit.initialize(InLinen(), INPUTS, params=variables)
    assert same(again, variables)
    alone = plan.apply(variables["params"])
    assert same(alone, variables["params"])
    found = autoinit.check(InLinen(), INPUTS, params=variables, training=False)
    assert all(0.5 < row.variance < 2 for row in found.weight_layers)


def test_equinox_gives_a_new_module() -> None:
    model = InEquinox(jax.random.key(0))
    before = np.asarray(model.first.weight)
    new, plan = autoinit.initialize(model, INPUTS)
    np.testing.assert_array_equal(model.first.weight, before)
    assert not np.array_equal(new.first.weight, before) and new.drop.p == 0.25
    assert stds(plan) == pytest.approx([40**-0.5, (64 * 0.5 * DROPPED) ** -0.5], rel=2e-2)
    abstract, _ = autoinit.initialize(eqx.filter_eval_shape(InEquinox, jax.random.key(0)), INPUTS)
    assert same(eqx.filter(abstract, eqx.is_array), eqx.filter(new, eqx.is_array))


def test_frozen_parts_of_equinox_are_constants() -> None:
    model = InEquinox(jax.random.key(0))
    spec = eqx.tree_at(lambda m: m.last.weight, jax.tree_util.tree_map(eqx.is_array, model), replace=False)
    trained, static = eqx.partition(model, spec)

    def call(params: Any, x: Any) -> Any:
        return jax.vmap(eqx.nn.inference_mode(eqx.combine(params, static)))(x)

    new, plan = autoinit.initialize(call, INPUTS, params=trained)
    assert {p.name for p in plan.parameters} == {"first.weight", "first.bias", "last.bias"}
    assert new.last.weight is None


def test_haiku() -> None:
    params, plan = autoinit.initialize(hk.transform(in_haiku), INPUTS)
    assert {p.name for p in plan.parameters} == {f"mlp/~/linear_{k}.{w}" for k in (0, 1) for w in "wb"}
    assert [row.module for row in plan.weight_layers] == ["mlp/~/linear_0", "mlp/~/linear_1"]
    assert params["mlp/~/linear_0"]["w"].std() == pytest.approx(40**-0.5, rel=0.05)


def test_averages_of_haiku_come_into_being_in_training() -> None:
    def network(x: Any, is_training: bool) -> Any:
        return hk.BatchNorm(True, True, 0.9)(hk.Linear(8)(x), is_training)

    transformed = hk.transform_with_state(network)
    (params, state), plan = autoinit.initialize(transformed, INPUTS)
    assert stds(plan) == pytest.approx([40**-0.5], rel=1e-6)
    np.testing.assert_array_equal(params["batch_norm"]["scale"], 1.0)
    assert "batch_norm/~/var_ema" in state
    autoinit.check(transformed, INPUTS)


def test_scanned_layers_of_an_abstract_model() -> None:
    """Their stacked arrays are covered by parts, layer by layer: nothing is asked of a constructor."""

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x: Any, _: Any) -> tuple[Any, None]:
            return nn.relu(nn.Dense(40)(x)), None

    class Stack(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            layers = nn.scan(Layer, variable_axes={"params": 0}, split_rngs={"params": True}, length=3)
            return layers()(x, None)[0]

    variables, plan = autoinit.initialize(Stack(), INPUTS)
    assert same(variables, autoinit.linen.init(Stack(), jax.random.key(0), jnp.ones(INPUTS)))
    kernels = variables["params"]["ScanLayer_0"]["Dense_0"]["kernel"]
    assert [part.std for part in plan["ScanLayer_0.Dense_0.kernel"].parts] == pytest.approx(
        [float(k.std()) for k in kernels], rel=0.06
    )  # 1600 entries: a standard error of 0.016
    params, _ = autoinit.initialize(lambda p, x: jax.lax.scan(lambda x, w: (x @ w, None), x, p["w"])[0], INPUTS,
                                    params={"w": jax.ShapeDtypeStruct((3, 40, 40), jnp.float32)})  # fmt: skip
    assert np.count_nonzero(params["w"]) == params["w"].size


def test_plain_functions_and_half_precision() -> None:
    params, plan = autoinit.initialize(function, INPUTS, params=SHAPES)
    assert stds(plan) == pytest.approx([40**-0.5, (64 * 0.5) ** -0.5], rel=2e-2)
    halves = jax.tree_util.tree_map(lambda x: jax.ShapeDtypeStruct(x.shape, jnp.bfloat16), SHAPES)
    rounded = plan.apply(halves)
    assert same(rounded, jax.tree_util.tree_map(lambda x: x.astype(jnp.bfloat16), params))


def test_the_same_bits_as_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    shapes = {"first": {"weight": jax.ShapeDtypeStruct((64, 40), "float32")},
              "last": {"weight": jax.ShapeDtypeStruct((8, 64), "float32")}}  # fmt: skip
    model = torch.nn.Sequential()
    model.add_module("first", torch.nn.Linear(40, 64, bias=False))
    model.add_module("act", torch.nn.ReLU())
    model.add_module("last", torch.nn.Linear(64, 8, bias=False))
    for distribution in ("truncated_normal", "normal", "uniform", "orthogonal"):
        plan = autoinit.initialize(model, INPUTS, seed=3, distribution=distribution)
        params = plan.apply(shapes)
        for name in ("first", "last"):
            np.testing.assert_array_equal(params[name]["weight"], getattr(model, name).weight.detach().numpy())


def test_what_cannot_be_is_said() -> None:
    params = jax.tree_util.tree_map(lambda x: jnp.ones(x.shape), SHAPES)
    with pytest.raises(ModelError, match="parameters alone"):
        autoinit.plan(params, INPUTS)
    with pytest.raises(ModelError, match="holds its parameters"):
        autoinit.plan(InNnx(nnx.Rngs(0)), INPUTS, params=params)
    with pytest.raises(OptionError, match="functions in their code"):
        autoinit.plan(function, INPUTS, params=params, center="activation")
    with pytest.raises(PlanError, match="no parameter of that name"):
        autoinit.plan(function, INPUTS, params=params).apply({"other": jnp.ones(3)})
    norm = eqx.filter_eval_shape(lambda: eqx.nn.Sequential([eqx.nn.Linear(40, 8, key=jax.random.key(0)),
                                                            eqx.nn.LayerNorm(8)]))  # fmt: skip
    with pytest.raises(PlanError, match="nobody knows"):
        autoinit.initialize(norm, INPUTS)
