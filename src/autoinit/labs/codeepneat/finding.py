"""Tasks by their names: those of this package, and anybody's as "package.module:Class"."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec

from .presets import Preset
from .problems import TaskError
from .task import Task
from .tasks import TASKS

_GIVEN: dict[str, type[Task]] = {}
"""Classes that were given as such in this process; only the engine "serial" can use those that cannot be imported."""


def task_class(name: str) -> type[Task]:
    """The class of a task by its name."""
    place = TASKS.get(name, name)
    if place in _GIVEN:
        return _GIVEN[place]
    module, _, attribute = place.partition(":")
    if not attribute:
        raise TaskError("unknown task", where="task", received=repr(name),
                        fix=f"one of {', '.join(TASKS)}, or 'package.module:Class' for your own")  # fmt: skip
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise TaskError("the task cannot be imported", where="task", received=f"{place}: {error}",
                        fix="put the class into a module on the path of Python") from error  # fmt: skip
    if not (isinstance(found, type) and issubclass(found, Task)):
        raise TaskError("this is not a class of tasks", where="task", received=place,
                        fix="a subclass of autoinit.labs.codeepneat.Task")  # fmt: skip
    return found


def name_of(task: str | type[Task]) -> str:
    """The name under which workers find a task; a class is remembered in this process."""
    if isinstance(task, str):
        task_class(task)
        return task
    place = f"{task.__module__}:{task.__qualname__}"
    if _GIVEN.get(place) is not task:
        _loaded.cache_clear()  # a class that was written anew, as in a notebook
    _GIVEN[place] = task
    return next((name for name, known in TASKS.items() if known == place), place)


def check_importable(name: str, engine: str) -> None:
    """Other processes import the task; what was written into a script or a notebook they cannot."""
    module = TASKS.get(name, name).partition(":")[0]
    found = False
    if module != "__main__":
        try:
            found = find_spec(module) is not None
        except (ImportError, ValueError):
            found = False
    if engine != "serial" and not found:
        raise TaskError("workers cannot import this task", where="task", received=name,
                        fix="put its class into a module, or use engine='serial'")  # fmt: skip


def loaded(name: str, preset: Preset) -> Task:
    """The task in one size; made once per process, since it holds the data."""
    return _loaded(name, json.dumps(preset.of_one_network, sort_keys=True))


@lru_cache(maxsize=1)
def _loaded(name: str, preset: str) -> Task:
    return task_class(name)(Preset.from_dict(json.loads(preset)))
