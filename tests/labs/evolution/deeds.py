"""What workers do in these tests; they import this module by its name."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from typing import Any

import numpy as np


def double(payload: dict[str, Any]) -> dict[str, Any]:
    time.sleep(payload.get("sleep", 0.0))
    return {"y": 2 * payload["x"], "process": os.getpid()}


def same(payload: dict[str, Any]) -> dict[str, Any]:
    return {"y": payload["x"] ** 2}


def environment(payload: dict[str, Any]) -> dict[str, Any]:
    return {"value": os.environ.get(payload["name"])}


def interrupted_once(payload: dict[str, Any]) -> dict[str, Any]:
    """Counts its calls in a file; the first one is interrupted."""
    with open(payload["file"], "a", encoding="utf-8") as file:
        file.write("called\n")
    with open(payload["file"], encoding="utf-8") as file:
        if len(file.readlines()) == 1:
            raise KeyboardInterrupt
    return {}


def odd_numbers(payload: dict[str, Any]) -> dict[str, Any]:
    return {
        "nan": math.nan,
        "inf": math.inf,
        "less": -math.inf,
        "numpy": np.float32(0.5),
        "array": np.arange(3),
        **payload,
    }


def deeds(payload: dict[str, Any]) -> Any:
    """One of many ways to end, by its name."""
    return {
        "work": lambda: {"y": 1},
        "loop": _loop,
        "allocate": _allocate,
        "abort": os.abort,
        "leave": lambda: os._exit(3),
        "raise": _raise,
        "short": _short,
        "exit": lambda: sys.exit(5),
        "number": lambda: 7,
        "object": lambda: {"y": object()},
        "print": _print,
        "threads": lambda: {"threads": os.environ["OMP_NUM_THREADS"]},
        "hold": _hold,
        "lose": lambda: _lose(**payload),
    }[payload["deed"]]()


def parabola(payload: dict[str, Any]) -> dict[str, Any]:
    """Highest (zero) where every entry is 3."""
    return {"height": -sum((x - 3) ** 2 for x in payload["genes"])}


def _loop() -> None:
    while True:
        pass


def _allocate() -> None:
    held = []
    while True:
        held.append(np.ones(1 << 19))


def _raise() -> None:
    raise ValueError("the deed is wrong")


def _short() -> None:
    raise MemoryError("no more")


def _print() -> dict[str, Any]:
    print("noise on the output" * 10_000)
    sys.stdin.read()
    return {"y": 1}


def _lose(mark: str, times: int, **_: Any) -> dict[str, Any]:
    """Take away the supervisor, so many times; the file says how often this was tried."""
    with open(mark, "a") as file:
        file.write("x")
    tries = os.path.getsize(mark)
    if tries <= times:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(30)
    return {"tries": tries}


KEPT: list[Any] = []


def _hold() -> dict[str, Any]:
    KEPT.append(np.ones(12 << 20))
    return {"held": len(KEPT), "process": os.getpid()}
