"""Complex numbers: the same plans as PyTorch's, and what really comes out."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import autoinit
from autoinit import Input
from autoinit.core.plan.measured import key_of

Params = dict[str, Any]
N, WIDTH = 256, 64
COMPLEX = {"w": jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.complex64)}
REAL = {name: jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32) for name in ("w", "v")}
PHASES = np.exp(1j * np.random.default_rng(0).uniform(0, 2 * np.pi, (8, WIDTH // 2))).astype(np.complex64)


def layer(p: Params, x: Any) -> Any:
    return x @ p["w"]


def taken_apart(p: Params, x: Any) -> Any:
    z = x.astype(jnp.complex64) @ p["w"]
    return z.real + z.imag


def modulus(p: Params, x: Any) -> Any:
    return jnp.abs(x.astype(jnp.complex64) @ p["w"])


def power(p: Params, x: Any) -> Any:
    z = x.astype(jnp.complex64) @ p["w"]
    return (z * jnp.conj(z)).real


def function(p: Params, x: Any) -> Any:
    return jnp.sqrt(x.astype(jnp.complex64) @ p["w"]).real  # no rule: by samples


def turned(p: Params, x: Any) -> Any:
    z = 2j * (x.astype(jnp.complex64) @ p["w"])
    return z.imag


def mixing(p: Params, x: Any) -> Any:
    return jnp.fft.fft2(x).real @ p["w"]


def rotary(p: Params, x: Any) -> Any:
    """Rotary positions as products with numbers of modulus 1."""
    q = x @ p["w"]
    z = jax.lax.complex(q[..., : WIDTH // 2], q[..., WIDTH // 2 :]) * PHASES
    return jnp.concatenate([z.real, z.imag], -1) @ p["v"]


def filtered(p: Params, x: Any) -> Any:
    return jnp.fft.irfft(jnp.fft.rfft(x @ p["w"]), n=WIDTH) @ p["v"]


CASES: list[tuple[Any, Any, Params]] = [
    (layer, Input((N, WIDTH), dtype="complex64"), COMPLEX), (taken_apart, (N, WIDTH), COMPLEX),
    (modulus, (N, WIDTH), COMPLEX), (power, (N, WIDTH), COMPLEX), (function, (N, WIDTH), COMPLEX),
    (turned, (N, WIDTH), COMPLEX), (mixing, (32, 8, WIDTH), REAL), (rotary, (64, 8, WIDTH), REAL),
    (filtered, (N, WIDTH), REAL),
]  # fmt: skip


@pytest.mark.parametrize(("model", "inputs", "shapes"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_what_comes_out_is_what_was_planned(model: Any, inputs: Any, shapes: Params) -> None:
    """One draw of 4096 weights: log x.var() has a standard error of (2 / 4096)^(1/2) for each of at most two layers,
    and as much again of some thousand entries that are alike: within 20 % is five of them."""
    used = {name: shapes[name] for name in shapes if name in model.__code__.co_consts or len(shapes) == 1}
    used = used if model is not mixing else {"w": shapes["w"]}
    params, plan = autoinit.initialize(model, inputs, params=used, warn=False)
    assert not [n for n in plan.notes if n.kind in ("passed", "warning")]
    found = {key_of(row.predicted): row for row in autoinit.measure(model, inputs, params=params, warn=False).rows}
    for row in (*plan.weight_layers, plan.tensors[plan.outputs[0]]):
        assert found[key_of(row)].variance == pytest.approx(row.tensor_variance, rel=0.2)


def test_the_same_as_in_pytorch() -> None:
    torch = pytest.importorskip("torch")

    class Twin(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.randn(WIDTH, WIDTH, dtype=torch.complex64))

        def forward(self, x: Any) -> Any:
            return x @ self.w

    batch = np.random.default_rng(1).standard_normal((N, WIDTH, 2)).astype(np.float32).view(np.complex64)[..., 0]
    model = Twin()
    one = autoinit.initialize(model, torch.from_numpy(batch))
    params, two = autoinit.initialize(layer, batch, params=COMPLEX)
    assert two["w"].std == pytest.approx(one["w"].std, rel=1e-6)
    np.testing.assert_array_equal(params["w"], model.w.detach().numpy())
    present = autoinit.check(layer, batch, params=params)  # both parts of its weights count
    assert present.weight_layers[0].variance == pytest.approx(1.0, rel=0.1)


def test_calibrated() -> None:
    inputs = Input((1024, WIDTH), dtype="complex64")
    params, plan = autoinit.initialize(layer, inputs, params=COMPLEX, calibrate=True)
    (row,) = [r for r in autoinit.measure(layer, inputs, params=params, seed=5).rows if r.predicted.op == "dot_general"]
    assert plan.calibrated and row.variance == pytest.approx(1.0, rel=0.05)
