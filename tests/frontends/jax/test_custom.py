"""Rules of the user's own, for modules of every library and for functions."""

from __future__ import annotations

from collections.abc import Callable
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
from autoinit.core.plan.measured import key_of

X = (64, 32)


def strange(x: Any) -> Any:
    """A function that rules can be given for."""
    return jnp.sort(x, axis=-1) * 3.0


class Doubled:
    """Any class with `__call__`."""

    def __call__(self, x: Any) -> Any:
        return jnp.sort(x, axis=-1) * 2.0


class InNnx(nnx.Module):
    def __init__(self, gain: float) -> None:
        self.size, self.gain = gain, nnx.Param(jnp.full((32,), gain))

    def __call__(self, x: Any) -> Any:
        return jnp.sort(x, axis=-1) * self.gain[...]


class InLinen(nn.Module):
    size: float

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return jnp.sort(x, axis=-1) * self.param("gain", lambda key: jnp.full((32,), self.size))


class InEquinox(eqx.Module):
    gain: jax.Array
    size: float

    def __call__(self, x: Any, *, key: Any = None) -> Any:
        return jnp.sort(x, axis=-1) * self.gain


class InHaiku(hk.Module):
    def __init__(self, size: float) -> None:
        super().__init__()
        self.size = size

    def __call__(self, x: Any) -> Any:
        return jnp.sort(x, axis=-1) * self.size


