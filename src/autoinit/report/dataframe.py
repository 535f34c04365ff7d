"""A plan as a table of pandas: one row per weight layer, parameter or tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..core.plan.plan import ParameterPlan, PlanData, TensorPlan
from ..errors import OptionError
from ..names import shown
from .data import LayerRow, layer_rows

if TYPE_CHECKING:
    import pandas

Rows = Literal["layers", "parameters", "tensors"]
CHOICES: tuple[Rows, ...] = get_args(Rows)


def dataframe(plan: PlanData, rows: Rows = "layers") -> pandas.DataFrame:
    """The rows that `Plan.to_dataframe` describes."""
    if rows not in CHOICES:
        raise OptionError("no such rows", where="Plan.to_dataframe", received=shown(repr(rows)),
                          fix=f"one of {', '.join(map(repr, CHOICES))}")  # fmt: skip
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_dataframe needs pandas: pip install pandas") from error
    if rows == "layers":
        made = _columns(LayerRow, layer_rows(plan), leave_out=("index",))
    elif rows == "tensors":
        made = _columns(TensorPlan, plan.tensors)
    else:
        made = _columns(ParameterPlan, plan.parameters, leave_out=("parts",))
        made["std"] = [p.std for p in plan.parameters]
    return pandas.DataFrame(made)


def _columns(kind: Any, items: Sequence[Any], leave_out: Sequence[str] = ()) -> dict[str, list[Any]]:
    """One per field of that dataclass; sequences as tuples."""
    names = [f.name for f in fields(kind) if f.name not in leave_out]
    return {name: [_plain(getattr(item, name)) for item in items] for name in names}


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
