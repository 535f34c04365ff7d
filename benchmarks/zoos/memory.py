"""Resident memory of a process, in MB; nan where the system does not tell."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from pathlib import Path


def resident(process: int | str = "self") -> float:
    """What the process holds now."""
    return _status(process, "VmRSS:")


def peak(process: int | str = "self") -> float:
    """The most it held since `forget_peak`, or since it began."""
    return _status(process, "VmHWM:")


def forget_peak() -> None:
    """Give back what is free, and let `peak` of this process begin anew."""
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):  # not every C library has it
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _status(process: int | str, key: str) -> float:
    try:
        lines = Path(f"/proc/{process}/status").read_text("ascii", errors="replace").splitlines()
    except OSError:
        return float("nan")
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(key)), float("nan"))
