"""Names of modules, parameters and files that would move the cursor, turn the text or hide: escaped everywhere."""

from __future__ import annotations

import io
import json
import unicodedata
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.core.plan.plan import CenterPlan, Note  # noqa: E402
from autoinit.errors import AutoInitError, AutoInitWarning, PlanError, TraceError  # noqa: E402
from autoinit.names import shown, shown_in  # noqa: E402

EVIL = "\u202e\x1b[31m evil\n[bold]"
NAMES = {
    "right to left": "\u202egro",
    "an isolate": "\u2066a\u2069",
    "ANSI": "\x1b[2Jgone",
    "a bell": "a\x07",
    "a backspace": "ok\x08\x08no",
    "a line break": "a\nfirst problem: none",
    "a carriage return": "a\rb",
    "a tab": "a\tb",
    "a null": "a\x00b",
    "zero width": "a\u200bb",
    "a joiner": "a\u200db",
    "a soft hyphen": "a\u00adb",
    "a byte order mark": "\ufeffa",
    "a line separator": "a\u2028b",
    "a paragraph separator": "a\u2029b",
    "a lone surrogate": "a\ud800",
    "C1 control": "a\x9b31m",
    "rich markup": "[red]a[/red]",
    "HTML": "<script>alert(1)</script>",
    "mathematics": "$\\frac{1}{0}$",
    "a tag": "a\U000e0041",
    "evil": EVIL,
}


def harmless(text: str) -> None:
    """Nothing in it but printable characters and line breaks."""
    bad = [c for c in text if not c.isprintable() and c != "\n"]
    assert not bad, [unicodedata.name(c, hex(ord(c))) for c in bad]
    text.encode("utf-8")


class Net(nn.Module):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name.replace(".", "")
        self.add_module(self.name, nn.Linear(4, 4))
        self.register_parameter(f"p{self.name}", nn.Parameter(torch.zeros(3)))
        self.out = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.out(getattr(self, self.name)(x))


