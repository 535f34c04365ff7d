"""Plans of plain functions have the numbers of the core alone, whatever JAX is set to and however they are written."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from jax.sharding import AbstractMesh, AxisType
from jax.sharding import PartitionSpec as P

import autoinit
from autoinit import Input
from autoinit.testing.reference import reference_plan, words
from autoinit.testing.specs import MODELS, Model
from autoinit.testing.suite import stds

from .programs import noise, plan_of, program, traced
from .spec_models import build


def inputs_of(spec: Model) -> Any:
    described = Input(spec.shape, spec.mean, spec.variance, spec.correlation or 0.0)
    return described if spec.vocabulary is None else words(spec)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_as_the_core(name: str) -> None:
    spec = MODELS[name]
    wanted, found = autoinit.Plan.of(reference_plan(spec)), plan_of(build(spec), inputs_of(spec))
    assert stds(found) == pytest.approx(stds(wanted), rel=1e-6)
    one, two = wanted.tensors[wanted.outputs[0]], found.tensors[found.outputs[0]]
    assert (two.mean, two.variance) == pytest.approx((one.mean, one.variance), rel=1e-6, abs=1e-9)
    assert not [n for n in found.notes if n.kind in ("passed", "simulated")]


@pytest.mark.parametrize("setting", ["disable_jit", "enable_x64", "checking_leaks"])
def test_settings_of_jax_change_nothing(setting: str) -> None:
    """And are not changed."""
    spec = MODELS["dropout"]
    wanted = stds(plan_of(build(spec), inputs_of(spec)))
    contexts = {"disable_jit": jax.disable_jit, "checking_leaks": jax.checking_leaks, "enable_x64": jax.enable_x64}
    with contexts[setting]():
        before = jax.config.jax_disable_jit, jax.config.jax_enable_x64, jax.config.jax_check_tracer_leaks
        found = stds(plan_of(build(spec), inputs_of(spec)))
        assert before == (jax.config.jax_disable_jit, jax.config.jax_enable_x64, jax.config.jax_check_tracer_leaks)
    assert found == pytest.approx(wanted, rel=1e-6)


def test_under_jit_nothing_becomes_a_tracer() -> None:
    """A plan that is made while a function is traced has plain numbers, and the same."""
    spec = MODELS["batch norm"]
    wanted = stds(plan_of(build(spec), inputs_of(spec)))
    found: list[float] = []

    def function(x: Any) -> Any:
        found.extend(stds(plan_of(build(spec), inputs_of(spec))))
        return x

    jax.jit(function)(1.0)
    assert found == pytest.approx(wanted, rel=1e-12)


def moves(x: Any, order: list[int]) -> Any:
    """Reshapes and transposes that cancel."""
    shaped = x.reshape(x.shape[0], 4, 4, -1)
    perm = (0, *(1 + k for k in order))
    inverse = tuple(int(k) for k in np.argsort(perm))
    return shaped.transpose(perm).transpose(inverse).reshape(x.shape)


@settings(deadline=None, max_examples=8)
@given(st.permutations([0, 1, 2]), st.booleans())
def test_moves_that_cancel_change_no_plan(order: list[int], twice: bool) -> None:
    def function(p: Any, x: Any, key: Any, moved: bool = True) -> Any:
        y = x @ p["one.w"]
        y = moves(y, order) if moved else y
        y = jax.nn.relu(y + p["one.b"])
        y = moves(y, order) if moved and twice else y
        return y @ p["two.w"]

    shapes = {"one.w": (32, 64), "one.b": (64,), "two.w": (64, 16)}
    plain = program(lambda p, x, key: function(p, x, key, moved=False), shapes)
    one, two = (plan_of(made, noise(16, 32)) for made in (program(function, shapes), plain))
    assert [(p.action, p.std) for p in one.parameters] == [(p.action, p.std) for p in two.parameters]


def test_a_scanned_stack_is_a_loop() -> None:
    """Every layer has a part of the stacked weight of its own, with the numbers that a loop over it gets."""

    def block(x: Any, weights: Any) -> Any:
        up, down = weights
        return x + jax.nn.relu(x @ up) @ down

    def scanned(p: Any, x: Any, key: Any) -> Any:
        x = x @ p["stem.w"]
        return lax.scan(lambda x, w: (jax.checkpoint(block)(x, w), None), x, (p["up.w"], p["down.w"]))[0] @ p["head.w"]

    def looped(p: Any, x: Any, key: Any) -> Any:
        x = x @ p["stem.w"]
        for k in range(6):
            x = block(x, (p["up.w"][k], p["down.w"][k]))
        return x @ p["head.w"]

    shapes = {"stem.w": (32, 48), "up.w": (6, 48, 96), "down.w": (6, 96, 48), "head.w": (48, 16)}
    one, two = (plan_of(program(function, shapes), noise(32, 32)) for function in (scanned, looped))
    assert [p.parts for p in one.parameters] == [p.parts for p in two.parameters]
    parts = one.parameter("down.w").parts
    assert len(parts) == 6 and one.parameter("stem.w").parts[0].std == pytest.approx(32**-0.5)
    assert len({part.offset for part in parts}) == 6


def test_a_recurrence_is_followed_step_by_step() -> None:
    """Where its states are no cell that is known: one weight for all steps, which the first step decides."""

    def function(p: Any, x: Any, key: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = h + jnp.tanh(x @ p["cell.w"] + h @ p["cell.u"])
            return h, h

        return lax.scan(step, jnp.zeros((16, 48)), x)[1] @ p["head.w"]

    made = program(function, {"cell.w": (32, 48), "cell.u": (48, 48), "head.w": (48, 8)})
    followed = traced(made, noise(5, 16, 32))
    assert followed.graph.notes == ["cell: a recurrence of 5 steps, followed step by step"]
    used = [node.inputs[1].name for node in followed.graph.nodes if node.op == "linear" and node.module == "cell"]
    assert used.count("cell.w") == 5 and used.count("cell.u") in (4, 5)  # the first state is zero


def test_shard_map_is_followed_on_one_device() -> None:
    """Elsewhere a note says so. Kernels that are cut along the mesh have their whole shapes there."""
    params = {"w": jax.ShapeDtypeStruct((32, 48), jnp.float32), "v": jax.ShapeDtypeStruct((48, 16), jnp.float32)}

    def plain(p: Any, x: Any) -> Any:
        return jnp.tanh(x @ p["w"]) @ p["v"]

    def split(mesh: Any) -> Any:
        def body(w: Any, v: Any, x: Any) -> Any:
            return lax.psum((jnp.tanh(x @ w) + 0.0 * lax.axis_index("d")) @ v, "d")

        mapped = jax.shard_map(body, mesh=mesh, in_specs=(P(None, "d"), P("d"), P()), out_specs=P())
        return lambda p, x: mapped(p["w"], p["v"], x)

    one = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Auto,))
    found, wanted = (autoinit.plan(f, (16, 32), params=params) for f in (split(one), plain))
    assert [(p.name, p.std) for p in found] == [(p.name, pytest.approx(p.std, rel=1e-6)) for p in wanted]
    two = AbstractMesh((2,), ("d",), axis_types=(AxisType.Auto,))
    other = autoinit.plan(split(two), (16, 32), params=params, warn=False)
    assert any("shard_map over 2 devices is not followed" in note.message for note in other.notes)


def test_branches_that_depend_on_data_are_both_followed() -> None:
    def function(p: Any, x: Any, key: Any) -> Any:
        y = x @ p["one.w"]
        return lax.cond(y.sum() > 0, jnp.tanh, lambda y: y, y) @ p["two.w"]

    made = program(function, {"one.w": (32, 48), "two.w": (48, 16)})
    assert {node.attrs.get("fn") for node in traced(made, noise(16, 32)).graph.nodes} >= {"tanh", "where"}
    known = program(
        lambda p, x, key: lax.fori_loop(0, 3, lambda k, y: jnp.tanh(y), x @ p["one.w"]), {"one.w": (32, 48)}
    )
    assert [node.op for node in traced(known, noise(16, 32)).graph.nodes] == ["linear", *["elementwise"] * 3]
