"""The table of ops: its page, the tables of functions beside it, and nodes that are checked against it."""

from __future__ import annotations

import ast
import inspect
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from autoinit.core.dependence.forms import FORMS
from autoinit.core.dependence.places import PUT_TOGETHER
from autoinit.core.graph import features, roles
from autoinit.core.graph.axes_followed import FOLLOWED
from autoinit.core.graph.canonical.moves import MOVES
from autoinit.core.graph.checking import checked
from autoinit.core.graph.cuts import CUTS
from autoinit.core.graph.graph import Constant, Node, ParameterView, Value
from autoinit.core.graph.specs import SPECS, spec_of
from autoinit.errors import GraphError
from autoinit.rules import RULES

ROOT = Path(__file__).parents[2]
X, W = Value(0, (4, 8)), ParameterView("w", (3, 8), (8, 1), 0, True)


def test_the_rule_book_is_printed_from_the_table() -> None:
    """If this fails: python docs/ops.py."""
    made = runpy.run_path(str(ROOT / "docs" / "ops.py"))["pages"]()
    folder = ROOT / "docs" / "rules"
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == made


def test_every_op_has_its_formula() -> None:
    """What has none is measured: on a simulated cell, on samples, or by the user's own function."""
    measured = {"recurrent": "Simulated", "chosen": "samples", "custom": "rule of the user's own"}
    for op, rule in RULES.items():
        told = inspect.getdoc(rule) or ""
        assert measured.get(op, " = ") in told, op


def test_the_example_of_how_to_add_an_op_is_the_code() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text[text.index("## Adding an op") : text.index("## Adding a front end")]
    blocks = re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    places = ["src/autoinit/core/graph/specs/structure.py", "src/autoinit/rules/shape.py",
              "src/autoinit/frontends/torch/lowering/shape.py", "tests/rules/test_shape.py"]  # fmt: skip
    for block, place in zip(blocks, places, strict=True):
        assert block in (ROOT / place).read_text(encoding="utf-8"), place


def test_every_op_has_a_rule_but_what_nobody_knows() -> None:
    assert set(SPECS) - set(RULES) == {"opaque"}
    assert not set(RULES) - set(SPECS)


@pytest.mark.parametrize(
    "table", [FORMS, PUT_TOGETHER, FOLLOWED, MOVES, CUTS, features.KEPT, roles._ROWS, roles._FEATURES]
)
def test_tables_of_functions_name_ops_that_there_are(table: dict[str, Any]) -> None:
    assert set(table) <= set(SPECS)


def test_what_moves_a_layout_moves_entries() -> None:
    assert all(SPECS[op].moves for op in MOVES) and all(SPECS[op].moves for op in CUTS)


def compared_ops(path: Path) -> list[str]:
    """Names that ``node.op`` is compared with."""
    found: list[str] = []
    for compare in (n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Compare)):
        sides = [compare.left, *compare.comparators]
        if any(isinstance(side, ast.Attribute) and side.attr == "op" for side in sides):
            words = (n.value for side in sides for n in ast.walk(side) if isinstance(n, ast.Constant))
            found += [word for word in words if isinstance(word, str)]
    return found


def test_the_core_asks_the_table_and_names_no_ops() -> None:
    for path in sorted((ROOT / "src" / "autoinit" / "core").rglob("*.py")):
        allowed = {"identity"} if path.name == "form.py" else set()  # which it makes itself
        assert set(compared_ops(path)) <= allowed, path


def test_the_test_sees_names_of_ops(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text('if node.op in ("linear", "conv") or node.op == "matmul": pass', encoding="utf-8")
    assert compared_ops(path) == ["linear", "conv", "matmul"]


@pytest.mark.parametrize(
    ("op", "slots"), [("linear", ((1,), 2, ())), ("bilinear", ((2,), 3, ())), ("embedding", ((0,), None, ())),
                      ("normalize", ((), None, (1,))), ("recurrent", ((), None, ())), ("matmul", ((), None, ()))],
)  # fmt: skip
def test_slots_of_weights_bias_and_gains(op: str, slots: Any) -> None:
    assert (spec_of(op).weights, spec_of(op).bias, spec_of(op).gains) == slots


def test_of_an_unknown_op_nothing_is_known() -> None:
    assert spec_of("frobnicate").opaque
    node = Node("frobnicate", (X, 3, "y"), (X,), {"anything": 1})  # type: ignore[arg-type]
    assert checked(node) is node


@pytest.mark.parametrize(
    "node",
    [
        Node("linear", (X, W, None), (Value(1, (4, 3)),)),
        Node("linear", (X, W), (Value(1, (4, 3)),)),
        Node("where", (Constant((), lambda: None), X, X), (X,)),
        Node("elementwise", (X, None), (X,), {"fn": "mul", "scalars": {1: 2.0}}),
        Node("concat", (X, X, X), (X,), {"axis": 0}),
        Node("weight_norm", (W, W), (X,), {"axis": None}),
    ],
    ids=lambda node: node.op,
)
def test_sound_nodes(node: Node) -> None:
    assert checked(node) is node


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "received", "expected"),
    [
        ("softmax", (X,), {"log": False}, "log", "axis: integer"),
        ("permute", (X,), {}, "no attributes", "perm: integers"),
        ("softmax", (X,), {"axis": 1, "dim": 1}, "dim=1", "one of axis, log"),
        ("reshape", (X,), {"shape": (8, 4)}, "shape=(8, 4)", "no attributes"),
        ("softmax", (X,), {"axis": "last"}, "axis='last'", "axis: integer"),
        ("softmax", (X,), {"axis": None}, "axis=None", "axis: integer"),
        ("reduce", (X,), {"kind": "median", "axes": (0,)}, "kind='median'", "kind: mean, sum, max"),
        ("linear", (X,), {}, "1 operands, none in place 1", "linear(x, w, [bias])"),
        ("linear", (None, W), {}, "2 operands, none in place 0", "linear(x, w, [bias])"),
        ("matmul", (X, X, X), {}, "3 operands", "matmul(a, b)"),
        ("matmul", (X, 2.0), {}, "2.0", "a reference of the graph, or None"),
    ],
)
def test_what_does_not_fit_is_told(op: str, inputs: Any, attrs: Any, received: str, expected: str) -> None:
    with pytest.raises(GraphError, match=re.escape(received)) as told:
        checked(Node(op, inputs, (X,), attrs, "block.attn"))
    assert f"block.attn: {op}" in str(told.value) and f"'{op}'" in str(told.value)
    assert expected in str(told.value)
