"""Plan files from strangers on PyTorch: refused as a whole with the place of what is wrong, the model untouched."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Plan  # noqa: E402
from autoinit.errors import PlanError  # noqa: E402
from tests.hostile.plan_cases import FILED, HARMLESS, TEXTS, WRITTEN, changed, content, damaged, path_of  # noqa: E402

X = autoinit.Input((8, 6), mean=0.5)


def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))


@pytest.fixture(scope="module")
def good() -> dict:
    """A plan with everything: weights, biases of both kinds, a centred activation, a note."""
    plan = autoinit.plan(net(), X, center="bias")
    plan.centers = autoinit.plan(net(), X, center="activation").centers
    plan.notes = [autoinit.core.plan.plan.Note("info", "0", "a note")]
    made = plan.to_dict()
    assert [p["action"] for p in made["parameters"]] == ["set", "centre", "set", "centre"] and made["centers"]
    made["parameters"][1]["parts"][0].update(kind="constant", std=0.0)
    return made


def state(model: nn.Module) -> list:
    modules = [(n, type(m), sorted(m._buffers)) for n, m in model.named_modules()]
    return [*modules, *((n, t.detach().numpy().tobytes()) for n, t in model.state_dict().items())]


def assert_names_the_place(error: PlanError, start: str, field: str = "") -> None:
    assert error.where.startswith(start)
    assert error.why and error.fix and error.received is not None and len(str(error)) < 2000
    if field:
        steps = [step for step in path_of(field) if isinstance(step, str)]
        assert steps[0] in error.where or steps[0] in error.why


def refused(path: Path, word: str, field: str = "") -> None:
    with pytest.raises(PlanError, match=word) as caught:
        Plan.load(path)
    assert_names_the_place(caught.value, str(path), "" if "not JSON" in caught.value.why else field)


ALL = WRITTEN + FILED


@pytest.mark.parametrize(("field", "value", "word"), [c[1:] for c in ALL], ids=[c[0] for c in ALL])
def test_damaged_files(field: str, value, word: str, good: dict, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content(damaged(good, field, value)))
    refused(path, word, field)


@pytest.mark.parametrize(("text", "word"), [c[1:] for c in TEXTS], ids=[c[0] for c in TEXTS])
def test_no_plan_at_all(text: bytes, word: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(text)
    refused(path, word)


@pytest.mark.parametrize(("field", "value", "word"), [c[1:] for c in WRITTEN], ids=[c[0] for c in WRITTEN])
def test_plans_changed_in_memory(field: str, value, word: str, good: dict) -> None:
    """The same checks when it is applied; nothing is written."""
    plan, model = Plan.from_dict(good), net()
    changed(plan, field, value)
    with pytest.raises(PlanError, match=word) as caught:
        plan.apply(model)
    assert_names_the_place(caught.value, "Plan.apply", field)
    assert state(model) == state(net())


@pytest.mark.parametrize(("field", "value"), [c[1:] for c in HARMLESS], ids=[c[0] for c in HARMLESS])
def test_harmless_files(field: str, value, good: dict, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content(damaged(good, field, value)))
    plan, model = Plan.load(path), net()
    plan.apply(model)
    assert all(bool(p.isfinite().all()) for p in model.parameters())


def test_a_byte_order_mark(good: dict, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(b"\xef\xbb\xbf" + content(good))
    assert Plan.load(path) == Plan.from_dict(good)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Plan.load(tmp_path / "nowhere.json")
    with pytest.raises(PlanError, match="folder"):
        Plan.load(tmp_path)
    refused(Path("/dev/null"), "empty")


def test_an_endless_file(monkeypatch) -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("no /dev/zero")
    monkeypatch.setattr("autoinit.core.plan.file.LARGEST_FILE", 10**6)
    refused(Path("/dev/zero"), "too large")


def test_nesting_in_python(good: dict) -> None:
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(PlanError, match="an integer"):
        Plan.from_dict({**good, "seed": deep})
    while deep:  # taken apart by hand: Python's own way is recursive
        deep = deep.pop()


REAL = [
    ("a weight that is turned", "parameters[0].shape", [6, 8]),
    ("a weight that is larger in the plan", "parameters[2].shape", [64, 8]),
]


@pytest.mark.parametrize(("field", "value"), [c[1:] for c in REAL], ids=[c[0] for c in REAL])
def test_plans_that_are_whole_but_of_another_model(field: str, value, good: dict) -> None:
    """A weight's region that is inside of the planned shape is looked at again in the model."""
    data, model = damaged(good, field, value), net()
    data["parameters"][2]["parts"] = []  # so that only the bias speaks of that weight
    with pytest.raises(PlanError, match="another shape"):
        Plan.from_dict(data).apply(model)
    assert state(model) == state(net())


def test_two_parts_on_the_same_entries_leave_no_garbage(good: dict) -> None:
    """Together as large as the parameter, but the second half of it is not theirs."""
    data, model = damaged(good, "", None), net()
    half = {**data["parameters"][0]["parts"][0], "shape": [4, 6]}
    data["parameters"][0]["parts"] = [half, half]
    before = model[0].weight.detach().clone()
    Plan.from_dict(data).apply(model)
    assert torch.equal(model[0].weight[4:], before[4:]) and not torch.equal(model[0].weight[:4], before[:4])


def test_a_file_of_the_first_format_loads_and_says_that_seeds_gave_other_weights() -> None:
    plan = autoinit.plan(torch.nn.Linear(8, 8), (4, 8))
    data = {**plan.to_dict(), "autoinit_plan": 1}
    with pytest.warns(autoinit.AutoInitWarning, match="seeds gave other weights"):
        loaded = autoinit.Plan.from_dict(data)
    assert loaded.parameters == plan.parameters
    assert any(n.place == "seed" and "seeds gave other weights" in n.message for n in loaded.warnings)


def test_another_name_that_is_a_parameters_own() -> None:
    data = autoinit.plan(nn.Linear(8, 8), (4, 8)).to_dict()
    data["parameters"][0]["aliases"] = ["bias"]
    with pytest.raises(PlanError, match="two parameters have this name"):
        Plan.from_dict(data)
