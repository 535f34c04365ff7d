"""The tasks that can be named; each module is imported when its task is asked for.

A new one: a module here with a subclass of `Task` (or `Supervised`), and a line in TASKS. Tasks elsewhere are named
"package.module:Class". The five of the paper have the settings of its table as the preset `paper`; `cpu` and `smoke`
are smaller (`sizes.py`), with the same probabilities, and ranges but for numbers of units.
"""

from __future__ import annotations

TASKS = {
    "digits": "autoinit.labs.codeepneat.tasks.digits:Digits",
    "mnist": "autoinit.labs.codeepneat.tasks.mnist:Mnist",
    "toxicity": "autoinit.labs.codeepneat.tasks.toxicity:Toxicity",
    "adult": "autoinit.labs.codeepneat.tasks.adult:Adult",
    "omniglot": "autoinit.labs.codeepneat.tasks.omniglot:Omniglot",
    "flowers": "autoinit.labs.codeepneat.tasks.flowers:Flowers",
}
