"""The example notebooks run from the first cell to the last, and are stored with what they show."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("ipykernel", reason="needs ipykernel")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient")

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.ipynb"))
LARGEST = 400_000
"""Bytes; figures are stored inside."""


def cells(path: Path):
    import nbformat

    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    return book, [cell for cell in book.cells if cell.cell_type == "code"]


def kinds(cell) -> set[str]:
    """The forms in which a cell's outputs are shown; what libraries log to stderr is none."""
    outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
    return {form for out in outputs for form in out.get("data", {out.output_type: None}) if form != "text/plain"}


def test_there_is_a_tour():
    assert "tour.ipynb" in [path.name for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_outputs_are_stored(path):
    _, code = cells(path)
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    shown = set().union(*(kinds(cell) for cell in code))
    assert {"text/html", "image/png"} <= shown and "error" not in shown
    assert path.stat().st_size < LARGEST


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_every_cell_runs(path, tmp_path):
    book, code = cells(path)
    stored = [kinds(cell) for cell in code]
    for cell in code:
        cell.outputs, cell.execution_count = [], None
    nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [kinds(cell) for cell in code] == stored  # tables and figures appear where they are stored