def planned(name: str) -> tuple[nn.Module, autoinit.Plan]:
    model = Net(name)
    plan = autoinit.initialize(model, (8, 4))
    plan.model = name
    plan.notes += [Note("warning", name, name), Note("simulated", name, f"{name} {name}")]
    plan.centers.append(CenterPlan(name, name, 0.5, 1.0))
    return model, plan


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_row_names_in_tables_notes_and_errors(name: str) -> None:
    model, plan = planned(name)
    measured = autoinit.measure(model, (8, 4))
    measured.plan.model = name
    checked = autoinit.check(model, (8, 4))
    for text in (str(plan), repr(plan), str(measured), repr(measured), str(checked)):
        harmless(text)
    safe = shown(name.replace(".", ""))
    rows = [line for line in str(plan).split("\n") if line.startswith(safe[:4])]
    assert rows and "\nfirst problem: none" not in str(plan) + str(checked)
    with pytest.raises(TraceError) as caught:
        autoinit.plan(model, (8, 5))
    harmless(str(caught.value))
    with pytest.raises(PlanError) as missing:
        plan.apply(Net("another"))
    harmless(str(missing.value))
    with pytest.raises(PlanError) as unknown:
        plan[f"{name}?"]
    harmless(str(unknown.value))


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_in_terminals_and_notebooks(name: str) -> None:
    console = pytest.importorskip("rich.console")
    model, plan = planned(name)
    out = io.StringIO()
    console.Console(file=out, width=200, force_terminal=False).print(plan, autoinit.measure(model, (8, 4)))
    harmless(out.getvalue())
    if name == EVIL:
        assert "[bold]" in out.getvalue()
    page = plan._repr_html_()
    harmless(page)
    assert "<script>" not in page


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_in_figures(name: str, tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    _, plan = planned(name)
    figure = plan.plot(tmp_path / "signal.svg", title=name)
    harmless(figure.get_suptitle() + "".join(axis.get_title() for axis in figure.axes))
    assert (tmp_path / "signal.svg").stat().st_size > 1000


@pytest.mark.parametrize("name", ["evil", "HTML", "a lone surrogate", "right to left"])
def test_names_in_the_page(name: str, tmp_path: Any) -> None:
    model, plan = planned(NAMES[name])
    text = plan.to_html(tmp_path / "page.html", default=autoinit.check(model, (8, 4)))
    start = text.index('id="data"')
    data = json.loads(text[text.index(">", start) + 1 : text.index("</script>", start)])

    def walk(value: Any) -> None:
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(item)
        if isinstance(value, str):
            harmless(value.replace("\n", "\x00"))

    walk(data)
    assert "<script>alert" not in text and "\u202e" not in text and "\x1b" not in text


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_in_files_stay_what_they_are(name: str, tmp_path: Any) -> None:
    _, plan = planned(name)
    plan.centers.clear()
    plan.save(tmp_path / "plan.json")
    again = autoinit.Plan.load(tmp_path / "plan.json")
    assert [p.name for p in again.parameters] == [p.name for p in plan.parameters] and str(again) == str(plan)
    again.apply(Net(name))


@pytest.mark.parametrize("name", ["evil", "a line break", "ANSI"])
def test_names_in_warnings(name: str) -> None:
    model = Net(NAMES[name])
    type(model).__name__ = "Net"
    with pytest.warns(AutoInitWarning) as caught:
        autoinit.plan(model, (8, 4), only=NAMES[name] + "nothing")
    text = str(caught[0].message)
    harmless(text)
    assert "\n" not in text


@pytest.mark.parametrize("part", ["where", "received", "fix", "why"])
def test_names_in_every_part_of_an_error(part: str) -> None:
    parts = {"why": "why", "where": "where", "received": "received", "fix": "fix"} | {part: EVIL}
    why = parts.pop("why")
    text = str(AutoInitError(why, **parts))
    harmless(text)
    lines = text.split("\n")
    for head in ("  received: ", "  to fix:   "):
        assert sum(line.startswith(head) for line in lines) == 1


def test_an_error_cannot_forge_another_part() -> None:
    text = str(AutoInitError("why\n  to fix:   rm -rf", where="a\n  received: b", received="c\n  to fix:   d", fix="e"))
    assert [line[:12] for line in text.split("\n") if line.startswith("  to fix:")] == ["  to fix:   "]


def test_names_on_the_command_line(tmp_path: Any) -> None:
    testing = pytest.importorskip("typer.testing")
    from autoinit.cli.app import app

    file = tmp_path / "net.py"
    file.write_text(
        "from torch import nn\n"
        f"EVIL = {EVIL!r}\n"
        "def made():\n    model = nn.Sequential()\n    model.add_module(EVIL, nn.Linear(4, 4))\n    return model\n"
        "def fails():\n    raise RuntimeError(EVIL)\n"
    )
    run = testing.CliRunner()
    for words in (["plan"], ["check"], ["measure"]):
        done = run.invoke(app, [*words, f"{file}:made", "--input", "4"])
        assert done.exit_code == 0, done.output
        harmless(done.output)
    for reference in ("fails", EVIL):
        done = run.invoke(app, ["check", f"{file}:{reference}", "--input", "4"])
        assert done.exit_code == 3 and "Traceback" not in done.output
        harmless(done.output)


def test_names_while_training() -> None:
    model = Net(EVIL)
    watch = autoinit.watch(model, autoinit.initialize(model, (8, 4)))
    model(torch.from_numpy(np.ones((8, 4), "float32")))
    watch.plan.model = EVIL
    harmless(str(watch))
    assert shown(EVIL) in str(watch)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("ä π 漢 🙂", "ä π 漢 🙂"),
        ("a\nb", "a\\nb"),
        ("\x1b", "\\x1b"),
        ("\u202e", "\\u202e"),
        ("a\\b", "a\\b"),
    ],
)
def test_shown(text: str, expected: str) -> None:
    assert shown(text) == expected and shown_in([{"k": (text,)}]) == [{"k": [expected]}]


def test_lines_may_stay() -> None:
    assert shown("a\nb\x07", lines=True) == "a\nb\\x07"
