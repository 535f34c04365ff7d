"""The invariant: what is set is random. Here, that it finds what is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autoinit import Plan
from autoinit.core.plan.plan import ParameterPlan, PartPlan
from autoinit.testing import violations

RNG = np.random.default_rng(0)


def plan(shape: tuple[int, ...], *parts: PartPlan, action: str = "set") -> Plan:
    strides = [int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    entry = ParameterPlan(
        "w", list(shape), action, "", list(parts) or [PartPlan(list(shape), strides, 0, "random", 0.1)]
    )
    return Plan("", "", 1.0, "normal", 0, True, [entry], [], [])


def gaussian(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def bfloat16(array: Any) -> Any:
    return (np.asarray(array, np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)


def orthogonal(rows: int, columns: int) -> Any:
    q, _ = np.linalg.qr(RNG.standard_normal((max(rows, columns), min(rows, columns))))
    return q if rows >= columns else q.T


@pytest.mark.parametrize(
    "values",
    [
        gaussian(64, 32), gaussian(3), gaussian(2, 2), gaussian(1, 1), gaussian(1, 500), gaussian(24, 16, 3, 3),
        gaussian(400, 400), gaussian(2000, 3), bfloat16(gaussian(256, 256)), gaussian(256, 256).astype(np.float16),
        orthogonal(64, 16), orthogonal(16, 64), RNG.uniform(-1, 1, (40, 40)), gaussian(16, 1, 3, 3),
        RNG.standard_normal((8, 8)) + 1j * RNG.standard_normal((8, 8)), gaussian(128, 128) * np.float32(1e-30),
    ],
    ids=lambda v: f"{v.dtype}{v.shape}",
)  # fmt: skip
def test_random_weights_pass(values: Any) -> None:
    assert not violations(plan(values.shape), {"w": values})


@pytest.mark.parametrize(
    ("values", "word"),
    [
        (np.full((48, 64), 0.176), "distinct"),
        (np.full((48, 64), 0.125, np.float32), "constant along axis 0"),
        (np.repeat(gaussian(48, 1), 64, axis=1), "constant along axis 1"),
        (np.repeat(gaussian(24, 16, 1, 3), 3, axis=2), "constant along axis 2"),
        (gaussian(48, 1) * gaussian(1, 64), "effective rank"),
        (gaussian(128, 4) @ gaussian(4, 128), "effective rank"),
        (np.sign(gaussian(48, 64)), "distinct"),
        (np.tile(gaussian(12, 64), (4, 1)), "distinct"),
        (gaussian(48, 64) + 5.0, "effective rank"),
        (np.where(np.eye(48) > 0, np.nan, gaussian(48, 48)), "not finite"),
        (np.zeros((48, 64)), "distinct"),
    ],
    ids=["constant", "constant, few bits", "along an axis", "along taps", "outer product", "low rank", "signs",
         "copies", "far from zero", "no numbers", "zeros"],
)  # fmt: skip
def test_what_is_not_random_is_found(values: Any, word: str) -> None:
    found = violations(plan(values.shape), {"w": values})
    assert any(word in str(v) for v in found) and all(v.parameter == "w" for v in found)


def test_only_what_is_drawn_counts() -> None:
    values = np.ones((6, 4))
    assert not violations(plan((6, 4), action="gain"), {"w": values})
    assert not violations(plan((6, 4), action="kept"), {"w": values})
    constant = PartPlan([6, 4], [4, 1], 0, "constant", 1.0)
    assert not violations(plan((6, 4), constant), {"w": values})
    assert not violations(plan((6, 4)), {})


def test_regions_are_looked_at_one_by_one() -> None:
    values = gaussian(6, 4)
    values[3:] = 0.5
    top = PartPlan([3, 4], [4, 1], 0, "random", 0.1)
    assert not violations(plan((6, 4), top, replace(top, offset=12, kind="constant")), {"w": values})
    assert violations(plan((6, 4), top, replace(top, offset=12)), {"w": values})
