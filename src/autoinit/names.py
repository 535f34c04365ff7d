"""Names and texts of strangers, as they are shown: nothing in them moves the cursor, turns the text or hides.

A module may be called "\\x1b[31m" or "\\u202e". Wherever text is rendered (tables, notes, errors, terminals, figures,
pages) it goes through `shown`; data (plans, files) keep names as they are.
"""

from __future__ import annotations

from typing import Any


def shown(text: str, *, lines: bool = False) -> str:
    """`text` with everything that is not printable written as an escape; with `lines`, line breaks stay.

    Not printable (as `repr` has it) are control and format characters, bidirectional and zero-width marks, line and
    paragraph separators, lone surrogates, and characters that nobody has assigned.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or (lines and c == "\n") else _escaped(c) for c in text)


def shown_in(data: Any) -> Any:
    """Nested lists, tuples and dicts with every text in them as it is `shown`; keys are ours and stay."""
    if isinstance(data, str):
        return shown(data)
    if isinstance(data, dict):
        return {key: shown_in(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [shown_in(value) for value in data]
    return data


def _escaped(character: str) -> str:
    return repr(character)[1:-1]
