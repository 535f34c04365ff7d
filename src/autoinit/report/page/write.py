"""Put template, style, scripts and data together into one file."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from ...core.files import replace_text
from ...core.plan.measured import MeasurementData, Result
from ...core.plan.plan import PlanData
from ...errors import OptionError
from ...names import shown, shown_in
from ..notebook import plan_html
from .content import content

SCRIPTS = (
    "words.js", "format.js", "chart.js", "signal.js", "gradients.js", "residual.js", "tree.js", "columns.js",
    "table.js", "page.js",
)  # fmt: skip
MARK = re.compile(r"\{\{(\w+)\}\}")


def page(
    plan: PlanData,
    path: str | Path | None = None,
    *,
    default: Result | None = None,
    measured: MeasurementData | None = None,
) -> str:
    """The page as text; written to `path` if there is one."""
    _check("default", default, (PlanData, MeasurementData))
    _check("measured", measured, (MeasurementData,))
    here = files(__package__)
    parts = {
        "title": escape(f"{shown(plan.model)} · AutoInit"),
        "css": here.joinpath("page.css").read_text("utf-8"),
        "data": _json(shown_in(content(plan, default, measured))),
        "script": "\n".join(here.joinpath(name).read_text("utf-8") for name in SCRIPTS),
        "static": plan_html(plan),
    }
    template = here.joinpath("template.html").read_text("utf-8")
    text = MARK.sub(lambda mark: parts[mark[1]], template)  # in one pass: what is put in is not searched again
    if path is not None:
        replace_text(path, text)
    return text


def _check(option: str, value: object, kinds: tuple[type, ...]) -> None:
    if value is not None and not isinstance(value, kinds):
        names = {"default": "autoinit.check(model, inputs) or ", "measured": ""}[option]
        raise OptionError("not something that can be shown", where=f"to_html: {option}", received=type(value).__name__,
                          fix=f"give what {names}autoinit.measure(model, inputs) returns")  # fmt: skip


def _json(data: Any) -> str:
    """JSON that no HTML parser reads as markup, whatever names the model's parts have."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
