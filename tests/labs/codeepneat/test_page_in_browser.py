"""The page of a search in a real browser: wide and narrow, light and dark, without scripts and requests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
if os.environ.get("AUTOINIT_NEEDS_BROWSER") != "1":
    pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no chromium", allow_module_level=True)

from playwright.sync_api import sync_playwright  # noqa: E402

from autoinit.labs.codeepneat import run  # noqa: E402
from autoinit.labs.codeepneat.page import write  # noqa: E402
from autoinit.labs.codeepneat.results import Course, Shown  # noqa: E402
from tests.labs.codeepneat.test_sketch import large  # noqa: E402
from tests.labs.codeepneat.toy_tasks import Quiet  # noqa: E402

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]

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
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM or "chromium", args=FLAGS)
        yield started
        started.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_can_be_read(browser: Any, path: Path, width: int, scheme: str) -> None:
    complaints: list[str] = []
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = context.new_page()
    page.on("console", lambda m: complaints.append(m.text))
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("dialog", lambda d: (complaints.append(d.message), d.dismiss()))
    page.on("request", lambda r: None if r.url == path.as_uri() else complaints.append(r.url))
    page.goto(path.as_uri())
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
