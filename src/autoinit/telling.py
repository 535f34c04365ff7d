"""What a script hears of a plan even if it never prints it: one warning, on the user's own line, once per call."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence, Set
from pathlib import Path

from .core.plan.plan import PlanData
from .errors import AutoInitWarning
from .names import shown

HERE = str(Path(__file__).parent)
MOST_PATTERNS = 2


def complaints(plan: PlanData, excluded: Set[str] = frozenset()) -> list[str]:
    """What did not go as a user may expect: nothing set, not reached, simulated, passed on, capped, misspelt.

    `excluded`: parameters that the user froze or skipped; that these are not reached is no surprise.
    """
    said: list[str] = []
    if not plan.checked and not any(plan.changed()):
        said.append(f"none of {count(len(plan.parameters), 'parameter')} is set ({_why_none(plan)})")
    patterns = [n.message for n in plan.notes if n.place == "options"]
    said += patterns[:MOST_PATTERNS]
    missed = len(set(plan.unreached()) - excluded)
    if missed and (plan.checked or any(plan.changed())):
        said.append(f"{missed} of {count(len(plan.parameters), 'parameter')} {_was(missed)} not reached")
    for kind, what in (("simulated", "simulated"), ("passed", "passed on without a rule")):
        found = sum(n.kind == kind for n in plan.notes)
        if found:
            said.append(f"{count(found, 'op')} {what}")
    others = sum(n.kind == "warning" and n.place not in ("options", "model") for n in plan.notes)
    if others:
        said.append(count(others, "warning"))
    return said


def tell(plan: PlanData, said: Sequence[str], wanted: bool = True) -> None:
    """Issue the warning, where the user's code called us."""
    if wanted and said:
        text = f"{shown(plan.model)}: {shown(', '.join(said))}: print(plan) or plan.notes tells more"
        warnings.warn(f"{text} (warn=False for silence)", AutoInitWarning, stacklevel=_stack_level())


def left_frozen(plan: PlanData, frozen: set[str]) -> list[str]:
    """What applying a plan leaves out: parameters that it sets and that are frozen by now."""
    changed = [p.name for p in plan.changed()]
    if not changed:
        return complaints(plan)[:1]
    left = sum(name in frozen for name in changed)
    if not left:
        return []
    return [f"{left} of {count(len(changed), 'parameter')} that the plan sets {_was(left)} left alone: frozen now"]


def untied(plan: PlanData, names: dict[str, int]) -> list[str]:
    """Parameters that were tied when they were planned; `names`: which parameter of the model has which name now."""
    apart = [p for p in plan.parameters if len({names[n] for n in (p.name, *p.aliases) if n in names}) > 1]
    if not apart:
        return []
    first = " and ".join((apart[0].name, *apart[0].aliases))
    return [f"{first} were one parameter when they were planned, and are not tied now (to_empty unties): tie them "
            "again before training"]  # fmt: skip


def count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _was(n: int) -> str:
    return "was" if n == 1 else "were"


def _why_none(plan: PlanData) -> str:
    reasons = [p.reason if p.action != "unreached" else "not reached" for p in plan.parameters]
    common = sorted(set(reasons), key=lambda r: -reasons.count(r))
    return ", ".join(f"{reasons.count(r)} {r.split(':')[0]}" for r in common[:3])


def _stack_level() -> int:
    """For `warnings.warn` in `tell`: the first frame outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        level, frame = level + 1, frame.f_back
    return level
