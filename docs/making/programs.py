"""Pages of the site made of programs and notebooks."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WIDEST = 30_000
"""Characters of one HTML output that a page shows."""


def program_page(path: Path) -> str:
    """What its docstring says, and the program."""
    source = path.read_text(encoding="utf-8")
    module = ast.parse(source)
    told = ast.get_docstring(module) or ""
    body = "\n".join(source.splitlines()[module.body[0].end_lineno if told else 0 :]).strip()
    return f"# {path.name}\n\n{told}\n\n```python\n{body}\n```\n"


def notebook_page(path: Path) -> str:
    """Cells and what they show, as stored."""
    return "\n\n".join(part for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] for part in _cell(cell))


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    text = _joined(cell["source"])
    if cell["cell_type"] == "markdown":
        yield text
        return
    yield f"```python\n{text}\n```"
    for output in cell["outputs"]:
        yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    data = output.get("data", {})
    if "image/png" in data:
        yield f'<img alt="What the cell draws" src="data:image/png;base64,{_joined(data["image/png"]).strip()}">'
    elif len(html := _joined(data.get("text/html", ""))) in range(1, WIDEST):
        yield f'<div class="output">{"".join(html.splitlines())}</div>'
    elif text := _joined(output.get("text", data.get("text/plain", ""))).rstrip():
        yield f"```text\n{text}\n```"


def _joined(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
