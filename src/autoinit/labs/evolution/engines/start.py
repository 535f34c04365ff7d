"""What the interpreter of a worker runs, as a script: tied to its parent first, before anything large is imported."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """On Linux the system kills this process when its parent dies, even if the work never lets another thread run."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    if given["tied"]:
        die_with(given["parent"])
    sys.path[:] = given["path"]

    from autoinit.labs.evolution.engines.worker import main

    main(given["work"])