class NnxNet(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first, self.own, self.last = nnx.Linear(32, 32, rngs=rngs), InNnx(2.0), nnx.Linear(32, 8, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.last(self.own(self.first(x)))


class LinenNet(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.Dense(8)(InLinen(2.0)(nn.Dense(32)(x)))


def equinox_net() -> eqx.nn.Sequential:
    keys = jax.random.split(jax.random.key(0))
    return eqx.nn.Sequential([eqx.nn.Linear(32, 32, key=keys[0]), InEquinox(jnp.full((32,), 2.0), 2.0),
                              eqx.nn.Linear(32, 8, key=keys[1])])  # fmt: skip


def haiku_net(x: Any) -> Any:
    return hk.Linear(8)(InHaiku(2.0)(hk.Linear(32)(x)))


MODELS: dict[type, Callable[[], Any]] = {
    InNnx: lambda: NnxNet(nnx.Rngs(0)), InLinen: LinenNet, InEquinox: equinox_net,
    InHaiku: lambda: hk.transform(haiku_net),
}  # fmt: skip


def row_of(plan: autoinit.Plan, op: str) -> Any:
    (row,) = [row for row in plan.tensors if row.op == op]
    return row


def as_doubled(layer: Any, x: autoinit.Signal) -> autoinit.Signal:
    return x.scaled(layer.size)


@pytest.mark.parametrize("target", MODELS)
def test_a_rule_for_a_module(target: type) -> None:
    model = MODELS[target]()
    before = vars(target)["__call__"]
    plan = autoinit.plan(model, X, rules={target: as_doubled}, warn=False)
    assert row_of(plan, target.__name__).variance == pytest.approx(4.0, rel=1e-6)
    assert row_of(plan, target.__name__).shape == list(X)
    assert [row.target for row in plan.weight_layers] == [1.0, 1.0]
    assert plan[plan.weight_layers[1].weight].std == pytest.approx((1 / (32 * 4.0)) ** 0.5, rel=1e-6)
    assert not [n for n in plan.notes if n.kind in ("simulated", "passed")]
    assert vars(target)["__call__"] is before
    assert not [row for row in autoinit.plan(model, X, warn=False).tensors if row.op == target.__name__]


@pytest.mark.parametrize("target", [InNnx, InEquinox])
def test_a_rule_sees_the_values_of_parameters(target: type) -> None:
    """Those before the plan is applied; of an abstract module their shapes."""
    seen: list[Any] = []

    def rule(layer: Any, x: autoinit.Signal) -> autoinit.Signal:
        seen.append(layer.gain[...] if target is InNnx else layer.gain)
        return x

    autoinit.plan(MODELS[target](), X, rules={target: rule}, warn=False)
    np.testing.assert_array_equal(seen[0], np.full((32,), 2.0))
    if target is InEquinox:
        autoinit.plan(eqx.filter_eval_shape(equinox_net), X, rules={target: rule}, warn=False)
        assert isinstance(seen[1], jax.ShapeDtypeStruct) and seen[1].shape == (32,)


def test_a_registered_rule_holds_for_derived_classes_and_inside_of_jit() -> None:
    class Derived(InNnx):
        def __call__(self, x: Any) -> Any:
            return super().__call__(x) + 0.0

    class Net(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.first, self.own = nnx.Linear(32, 32, rngs=rngs), Derived(2.0)

        def __call__(self, x: Any) -> Any:
            return jax.jit(self.own.__call__)(self.first(x))

    model = Net(nnx.Rngs(0))
    plain = [row.op for row in autoinit.plan(model, X, warn=False).tensors]
    autoinit.rule(InNnx)(as_doubled)
    try:
        plan = autoinit.plan(model, X, warn=False)
    finally:
        autoinit.forget_rule(InNnx)
    assert row_of(plan, "Derived").variance == pytest.approx(4.0, rel=1e-6)
    assert [row.op for row in autoinit.plan(model, X, warn=False).tensors] == plain


def through(layer: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda p, x: layer(x @ p["first"]) @ p["last"]


PARAMS = {"first": jax.ShapeDtypeStruct((32, 32), jnp.float32), "last": jax.ShapeDtypeStruct((32, 8), jnp.float32)}


@pytest.mark.parametrize("target", [Doubled, strange], ids=lambda t: t.__name__)
def test_plain_functions_and_classes(target: Any) -> None:
    own = Doubled() if target is Doubled else lambda x: strange(x)
    plan = autoinit.plan(through(own), X, params=PARAMS, rules={target: lambda _, x: x.scaled(5.0)})
    assert row_of(plan, target.__name__).variance == pytest.approx(25.0, rel=1e-6)
    assert plan["last"].std == pytest.approx((1 / (32 * 25.0)) ** 0.5, rel=1e-6)


def test_a_rule_inside_of_scan_remat_vmap_and_grad() -> None:
    own = Doubled()

    def scanned(p: Any, x: Any) -> Any:
        body = jax.checkpoint(lambda x, w: (own(x @ w), None))
        return lax.scan(body, x, jnp.stack([p["first"]] * 3))[0] @ p["last"]

    rules = {Doubled: lambda _, x: x.scaled(2.0)}
    plan = autoinit.plan(scanned, X, params=PARAMS, rules=rules, warn=False)
    assert sum(row.op == "Doubled" for row in plan.tensors) == 3
    mapped = autoinit.plan(lambda p, x: jax.vmap(lambda row: through(own)(p, row))(x), X, params=PARAMS, rules=rules)
    assert row_of(mapped, "Doubled").shape == list(X)
    sloped = lambda p, x: x + jax.grad(lambda x: own(x @ p["first"]).sum())(x)  # noqa: E731
    autoinit.plan(sloped, X, params=PARAMS, rules=rules, warn=False)


def test_what_is_measured_and_calibrated_stays_with_its_rows() -> None:
    """With a rule, other rows have the keys that they have without."""
    function = through(lambda x: jnp.tanh(Doubled()(jnp.tanh(x))))
    rules = {Doubled: lambda _, x: x.scaled(2.0)}
    plain, plan = (autoinit.plan(function, X, params=PARAMS, warn=False, rules=r) for r in (None, rules))
    keys = [key_of(row) for row in plain.tensors]
    assert [key_of(row) for row in plan.tensors if row.op != "Doubled"] == [k for k in keys if k[1] not in INSIDE]
    params, plan = autoinit.initialize(function, (2048, 32), params=PARAMS, rules=rules, calibrate=True, warn=False)
    found = {key_of(row.predicted): row.variance
             for row in autoinit.measure(function, (2048, 32), params=params, seed=9, warn=False).rows}  # fmt: skip
    for row in plan.weight_layers:
        assert found[key_of(row)] == pytest.approx(row.target, rel=0.1)


INSIDE = ("sort", "mul")


def test_a_rule_that_fails_names_its_layer() -> None:
    with pytest.raises(autoinit.AutoInitError, match="InNnx"):
        autoinit.plan(MODELS[InNnx](), X, rules={InNnx: lambda layer, x: 1 / 0}, warn=False)
    assert "called" not in InNnx.__call__.__qualname__


def test_a_rule_for_what_is_never_called_is_refused() -> None:
    with pytest.raises(autoinit.AutoInitError, match="a rule for one has no place"):
        autoinit.plan(through(Doubled()), X, params=PARAMS, rules={dict: lambda layer, x: x})


def test_no_tracer_leaks() -> None:
    with jax.checking_leaks():
        for target in (InNnx, InEquinox, InLinen):
            autoinit.plan(MODELS[target](), X, rules={target: as_doubled}, warn=False)
