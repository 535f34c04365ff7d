"""What is wrong with a plan, or worth a look: layers by their verdicts, notes, parameters that are not reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ...names import shown
from .gradients import gradients_of
from .plan import Note, PlanData
from .verdicts import OFF, PROBLEMS, Judge, Verdict

Severity = Literal["error", "warning", "info"]
SEVERITIES: dict[str, Severity] = {"warning": "warning", "passed": "warning", "simulated": "info"}
"""Of notes, by their kind."""
WORDS: dict[Verdict, str] = {
    "vanishing": "the signal vanishes",
    "exploding": "the signal explodes",
    "invalid": "the signal is no number",
    "low": "the signal is small",
    "high": "the signal is large",
}


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """One thing at one place.

    severity: "error" for a signal that vanishes, explodes or is no number; "warning" for one that is off by more than
    a factor of 2, for gradients that do (of a plan that has them), for warnings, ops without a rule and parameters that
    are not reached; "info" for ops that were simulated.
    """

    place: str
    """A module or a parameter, "(model)" for the model itself, "options" for an option."""
    what: str
    severity: Severity
    predicted: float | None = None
    """The variance, where the problem is one of the signal."""
    verdict: Verdict | None = None

    def __str__(self) -> str:
        number = "" if self.predicted is None else f": variance {self.predicted:.3g}, {self.verdict}"
        return shown(f"{self.severity}: {self.place}: {self.what}{number}")


def problems(plan: PlanData) -> list[PlanProblem]:
    """Layers in the order of execution, then gradients on the way back, then notes, then parameters."""
    return [*_of_layers(plan), *_of_gradients(plan), *_of_notes(plan), *_of_parameters(plan)]


def _of_layers(plan: PlanData) -> Iterator[PlanProblem]:
    judge = Judge(plan)
    for layer in plan.weight_layers:
        word = judge.predicted(layer)
        if word in PROBLEMS or word in OFF:
            severity: Severity = "error" if word in PROBLEMS else "warning"
            predicted = layer.tensor_variance if plan.checked else layer.variance
            yield PlanProblem(layer.module or "(model)", WORDS[word], severity, predicted, word)


def _of_gradients(plan: PlanData) -> Iterator[PlanProblem]:
    for row in reversed(gradients_of(plan)):
        if row.is_extreme:
            ratio = "" if row.ratio is None else f", |g|/|w| {row.ratio:.3g}"
            yield PlanProblem(row.parameter, f"the gradient is {row.verdict}: |g| {row.rms:.3g}{ratio}", "warning")


def _of_notes(plan: PlanData) -> Iterator[PlanProblem]:
    for note in plan.notes:
        if note.kind in SEVERITIES:
            yield PlanProblem(note.place, note.message, SEVERITIES[note.kind])


def _of_parameters(plan: PlanData) -> Iterator[PlanProblem]:
    for parameter in plan.parameters:
        if parameter.action == "unreached" and not parameter.frozen:
            yield PlanProblem(parameter.name, "not reached by the forward pass", "warning")


@dataclass(frozen=True, slots=True)
class SameNotes:
    """Notes that say the same of several places."""

    kind: str
    message: str
    places: tuple[str, ...]


def counted(notes: list[Note]) -> list[SameNotes]:
    """Equal notes as one, in the order of the first of each."""
    groups: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        groups.setdefault((note.kind, note.message), []).append(note.place)
    return [SameNotes(kind, message, tuple(places)) for (kind, message), places in groups.items()]
