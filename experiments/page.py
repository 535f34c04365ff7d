"""The page of results, experiments/README.md: every claim of the paper, and ours, beside what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autoinit.core.files import replace_text

from .catalogue import EXPERIMENTS
from .claim import INCOMPLETE, NO, PARTLY, UNKNOWN, YES, Finding
from .results import MAIN, RESULTS, folder_of, progress_of, saved
from .tables import table

PAGE = Path(__file__).with_name("README.md")
INTRODUCTION = Path(__file__).with_name("introduction.md")


def text(results: Path = RESULTS) -> str:
    summaries = {name: saved(name, results) for name in EXPERIMENTS}
    sections = [_section(name, summary, results) for name, summary in summaries.items()]
    introduction, claims = INTRODUCTION.read_text(encoding="utf-8"), (_claims(summaries), _own_claims(summaries))
    return "\n".join([introduction, *claims, _losses(summaries), *sections])


def write(results: Path = RESULTS, path: Path = PAGE) -> Path:
    replace_text(path, text(results))
    return path


def findings(summaries: dict[str, Any]) -> list[tuple[str, Any, Finding]]:
    """(experiment, claim, finding), in the order of the experiments."""
    return [(name, c, c.of(summaries[name])) for name, one in EXPERIMENTS.items() for c in one.CLAIMS]


def _claims(summaries: dict[str, Any]) -> str:
    found = [one for one in findings(summaries) if one[1].paper is not None]
    counts = {word: sum(f.agrees == word for _, _, f in found) for word in (YES, PARTLY, NO, INCOMPLETE, UNKNOWN)}
    rows = [
        [claim.text, f"`{_command(name, summaries[name])}`", finding.ours, claim.paper, finding.agrees]
        for name, claim, finding in found
    ]
    head = ["the paper's claim", "`python -m experiments …`", "ours", "the paper's", "agrees"]
    told = ", ".join(f"{word}: {count}" for word, count in counts.items())
    return (
        f"## Claims\n\nAgreement ({told}) is decided by the functions that `CLAIMS` names in each experiment's file, "
        f'not by eye. "figure": the paper shows a figure without numbers.\n\n{table(head, rows)}'
    )


def _own_claims(summaries: dict[str, Any]) -> str:
    """What we claim and the paper does not."""
    found = [one for one in findings(summaries) if one[1].paper is None]
    rows = [[c.text, f"`{_command(name, summaries[name])}`", f.ours, f.agrees] for name, c, f in found]
    head = ["our claim", "`python -m experiments …`", "measured", "holds"]
    note = "The paper does not make them; they are decided in the same way."
    return f"## Claims of our own\n\n{note}\n\n{table(head, rows)}"


def _losses(summaries: dict[str, Any]) -> str:
    """Every point of the experiments at which another initialization does better than AutoInit."""
    told = [f"- {EXPERIMENTS[name].TITLE}: {loss}" for name, s in summaries.items() if s for loss in _lost(name, s)]
    lines = "\n".join(told) if told else "No such point in the results so far."
    head = "All points at which another initialization has the higher accuracy or the lower loss, or needs less time."
    return f"## Where AutoInit loses\n\n{head}\n\n{lines}\n"


def _lost(name: str, summary: Any) -> list[str]:
    return EXPERIMENTS[name].losses(summary)


def _command(name: str, summary: Any) -> str:
    """What was run; what is to be run where there is no result."""
    preset = summary["preset"] if summary else MAIN if MAIN in EXPERIMENTS[name].PRESETS else "paper"
    return f"run {name}" + ("" if preset == MAIN else f" --preset {preset}")


def _section(name: str, summary: Any, results: Path) -> str:
    one = EXPERIMENTS[name]
    head = f"## {one.TITLE}\n\n"
    if summary is None:
        return head + f"Not run. `python -m experiments {_command(name, None)}`\n"
    folder = folder_of(name, summary["preset"], Path("results"))
    pictures = sorted(path.name for path in folder_of(name, summary["preset"], results).glob("*.png"))
    links = "\n".join(f"\n![{p.removesuffix('.png').replace('_', ' ')}]({(folder / p).as_posix()})" for p in pictures)
    note = f"Preset `{summary['preset']}`: {progress_of(summary)} [Tables]({(folder / 'results.md').as_posix()})"
    return f"{head}{note}\n{links}\n"
