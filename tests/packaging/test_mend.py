"""torchvision beside a build of PyTorch that it was not built for, as a package index serves it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from environment.mend import USE

from .environments import new_environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import torch, torchvision
boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 10, 10], [20, 20, 30, 30]])
print(torchvision.ops.nms(boxes, torch.tensor([0.5, 0.9, 0.3]), 0.5).tolist())
print(torchvision.ops.roi_align(torch.ones(1, 1, 8, 8), torch.tensor([[0.0, 0, 0, 4, 4]]), 2).shape)
"""


def test_torchvision_is_mended_where_it_does_not_load(tmp_path: Path) -> None:
    torchvision = pytest.importorskip("torchvision")
    made = new_environment(tmp_path / "env", "torch", "numpy", "pillow", "torchvision")
    folder = made.packages / "torchvision"
    folder.unlink()
    ignored = shutil.ignore_patterns("__pycache__", "_declared*")
    shutil.copytree(Path(torchvision.__file__).parent, folder, ignore=ignored)
    extension = folder / "extension.py"
    original = extension.read_text().replace(USE, "")
    extension.write_text(original)
    loads = made.run("python", "-c", "import torchvision").returncode == 0

    for _ in range(2):  # the second time changes nothing
        mended = made.run("python", str(ROOT / "environment" / "mend.py"))
        assert mended.returncode == 0, mended.stderr
        assert extension.read_text() == (original if loads else original + USE)
        assert ("declared" in mended.stdout) == (not loads)
    found = made.run("python", "-c", SCRIPT)
    assert found.stdout.splitlines() == ["[1, 2]", "torch.Size([1, 1, 2, 2])"], found.stderr
