"""The page of a search in a real browser: wide and narrow, light and dark, without scripts and requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autoinit.labs.codeepneat import run
from autoinit.labs.codeepneat.page import write
from autoinit.labs.codeepneat.results import Course, Shown
from tests.in_browser import needs_browser, opened, started_browser
from tests.labs.codeepneat.test_sketch import large
from tests.labs.codeepneat.toy_tasks import Quiet

needs_browser()

NETWORK = large("images")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a task of an evil name, and a large network among its best."""
    folder = tmp_path_factory.mktemp("run")
    run(Quiet, folder, preset="smoke", engine="serial", progress=False)
    found = Course.read(folder)
    best = (Shown(NETWORK, 0.9, 2), *found.networks[1:])
    write(replace(found, task="<img src=x onerror=alert(1)>" + "long" * 30, networks=best), folder / "page.html")
    return folder / "page.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with started_browser() as started:
        yield started


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_can_be_read(browser: Any, path: Path, width: int, scheme: str) -> None:
    complaints: list[str] = []
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = opened(context, path, complaints)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page itself does not scroll sideways"
    assert page.inner_text("h1").startswith("<img src=x onerror=alert(1)>long")
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('svg text')].filter(t => t.getClientRects().length)
            .map(t => t.getScreenCTM().a * parseFloat(getComputedStyle(t).fontSize))"""
    )
    assert len(sizes) > 60 and min(sizes) >= 9, "letters are not shrunk"
    outside = page.evaluate(
        """() => [...document.querySelectorAll('svg')].filter(s => s.getClientRects().length).flatMap(s => {
            const frame = s.getBoundingClientRect();
            return [...s.querySelectorAll('text')].filter(t => {
                const box = t.getBoundingClientRect();
                return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 2;
            }).map(t => t.textContent);
        })"""
    )
    assert outside == [], "no text is cut off"
    narrow = page.evaluate(
        """() => [...document.querySelectorAll('svg.network g')].filter(g => {
            const box = g.querySelector('rect').getBoundingClientRect();
            return [...g.querySelectorAll('text')].some(t => t.getBoundingClientRect().width > box.width);
        }).map(g => g.textContent)"""
    )
    assert narrow == [], "texts fit into their boxes"
    style = "getComputedStyle(document.body)"
    ink, paper = page.evaluate(f"[{style}.color, {style}.backgroundColor]")
    bright = [sum(int(v) for v in colour[4:-1].split(",")) for colour in (ink, paper)]
    assert (bright[0] < bright[1]) == (scheme == "light") and abs(bright[0] - bright[1]) > 400
    shown = page.evaluate("['.wide', '.narrow'].map(s => document.querySelector(s).getClientRects().length > 0)")
    assert shown == [width > 720, width <= 720]
    page.click("summary")
    assert page.locator("details[open] td").first.inner_text() == NETWORK.layers[0].name
    context.close()
    assert complaints == []
