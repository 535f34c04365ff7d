"""Plan files from strangers on Keras: refused as a whole with the place of what is wrong, the model untouched."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
from keras import layers

import autoinit
from autoinit import Plan
from autoinit.core.plan.plan import Note
from autoinit.errors import PlanError
from autoinit.frontends.keras.variables import as_array
from tests.hostile.plan_cases import FILED, HARMLESS, WRITTEN, changed, content, damaged

X = autoinit.Input((8, 6), mean=0.5)


def net() -> keras.Model:
    keras.utils.set_random_seed(0)
    inner = [layers.Dense(8, "relu", name="first"), layers.Dense(4, name="last")]
    return keras.Sequential([keras.Input((6,)), *inner], name="net")


@pytest.fixture(scope="module")
def good() -> dict:
    plan = autoinit.plan(net(), X, center="bias")
    plan.centers = autoinit.plan(net(), X, center="activation").centers
    plan.notes = [Note("info", "first", "a note")]
    made = plan.to_dict()
    assert [p["action"] for p in made["parameters"]] == ["set", "centre", "set", "centre"] and made["centers"]
    made["parameters"][1]["parts"][0].update(kind="constant", std=0.0)
    return made


@pytest.fixture(scope="module")
def model() -> keras.Model:
    return net()


def state(model: keras.Model) -> list:
    return [layers.serialize(model), *(np.array(as_array(v._value)).tobytes() for v in model.variables)]


ALL = WRITTEN + FILED


@pytest.mark.one_backend
@pytest.mark.parametrize(("field", "value", "word"), [c[1:] for c in ALL], ids=[c[0] for c in ALL])
def test_row_10_damaged_files(field: str, value, word: str, good: dict, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content(damaged(good, field, value)))
    with pytest.raises(PlanError, match=word) as caught:
        Plan.load(path)
    assert caught.value.where.startswith(str(path)) and caught.value.fix


@pytest.mark.parametrize(("field", "value", "word"), [c[1:] for c in WRITTEN], ids=[c[0] for c in WRITTEN])
def test_row_10_plans_changed_in_memory(field: str, value, word: str, good: dict, model: keras.Model) -> None:
    plan, before = Plan.from_dict(good), state(model)
    changed(plan, field, value)
    with pytest.raises(PlanError, match=word):
        plan.apply(model)
    assert state(model) == before


@pytest.mark.parametrize(("field", "value"), [c[1:] for c in HARMLESS], ids=[c[0] for c in HARMLESS])
def test_harmless_files(field: str, value, good: dict, tmp_path: Path) -> None:
    path, model = tmp_path / "plan.json", net()
    path.write_bytes(content(damaged(good, field, value)))
    Plan.load(path).apply(model)
    assert all(np.isfinite(as_array(v._value)).all() for v in model.variables)


@pytest.mark.parametrize("field", ["parameters[0].shape", "parameters[2].shape"])
def test_plans_that_are_whole_but_of_another_model(field: str, good: dict, model: keras.Model) -> None:
    """A weight's region that is inside of the planned shape is looked at again in the model."""
    data, before = damaged(good, field, [64, 8]), state(model)
    data["parameters"][2]["parts"] = []  # so that only the bias speaks of that weight
    with pytest.raises(PlanError, match="another shape"):
        Plan.from_dict(data).apply(model)
    assert state(model) == before


def test_two_parts_on_the_same_entries_leave_no_garbage(good: dict) -> None:
    """Together as large as the parameter, but the second half of it is not theirs: it keeps its values."""
    data, model = damaged(good, "", None), net()
    part = {**data["parameters"][0]["parts"][0], "shape": [24], "stride": [1], "offset": 0}
    data["parameters"][0]["parts"] = [part, part]
    before = np.array(as_array(model.layers[0].kernel._value)).reshape(-1)
    Plan.from_dict(data).apply(model)
    now = np.array(as_array(model.layers[0].kernel._value)).reshape(-1)
    assert np.array_equal(now[24:], before[24:]) and not np.array_equal(now[:24], before[:24])
