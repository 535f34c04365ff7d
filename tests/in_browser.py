"""Pages in a real browser: where there is one, how it is started, and what a page must not do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip


def needs_browser(*modules: str) -> None:
    """Skip the test module without a browser or one of these; with AUTOINIT_NEEDS_BROWSER=1 it fails instead."""
    if os.environ.get("AUTOINIT_NEEDS_BROWSER") == "1":
        return
    for module in (*modules, "playwright.sync_api"):
        pytest.importorskip(module)
    if CHROMIUM is None:
        pytest.skip("no chromium", allow_module_level=True)


@contextmanager
def started_browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM or "chromium", args=FLAGS)
        yield started
        started.close()


def opened(context: Any, path: Path, complaints: list[str]) -> Any:
    """The page at `path`; what it logs, raises, asks or requests is added to the complaints."""
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.on("console", lambda m: complaints.append(f"console {m.type}: {m.text}"))
    page.on("pageerror", lambda e: complaints.append(f"error: {e}"))
    page.on("dialog", lambda d: (complaints.append(f"dialog: {d.message}"), d.dismiss()))
    page.on("request", lambda r: None if r.url == path.as_uri() else complaints.append(f"request: {r.url}"))
    page.goto(path.as_uri())
    return page
