"""The same model in PyTorch, in Keras (on any backend) and as a function of JAX: standard deviations equal to 1e-6."""

import pytest

pytest.importorskip("jax")

import autoinit
from tests.frontends.jax.twins import TWINS

from . import more_twins, test_parity

LOOSER = {"pooled_vgg": 1e-4}
"""JAX writes elu out as a choice: the same signal, but its maximum over a window is integrated another way."""
MORE = {one.__name__: one for one in more_twins.MORE}
OTHERS = {one.__name__: one for one in test_parity.ARCHITECTURES}
"""Those that `test_parity` holds against PyTorch on every backend."""


def models(name):
    """(PyTorch module, Keras model, inputs of both)."""
    if name in MORE:
        return MORE[name]()
    in_torch, torch_inputs, in_keras, keras_inputs = OTHERS[name]()
    return in_torch, in_keras, torch_inputs, keras_inputs


def stds(plan):
    """Of all that is drawn, part by part (a stacked weight has one for each layer), in order of size."""
    return sorted(part.std for entry in plan.parameters if entry.action == "set" for part in entry.parts)


@pytest.mark.parametrize("twin", [
    pytest.param(twin, marks=pytest.mark.one_backend if twin.__name__ in OTHERS else (), id=twin.__name__)
    for twin in TWINS
])  # fmt: skip
def test_three_frameworks_have_one_plan(twin):
    in_torch, in_keras, torch_inputs, inputs = models(twin.__name__)
    function, params = twin()
    plans = [
        autoinit.plan(in_torch, torch_inputs),
        autoinit.plan(in_keras, inputs),
        autoinit.plan(function, tuple(inputs) if isinstance(inputs, list) else inputs, params=params),
    ]
    one = plans[0]
    allowed = LOOSER.get(twin.__name__, 1e-6)
    assert len(stds(one)) >= 2
    last = one.tensors[one.outputs[0]]
    for other in plans[1:]:
        assert stds(other) == pytest.approx(stds(one), rel=allowed)
        found = other.tensors[other.outputs[0]]
        assert (found.mean, found.variance) == pytest.approx((last.mean, last.variance), rel=allowed, abs=1e-9)
        assert not [n for n in other.notes if n.kind in ("passed", "simulated")]
