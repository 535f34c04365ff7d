"""What front ends share: the protocol, and writing a plan as a template, tried on a framework of NumPy arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from autoinit.core.drawing import Draw
from autoinit.core.plan.plan import ParameterPlan, PartPlan, PlanData
from autoinit.errors import PlanError
from autoinit.frontends.base import FrontEnd, Probe
from autoinit.frontends.base_ancestry import MOST_STARTS, share, union
from autoinit.frontends.base_apply import Application, Step, Write, all_or_nothing
from autoinit.frontends.base_call import into
from autoinit.frontends.choice import FRONT_ENDS
from autoinit.frontends.einsum import explicit

Arrays = dict[str, NDArray[Any]]


def asked(protocol: type) -> dict[str, Any]:
    return {name: item for name, item in vars(protocol).items() if inspect.isfunction(item) and name[0] != "_"}


@pytest.mark.parametrize("framework", FRONT_ENDS)
def test_front_ends_offer_what_is_asked(framework: str) -> None:
    pytest.importorskip(framework)
    front = pytest.importorskip(FRONT_ENDS[framework])
    assert framework == front.NAME
    for name, method in asked(FrontEnd).items():
        expected = list(inspect.signature(method).parameters)[1:]
        assert list(inspect.signature(getattr(front, name)).parameters) == expected, name
    probe = inspect.signature(front.probe, eval_str=True).return_annotation
    for name, method in asked(Probe).items():
        assert list(inspect.signature(getattr(probe, name)).parameters) == list(inspect.signature(method).parameters)


def test_every_method_says_what_it_is_for() -> None:
    for protocol in (FrontEnd, Probe):
        assert all(method.__doc__ for method in asked(protocol).values())


class OnArrays(Application[NDArray[Any], Write[NDArray[Any]]]):
    """Parameters that are arrays; a read-only one is frozen."""

    fails_at = ""

    def shape(self, parameter: NDArray[Any]) -> tuple[int, ...]:
        return parameter.shape

    def is_frozen(self, parameter: NDArray[Any]) -> bool:
        return not parameter.flags.writeable

    def write_of(self, entry: ParameterPlan, parameter: NDArray[Any]) -> Write[NDArray[Any]]:
        return Write(entry, parameter)

    def held(self, write: Write[NDArray[Any]]) -> Callable[[], Any]:
        before = write.parameter.copy()
        return lambda: np.copyto(write.parameter, before)

    def draw(self, write: Write[NDArray[Any]]) -> None:
        Draw(write.entry, self.plan.distribution, self.seed).into(write.parameter)
        if write.entry.name == self.fails_at:
            raise MemoryError

    def centre(self, write: Write[NDArray[Any]]) -> None:
        for part in write.centring:
            write.parameter[:] = -part.value * self.parameters[part.of].sum(axis=1)


def entry(name: str, *shape: int, kind: str = "random", **more: Any) -> ParameterPlan:
    stride = [int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    return ParameterPlan(name, list(shape), "set", "", [PartPlan(list(shape), stride, 0, kind, 1.0, **more)])


@pytest.fixture
def plan() -> PlanData:
    bias = entry("bias", 3, kind="centre", of="weight", of_shape=[3, 4], of_stride=[4, 1], value=2.0)
    return PlanData("Net", "arrays", 1.0, "normal", 0, True, [entry("weight", 3, 4), bias, entry("head", 2, 3)], [], [])


@pytest.fixture
def arrays() -> Arrays:
    return {"weight": np.zeros((3, 4)), "bias": np.zeros(3), "head": np.zeros((2, 3))}


def test_everything_is_written(plan: PlanData, arrays: Arrays) -> None:
    written = OnArrays(plan, 0, arrays).run()
    assert [w.entry.name for w in written] == ["weight", "bias", "head"]
    assert all(array.any() for array in arrays.values())
    np.testing.assert_allclose(arrays["bias"], -2 * arrays["weight"].sum(axis=1))


@pytest.mark.parametrize("name", ["weight", "bias", "head"])
def test_or_nothing(plan: PlanData, arrays: Arrays, name: str) -> None:
    making = OnArrays(plan, 0, arrays)
    making.fails_at = name
    with pytest.raises(MemoryError):
        making.run()
    assert not any(array.any() for array in arrays.values())


def test_frozen_parameters_are_left_alone(plan: PlanData, arrays: Arrays) -> None:
    arrays["weight"].flags.writeable = False
    assert [w.entry.name for w in OnArrays(plan, 0, arrays).run()] == ["bias", "head"]
    assert not arrays["weight"].any()


def test_tied_ones_that_came_apart(plan: PlanData, arrays: Arrays) -> None:
    plan = replace(plan, parameters=[replace(entry("head", 2, 3), aliases=["tail"])])
    arrays["tail"] = np.zeros((2, 3))
    OnArrays(plan, 0, arrays).run()
    np.testing.assert_array_equal(arrays["tail"], arrays["head"])


@pytest.mark.parametrize(("name", "made", "why"), [
    ("weight", None, "no parameter of that name"),
    ("weight", np.zeros((4, 3)), "another shape"),
    ("head", np.zeros(6), "another shape"),
])  # fmt: skip
def test_what_does_not_fit_is_found_before(plan: PlanData, arrays: Arrays, name: str, made: Any, why: str) -> None:
    arrays = {**arrays, name: made} if made is not None else {k: v for k, v in arrays.items() if k != name}
    with pytest.raises(PlanError, match=why):
        OnArrays(plan, 0, arrays).run()
    assert not any(array.any() for array in arrays.values())


def test_steps_are_undone_last_first() -> None:
    done: list[str] = []

    def fail() -> None:
        raise RuntimeError("no")

    steps = [
        Step("a", lambda: done.append("a"), lambda: done.append("not a")),
        Step("b", lambda: done.append("b")),
        Step("c", fail, lambda: done.append("not c")),
    ]
    with pytest.raises(RuntimeError):
        all_or_nothing(steps)
    assert done == ["a", "b", "not c", "not a"]


def test_starts() -> None:
    a, b = frozenset("a"), frozenset("b")
    assert union([a, b]) == {"a", "b"} and union([a, None]) is None and union(()) == frozenset()
    assert union(frozenset([k]) for k in range(MOST_STARTS + 1)) is None
    assert share(a, a | b) and not share(a, b) and not share(a, None)


@pytest.mark.parametrize(("equation", "shapes", "output"), [
    ("ij, jk", [(2, 3), (3, 4)], (2, 4)),
    ("...i,ij->...j", [(5, 6, 2), (2, 3)], (5, 6, 3)),
    ("...ij,...jk", [(5, 2, 3), (7, 5, 3, 4)], (7, 5, 2, 4)),
    ("A...,A", [(2, 3, 4), (2,)], (3, 4)),
    ("ii", [(3, 3)], ()),
])  # fmt: skip
def test_einsum_spelt_out(equation: str, shapes: list[tuple[int, ...]], output: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    spelt = explicit(equation, [a.ndim for a in arrays])
    assert "." not in spelt and "->" in spelt
    made = np.einsum(spelt, *arrays)
    assert made.shape == output
    np.testing.assert_allclose(made, np.einsum(equation, *arrays))


def test_a_lowering_is_registered_once() -> None:
    table: dict[str, Callable[..., None]] = {}
    into(table, ("relu", "relu6"))(print)
    assert set(table) == {"relu", "relu6"}
    with pytest.raises(AssertionError, match="relu"):
        into(table, ("relu",))(print)
