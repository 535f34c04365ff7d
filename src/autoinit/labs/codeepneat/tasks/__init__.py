"""The tasks that can be named; each module is imported when its task is asked for.

A new one: a module here with a subclass of `Task` (or `Supervised`), and a line in TASKS. Tasks elsewhere are named
"package.module:Class".
"""

from __future__ import annotations

TASKS = {
    "digits": "autoinit.labs.codeepneat.tasks.digits:Digits",
}
