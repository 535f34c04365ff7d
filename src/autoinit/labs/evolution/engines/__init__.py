"""Engines by name; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from ....errors import OptionError
from .protocol import Engine

ENGINES = {"processes": "processes:Processes", "serial": "serial:Serial", "ray": "cluster:Cluster"}

__all__ = ["ENGINES", "Engine", "engine_class"]


def engine_class(engine: str | type[Engine]) -> type[Engine]:
    """The class of an engine by its name; a class of one's own is taken as it is."""
    if isinstance(engine, type) and issubclass(engine, Engine):
        return engine
    if not isinstance(engine, str) or engine not in ENGINES:
        raise OptionError("unknown engine", where="engine", received=repr(engine),
                          fix=f"one of {', '.join(ENGINES)}, or a subclass of Engine")  # fmt: skip
    module, _, name = ENGINES[engine].partition(":")
    found: type[Engine] = getattr(import_module(f".{module}", __package__), name)
    return found
