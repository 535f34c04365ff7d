"""The JAX front end does what every front end has to do, on plain functions with a structure of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
from jax import numpy as jnp

import autoinit
from autoinit.frontends.jax.names import named_leaves
from autoinit.measurement import Measurement
from autoinit.testing import FrontEndSuite

from . import spec_models


@dataclass
class Network:
    """fn(params, x, key), and the parameters that it has now: dicts in dicts."""

    function: Any
    params: dict[str, Any]

    def place(self, name: str) -> tuple[dict[str, Any], str]:
        *path, last = name.split(".")
        at = self.params
        for part in path:
            at = at.setdefault(part, {})
        return at, last


class TestFunctions(FrontEndSuite):
    # Activations of JAX are functions in the code of a model (test_libraries.py).
    test_both_ways_to_centre_give_the_same_network = None
    test_centred_activations_are_measured_as_planned = None
    test_centring_touches_nothing_before_it_is_applied = None
    test_centring_again_replaces_the_shift = None
    # What is not trained is no parameter of the function (test_libraries.py).
    test_frozen_parameters_stay = None

    def build(self, model: Any) -> Network:
        program = spec_models.build(model)
        names = [leaf.name for leaf in program.leaves]

        def function(params: Any, x: Any, key: Any) -> Any:
            found = dict(named_leaves(params))
            return program.call([found[name] for name in names], x, key)

        made = Network(function, {})
        for leaf in program.leaves:
            at, last = made.place(leaf.name)
            at[last] = jnp.asarray(leaf.values())
        return made

    def read(self, model: Network) -> dict[str, np.ndarray]:
        return {name: np.array(leaf) for name, leaf in named_leaves(model.params)}

    def write(self, model: Network, name: str, values: np.ndarray) -> None:
        at, last = model.place(name)
        at[last] = jnp.asarray(values)

    def call(self, model: Network, inputs: np.ndarray) -> np.ndarray:
        return np.asarray(jax.jit(model.function)(model.params, inputs, jax.random.key(0)))

    def plan(self, model: Network, inputs: Any, **options: Any) -> autoinit.Plan:
        return autoinit.plan(model.function, inputs, params=model.params, **options)

    def initialize(self, model: Network, inputs: Any, **options: Any) -> autoinit.Plan:
        model.params, plan = autoinit.initialize(model.function, inputs, params=model.params, **options)
        return plan

    def check(self, model: Network, inputs: Any, **options: Any) -> autoinit.Plan:
        found = autoinit.check(model.function, inputs, params=model.params, **options)
        assert isinstance(found, autoinit.Plan)
        return found

    def measure(self, model: Network, inputs: Any, **options: Any) -> Measurement:
        return autoinit.measure(model.function, inputs, params=model.params, **options)

    def apply(self, plan: autoinit.Plan, model: Network, **options: Any) -> None:
        model.params = plan.apply(model.params, **options)
