"""How much memory processes hold."""

from __future__ import annotations

import os
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def resident_bytes(process: int) -> int | None:
    """The resident set of a process; None if it is gone, or if nothing here can tell."""
    if Path("/proc/self/statm").exists():
        try:
            return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
        except (OSError, IndexError):
            return None
    try:
        import psutil
    except ImportError:
        return None
    try:
        return int(psutil.Process(process).memory_info().rss)
    except psutil.Error:
        return None


def reset_peak() -> bool:
    """Let the system measure this process's peak afresh (Linux); False if it cannot."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_bytes() -> int | None:
    """The largest resident set of this process since `reset_peak`."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)
