"""One family of errors. Each says where, what was received, why it is wrong and how to mend it."""

from __future__ import annotations

from typing import Any

from .names import shown


class AutoInitError(Exception):
    """Base of everything this library raises on purpose."""

    def __init__(self, why: str, *, where: str = "", received: Any = None, fix: str = "") -> None:
        self.where, self.received, self.why, self.fix = where, received, why, fix
        parts = [f"{shown(where)}: {_inside(why, 2)}" if where else _inside(why, 2)]
        if received is not None:
            parts.append(f"  received: {_inside(str(received), 12)}")
        if fix:
            parts.append(f"  to fix:   {_inside(fix, 12)}")
        super().__init__("\n".join(parts))


def _inside(text: str, indent: int) -> str:
    """Text of several lines stays in its part of the message."""
    return shown(text, lines=True).replace("\n", "\n" + " " * indent)


class AutoInitWarning(UserWarning):
    """Something that a script should hear of even if it never prints the plan; `warn=False` turns it off."""


class MissingPackage(AutoInitError, ImportError):
    """Something has to be installed first. One line: what needs it, and how to get it."""

    def __init__(self, why: str, package: str) -> None:
        super().__init__(f"{why}: pip install '{package}'")


class InputError(AutoInitError, ValueError):
    """The description of the model's inputs does not fit."""


class OptionError(AutoInitError, TypeError):
    """An unknown option, or a value that an option does not take."""


class ModelError(AutoInitError, TypeError):
    """The object is not a model that a front end understands, or has nothing to initialize."""


class TraceError(AutoInitError, RuntimeError):
    """The model's own forward failed while it was being walked; the model's error is the cause."""


class PlanError(AutoInitError, ValueError):
    """A plan that does not fit the model, or a file that is not a plan."""


class GraphError(AutoInitError, ValueError):
    """A front end made a node that does not fit the description of its op."""


class RuleError(AutoInitError, ValueError):
    """A rule failed, or returned something that is not a signal."""


class UserRuleError(RuleError):
    """A rule of the user's own failed: nothing takes its place, the user hears of it."""


class DuplicateRule(AutoInitError, ValueError):
    """Two rules for one op."""

    def __init__(self, op: str) -> None:
        super().__init__(
            f"there is a rule for '{op}' already", fix="pass yours through rules={...} to replace it for one call"
        )
