"""Colours in a terminal, plain text elsewhere, and nothing missing without rich."""

from __future__ import annotations

import builtins
import io
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("rich")

from rich.console import Console  # noqa: E402
from torch import nn  # noqa: E402

import autoinit  # noqa: E402

RED, GREEN = "\x1b[1;31m", "\x1b[32m"


def broken() -> nn.Sequential:
    """The second layer explodes."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64, bias=False), nn.ReLU(), nn.Linear(64, 64, bias=False))
    autoinit.initialize(model, (16, 64))
    with torch.no_grad():
        model[2].weight.mul_(100)
    return model


def printed(item: object, width: int = 120, colour: bool = True) -> str:
    console = Console(
        file=io.StringIO(), force_terminal=colour, width=width, color_system="standard" if colour else None
    )
    console.print(item)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_rich_prints_colours() -> None:
    text = printed(autoinit.check(broken(), (16, 64)))
    assert f"{GREEN}ok" in text and f"{RED}exploding" in text and f"{RED}first problem:" in text


def test_rich_prints_the_plain_table_where_there_are_no_colours() -> None:
    model = broken()
    for item in (autoinit.check(model, (16, 64)), autoinit.measure(model, (16, 64))):
        assert printed(item, colour=False).rstrip() == str(item)


def test_rich_prints_markup_in_names_as_it_is() -> None:
    plan = autoinit.check(broken(), (16, 64))
    for row in plan.tensors:
        row.module = f"[red]{row.module}[/red]"
    assert printed(plan, colour=False).rstrip() == str(plan)


def test_the_table_is_as_wide_as_the_window() -> None:
    text = printed(autoinit.check(broken(), (16, 64)), width=50, colour=False)
    assert max(map(len, text.splitlines())) <= 50
    assert "verdict" in text and "exploding" in text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_show_prints_plain_text_into_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    plan = autoinit.check(broken(), (16, 64))
    plan.show()
    assert capsys.readouterr().out == f"{plan}\n"


def test_show_prints_colours_into_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = autoinit.check(broken(), (16, 64))
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    plan.show()
    assert RED in screen.getvalue()


def test_show_needs_no_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args, **kwargs):
        if name.split(".")[0] == "rich":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    measured = autoinit.measure(broken(), (16, 64))
    screen = Terminal()
    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr(sys, "stdout", screen)
    measured.show()
    assert screen.getvalue() == f"{measured}\n"
