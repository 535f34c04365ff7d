"""Make `import torchvision` work beside a build of PyTorch that its compiled operators were not built for.

`make venv` runs this. Package indexes serve torchvision for one build of PyTorch only; where the other build (the
one for CPUs) is installed, two files are written into the environment's torchvision: its operators declared in Python,
and the line that uses them. Where torchvision loads, or is not there, nothing happens.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

OPERATORS = Path(__file__).with_name("torchvision_ops.py")
USE = """

if not _has_ops():  # the compiled operators are those of another build of PyTorch
    from ._declared_ops import declare

    _DECLARED = declare()

    def _has_ops():  # noqa: F811
        return True
"""


def main() -> None:
    spec = find_spec("torchvision")
    if spec is None or spec.origin is None or not _lacks_operators():
        return
    folder = Path(spec.origin).parent
    shutil.copyfile(OPERATORS, folder / "_declared_ops.py")
    extension = folder / "extension.py"
    text = extension.read_text(encoding="utf-8")
    if USE not in text:
        extension.write_text(text + USE, encoding="utf-8")
    subprocess.run([sys.executable, "-c", "import torchvision"], check=True)
    print("torchvision: operators declared in Python, as the compiled ones are those of another build of PyTorch")


def _lacks_operators() -> bool:
    """Whether importing torchvision fails for want of its operators, or needed them declared before."""
    code = "import torchvision, sys; sys.exit('torchvision._declared_ops' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return found.returncode == 1 and (not found.stderr or "torchvision::" in found.stderr)


if __name__ == "__main__":
    main()
