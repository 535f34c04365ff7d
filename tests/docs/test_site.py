"""The site is built strictly: no link leads nowhere, nothing comes from other places, every public name is on it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOADED = re.compile(r"""(?:<(?:script|img|iframe)[^>]*\ssrc|<link[^>]*\shref)=["']?(https?:[^"'\s>]+)""")
PUBLIC = ("autoinit", "autoinit.keras", "autoinit.baselines", "autoinit.watching", "autoinit.report")
MODULES = {"baselines", "rules"}
"""Names of `autoinit` that are modules, with pages or entries of their own."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    # Not --quiet: it hides warnings from --strict, too.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(made)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    run = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return made


@pytest.mark.slow
def test_it_is_built_without_a_warning_and_has_a_start_and_a_search(site: Path) -> None:
    assert "AutoInit" in (site / "index.html").read_text("utf-8")
    assert (site / "search" / "search_index.js").stat().st_size > 10_000  # as a script: files can be searched, too


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        found = LOADED.findall(page.read_text("utf-8"))
        assert not found, (page.name, found)


@pytest.mark.slow
def test_every_public_name_is_in_the_reference(site: Path) -> None:
    told = {
        anchor
        for page in (site / "api").glob("*.html")
        for anchor in re.findall(r'id="(autoinit[\w.]*)"', page.read_text("utf-8"))
    }
    for name in PUBLIC:
        module = import_module(name)
        for one in set(module.__all__) - MODULES:
            home = getattr(getattr(module, one), "__module__", name)
            places = {f"{name}.{one}", f"{home}.{one}", f"autoinit.{one}"}
            assert places & told, f"{name}.{one} is on no page of docs/api"


@pytest.mark.slow
def test_pages_from_elsewhere_lead_where_they_lead_in_the_repository(site: Path) -> None:
    changes = (site / "CHANGELOG.html").read_text("utf-8")
    assert 'href="architecture-search.html"' in changes  # docs/architecture-search.md there
    results = (site / "experiments" / "index.html").read_text("utf-8")
    assert 'href="results/learning_rates/results.html"' in results
    assert (site / "experiments/results/learning_rates/learning_rates.png").exists()
