"""Weights that are planned from the beginning: eager, under `jit` and on eight devices they have the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("flax")
pytest.importorskip("equinox")
pytest.importorskip("haiku")

import equinox as eqx
import haiku as hk
import jax
from flax import nnx
from jax import numpy as jnp

import autoinit
import autoinit.equinox
import autoinit.haiku
import autoinit.linen
import autoinit.nnx
from autoinit.frontends.jax.abstract import made
from autoinit.frontends.jax.drawing import own_memory
from autoinit.frontends.jax.seeds import seed_of, words_of
from tests.frontends.jax.libraries import INPUTS, InEquinox, InLinen, InNnx, in_haiku, same

ROOT = Path(__file__).parents[3]
X = jnp.ones((1, 40))


def test_linen_init_eager_and_jitted() -> None:
    wanted, _ = autoinit.initialize(InLinen(), (64, 40), seed=5)  # a batch of one stands for any
    eager = autoinit.linen.init(InLinen(), jax.random.key(5), X)
    jitted = jax.jit(partial(autoinit.linen.init, InLinen()))({"params": jax.random.key(5)}, X)
    assert same(wanted, eager) and same(eager, jitted)
    assert same(eager, autoinit.linen.init(InLinen(), jax.random.PRNGKey(5), X))
    assert not same(eager, autoinit.linen.init(InLinen(), jax.random.key(6), X))


def test_haiku_transform() -> None:
    made = autoinit.haiku.transform(hk.transform(in_haiku))
    eager = made.init(jax.random.key(1), X)
    assert same(eager, jax.jit(made.init)(jax.random.key(1), X))
    assert made.apply(eager, None, X).shape == (1, 8)


def test_nnx_create_keeps_what_the_constructor_says() -> None:
    model, plan = autoinit.nnx.create(lambda: InNnx(nnx.Rngs(0)), INPUTS, seed=2)
    wanted = InNnx(nnx.Rngs(0))
    assert autoinit.initialize(wanted, INPUTS, seed=2) == plan
    assert same(nnx.state(model, nnx.Param), nnx.state(wanted, nnx.Param))
    keys = [jax.random.key_data(m.drop.rngs.key[...]) for m in (model, wanted)]
    np.testing.assert_array_equal(*keys)


def test_equinox_create_knows_gains() -> None:
    def build() -> eqx.nn.Sequential:
        return eqx.nn.Sequential([InEquinox(jax.random.key(0)).first, eqx.nn.LayerNorm(64)])

    model, _ = autoinit.equinox.create(build, INPUTS)
    np.testing.assert_array_equal(model[1].weight, 1.0)


def test_constants_are_told_from_chance() -> None:
    def build(key: jax.Array) -> dict[str, jax.Array]:
        return {"gain": jnp.full(3, 1e-6), "drawn": jax.random.normal(key, (3,)), "zero": jnp.zeros((2, 2)),
                "own": jax.random.normal(jax.random.key(0), (2,))}  # fmt: skip

    found = made(build, jax.random.key(0))
    assert set(found.constants) == {"gain", "zero"}
    np.testing.assert_array_equal(found.constants["gain"](), np.float32(1e-6))


def test_seeds_of_keys() -> None:
    assert [seed_of(np.asarray(words_of(jax.random.key(k)))) for k in (0, 5, 2**31)] == [0, 5, 2**31]
    one, two = (seed_of(np.asarray(words_of(k))) for k in jax.random.split(jax.random.key(0)))
    assert one != two


SCRIPT = """
from functools import partial
import jax, numpy as np
from flax import nnx
from jax import numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
import autoinit, autoinit.linen, autoinit.nnx
from autoinit.frontends.jax import traced
from tests.frontends.jax.libraries import InLinen, InNnx, same

mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto, AxisType.Auto))
place = lambda a: NamedSharding(mesh, P(*(("x", "y") if a.ndim == 2 else ("y",))))
key, x = jax.random.key(0), jnp.ones((1, 40))
before = jax.config.values.copy()
for options in ({}, {"recipe": "train", "center": "bias"}):
    init = partial(autoinit.linen.init, InLinen(), options=options)
    whole = init(key, x)
    sharded = jax.jit(init, out_shardings=jax.tree.map(place, whole))(key, x)
    assert same(whole, sharded), options
    kernel = sharded["params"]["Dense_0"]["kernel"]
    assert {s.data.shape for s in kernel.addressable_shards} == {(10, 32)}
asked = []
host = lambda words, low, shape, there: asked.append(tuple(shape)) or np.zeros(shape, np.float32)
jax.block_until_ready(jax.jit(lambda k: traced.drawn(jax.random.key_data(k), (8, 6), np.float32, host),
                              out_shardings=NamedSharding(mesh, P("x", "y")))(key))
assert set(asked) == {(2, 3)}, asked
model, plan = autoinit.nnx.create(lambda: InNnx(nnx.Rngs(0)), (32, 40),
                                  shardings=lambda name, shape: NamedSharding(mesh, P("x")) if shape else None)
other = InNnx(nnx.Rngs(0))
plan.apply(other)
assert same(nnx.state(model, nnx.Param), nnx.state(other, nnx.Param))
assert len(model.first.kernel[...].addressable_shards) == 8
assert jax.config.values == before
print("fine")
"""


@pytest.mark.slow
def test_born_sharded_on_eight_devices() -> None:
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "PYTHONPATH": paths}
    answer = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment)
    assert answer.stdout.strip() == "fine", answer.stderr[-3000:]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_what_is_drawn_is_taken_over_without_a_copy(dtype: str) -> None:
    made = own_memory((33, 5), jnp.dtype(dtype))
    made[...] = 3
    array = jax.device_put(made)
    assert array.unsafe_buffer_pointer() == made.ctypes.data
    np.testing.assert_array_equal(np.asarray(array), made)
    assert own_memory((), np.float32).shape == () and own_memory((3, 0), np.float32).size == 0
