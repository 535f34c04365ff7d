"""Every Python block of the README and of the documentation runs, in order, one name space per file."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest

pytest.importorskip("torch")

import autoinit

ROOT = Path(__file__).resolve().parents[1]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
EVIDENCE, REPRODUCING, DISCOVERY = (ROOT / "docs" / f"{name}.md" for name in ("evidence", "reproducing", "discovery"))
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_code_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "readme"}
    known = dict(autoinit.api._USER_RULES)
    try:
        for match in BLOCK.finditer(text):
            line = text[: match.start()].count("\n") + 1
            with warnings.catch_warnings():
                warnings.simplefilter("error", autoinit.AutoInitWarning)  # examples go as their readers expect
                exec(compile("\n" * line + match.group(1), str(path), "exec"), names)  # keeps line numbers
    finally:
        autoinit.api._USER_RULES.clear()
        autoinit.api._USER_RULES.update(known)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_the_output_in_the_readme_is_what_the_code_prints(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = next(BLOCK.finditer(text))
    exec(first.group(1), {})
    shown = text[first.end() :].split("```\n", 2)[1]
    assert capsys.readouterr().out.strip() == shown.strip()


def row_of(name: str, text: str) -> list[str]:
    """The cells of the row of a table that begins with this name."""
    row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return [c.strip() for c in row.strip("|").split("|")]


@pytest.mark.parametrize("path", [ROOT / "README.md", EVIDENCE], ids=lambda p: p.stem)
def test_figures_of_the_zoo_are_those_of_the_last_run(path: Path) -> None:
    """The tables of the zoo repeat the committed results."""
    page, results = path.read_text("utf-8"), (ROOT / "benchmarks/results/zoo.md").read_text("utf-8")
    rows = {
        m[1]: [c.strip() for c in m[2].split("|")] for m in re.finditer(r"^\| (\w+) \|(.*)\|$", results, re.MULTILINE)
    }
    for zoo in ("timm", "transformers", "torchvision"):
        _, planned, _, layers, near, fair, _, off, *_ = rows[zoo]
        told = [zoo, planned, f"{int(layers):,}", near, fair, "none" if off == "0" else off]
        assert row_of(zoo, page) == told
    defaults = (ROOT / "benchmarks/results/defaults.md").read_text("utf-8")
    models, _, _, _, vanishing, *_ = re.search(r"^\| all \|(.*)\|$", defaults, re.MULTILINE)[1].split("|")  # type: ignore
    assert f"the output of {int(vanishing)} of {int(models)}" in " ".join(page.split())


def test_figures_of_keras_are_those_of_the_last_run() -> None:
    results = (ROOT / "benchmarks/results/keras.md").read_text("utf-8")
    for zoo, name in (("applications", "keras.applications"), ("hub", "KerasHub backbones, small")):
        found = re.search(rf"^\| {zoo} \|(.*)\|$", results, re.MULTILINE)
        assert found is not None
        _, planned, measured, layers, near, fair, _, off, *_ = (c.strip() for c in found[1].split("|"))
        told = [f"{int(layers):,}", near, fair, "none" if off == "0" else off]
        assert row_of(name, EVIDENCE.read_text("utf-8")) == [name, planned, measured, *told]
        assert row_of(name, (ROOT / "README.md").read_text("utf-8")) == [name, planned, *told]


def test_claims_are_counted_on_the_page() -> None:
    told_here = " ".join(REPRODUCING.read_text("utf-8").split())
    page = (ROOT / "experiments/README.md").read_text("utf-8")
    found = re.search(r"yes: (\d+), partly: (\d+), no: (\d+), incomplete: (\d+), not run: (\d+)\)", page)
    assert found is not None and "ImageNet was not tried" in told_here
    yes, partly, no, incomplete, missing = map(int, found.groups())
    assert ("of the architecture search not all searches have ended" in told_here) == (incomplete + missing > 1)
    told = f"{yes} of its {yes + partly + no + incomplete + missing} claims come out, {partly} in part, {no} do not"
    assert told in told_here


def test_figures_of_learning_rates_are_those_of_the_last_run() -> None:
    page = REPRODUCING.read_text("utf-8")
    results = json.loads((ROOT / "experiments/results/learning_rates/results.json").read_text("utf-8"))
    part = page[page.index("<!-- learning rate results -->") :]
    told = {}
    for curve in [one for one in results["curves"] if one["scheme"] in ("default", "autoinit")]:
        good = [p for p in curve["points"] if p["learned"]]
        rates = [f"{p['rate']:g}" for p in good]
        span = "none" if not rates else rates[0] if len(rates) == 1 else f"{rates[0]} to {rates[-1]}"
        best = f"{100 * max(p['median'] for p in good):.1f} %" if good else ""
        told.setdefault(curve["depth"], []).append(f"{span} | {best}".strip())
    assert set(told) == {56, 164, 812} and len(results["rates"]) == 10
    for depth, (default, ours) in told.items():
        assert f"| ResNet-{depth} | {default} | {ours} |" in part


def test_figures_of_discovery_are_those_of_the_last_run() -> None:
    """The table of activation discovery repeats the committed results."""
    page = DISCOVERY.read_text("utf-8")
    results = json.loads((ROOT / "experiments/results/pangaea/results.json").read_text("utf-8"))
    names = {"default": "Glorot uniform", "autoinit": "AutoInit", "autoinit++": "AutoInit++"}
    part = page[page.index("<!-- discovery results -->") :]
    assert len(results["summaries"]) == 3
    for found in results["summaries"]:
        cells = row_of(names[found["initialization"]], part)
        assert found["functions"] == 200
        assert cells[1] == str(found["failures"]) and cells[3] == str(found["above_baseline"])
        assert cells[5] == f"{100 * found['best']:.1f} %"
    assert f"{100 * results['baseline']:.1f} %" in part
