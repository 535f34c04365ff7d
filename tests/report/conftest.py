"""A browser for the pages of a module's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autoinit import Plan
from tests.in_browser import opened, started_browser
from tests.report.shown_page import Open


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with started_browser() as started:
        yield started


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens pages, and fails at the end if one logged, raised, asked or requested anything."""
    complaints: list[str] = []
    contexts = []

    def start(plan: Plan, *, scheme: str = "light", size: tuple[int, int] = (1400, 1000), **options: Any) -> Any:
        path = tmp_path / f"page{len(contexts)}.html"
        plan.to_html(path, **options)
        context = browser.new_context(color_scheme=scheme, viewport={"width": size[0], "height": size[1]})
        contexts.append(context)
        page = opened(context, path, complaints)
        page.wait_for_selector("#signal svg")
        return page

    yield start
    for context in contexts:
        context.close()
    assert complaints == []
