"""Files are replaced as a whole: on a full disk, after an error or an interrupt the old one is what it was."""

from __future__ import annotations

import ast
import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from autoinit import Plan
from autoinit.core.files import replace_text, replacing, replacing_path, save_figure
from autoinit.core.plan.plan import Note, ParameterPlan
from tests.interrupting import everywhere

ROOT = Path(__file__).parents[2]
OLD, NEW = "the old one\n", "the new one\n" * 1000
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "results.json"
    made.write_text(OLD)
    return made


def alone(path: Path) -> bool:
    """Nothing else was left in its folder."""
    return [p.name for p in path.parent.iterdir()] == [path.name]


def test_new_and_old(path: Path, tmp_path: Path) -> None:
    replace_text(path, "über\n")
    assert path.read_bytes() == "über\n".encode() and alone(path)
    with replacing(str(path)) as file:
        file.write(b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff" and alone(path)
    (tmp_path / "inner").mkdir()
    replace_text(tmp_path / "inner" / "fresh", NEW)
    assert (tmp_path / "inner" / "fresh").read_text() == NEW


ERRORS = [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), MemoryError()]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("writer", [replacing, replacing_path])
def test_an_error_while_writing(writer, error: BaseException, path: Path) -> None:
    with pytest.raises(type(error)), writer(path) as beside:
        if isinstance(beside, Path):
            beside.write_text(NEW)
        else:
            beside.write(NEW.encode())
        raise error
    assert path.read_text() == OLD and alone(path)


def test_an_interrupt_at_any_line(path: Path) -> None:
    def prepare():
        path.write_text(OLD)

        def check() -> None:
            assert path.read_text() in (OLD, NEW) and alone(path)

        return lambda: replace_text(path, NEW), check

    assert everywhere(prepare, lambda file: file.endswith("files.py")) > 20


def test_an_error_while_renaming(path: Path, monkeypatch) -> None:
    def fails(*_):
        raise OSError(errno.EIO, "broken")

    for name in ("replace", "fsync"):
        with monkeypatch.context() as patch, pytest.raises(OSError, match="broken"):
            patch.setattr(os, name, fails)
            replace_text(path, NEW)
        assert path.read_text() == OLD and alone(path)


def test_row_13_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk's: writing fails in the middle."""
    code = """
import resource, signal, sys
from pathlib import Path
from autoinit import Plan
from autoinit.core.plan.plan import Note
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
plan = Plan("Net", "torch", 1.0, "normal", 0, True, [], [], [])
plan.save(path)
plan.notes = [Note("info", "here", "x" * 100) for _ in range(1000)]
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try:
    plan.save(path)
except OSError as error:
    print("refused", error.errno)
"""
    if os.name != "posix":
        pytest.skip("needs RLIMIT_FSIZE")
    path = tmp_path / "plan.json"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code, str(path)], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["refused", str(errno.EFBIG)], done.stderr
    assert Plan.load(path).notes == [] and alone(path)


def test_row_13_a_small_disk(tmp_path: Path) -> None:
    """A file system of 64 kB, where the user may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no permission to mount")
    try:
        path = disk / "plan.json"
        plan = Plan("Net", "torch", 1.0, "normal", 0, True, [], [], [])
        plan.save(path)
        plan.parameters = [ParameterPlan(f"w{k}", [3], "kept", "because " * 20) for k in range(1000)]
        with pytest.raises(OSError) as caught:
            plan.save(path)
        assert caught.value.errno == errno.ENOSPC
        assert Plan.load(path).parameters == [] and alone(path)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@posix
def test_permissions_stay(path: Path) -> None:
    path.chmod(0o640)
    replace_text(path, NEW)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        replace_text(path.with_name("fresh"), NEW)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.with_name("fresh").stat().st_mode) == 0o640


@posix
def test_links_stay_links(path: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link, dangling = tmp_path / "elsewhere" / "link.json", tmp_path / "elsewhere" / "dangling.json"
    link.symlink_to(path)
    dangling.symlink_to("made.json")
    for each in (link, dangling):
        replace_text(each, NEW)
        assert each.is_symlink() and each.read_text() == NEW
    assert path.read_text() == NEW and (tmp_path / "elsewhere" / "made.json").read_text() == NEW
    assert len(list((tmp_path / "elsewhere").iterdir())) == 3


@posix
def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    replace_text("/dev/null", NEW)
    assert not stat.S_ISREG(os.stat("/dev/null").st_mode)
    reader, writer = os.pipe()
    replace_text(f"/dev/fd/{writer}", "through")
    os.close(writer)
    with os.fdopen(reader) as pipe:
        assert pipe.read() == "through"


def test_what_is_no_file_is_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        replace_text(tmp_path, NEW)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        replace_text(tmp_path / "nowhere" / "file", NEW)
    assert path.read_text() == OLD and alone(path)


@posix
def test_a_write_protected_file_stays(path: Path, monkeypatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may write everywhere
    with pytest.raises(PermissionError):
        replace_text(path, NEW)
    assert path.read_text() == OLD and alone(path)


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf", "a"])
def test_figures(name: str, tmp_path: Path) -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure(figsize=(1, 1))
    save_figure(figure, tmp_path / name)
    made = tmp_path / (name if "." in name else "a.png")
    assert made.read_bytes()[:4] in (b"\x89PNG", b"<?xm", b"%PDF") and alone(made)
    before = made.read_bytes()
    with pytest.raises(ValueError, match="nonsense"):
        save_figure(figure, tmp_path / "a.nonsense")
    assert made.read_bytes() == before and alone(made)


def test_a_figure_into_an_open_file() -> None:
    from io import BytesIO

    figure, file = pytest.importorskip("matplotlib.figure").Figure(figsize=(1, 1)), BytesIO()
    save_figure(figure, file)
    assert file.getvalue()[:4] == b"\x89PNG"


def test_plans_are_saved_as_a_whole(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "plan.json"
    plan = Plan("Net", "torch", 1.0, "normal", 0, True, [], [], [])
    plan.save(path)
    plan.notes = [Note("info", "here", object())]  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        plan.save(path)
    assert Plan.load(path).notes == [] and alone(path)


WRITERS = {"write_text", "write_bytes", "savefig", "savez", "savez_compressed"}
ELSEWHERE = {
    "src/autoinit/core/files.py",
    "src/autoinit/labs/evolution/memory.py",  # /proc
    "benchmarks/zoos/memory.py",  # /proc
    "src/autoinit/labs/data/installing.py",  # into a folder that is renamed when it is complete
    "src/autoinit/labs/data/packages.py",  # the same
}


def test_everything_else_goes_through_this(tmp_path: Path) -> None:
    """No other code overwrites files: it would leave half of one on a full disk."""
    found = []
    for folder in ("src/autoinit", "experiments", "benchmarks"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if name not in ELSEWHERE:
                found += [f"{name}:{n.lineno}" for n in ast.walk(ast.parse(file.read_text("utf-8"))) if _overwrites(n)]
    assert found == []


def _overwrites(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    modes = [a.value for a in [*node.args[:2], *(k.value for k in node.keywords if k.arg == "mode")]
             if isinstance(a, ast.Constant) and isinstance(a.value, str)]  # fmt: skip
    return name in WRITERS or (name == "open" and any(m in ("w", "wb", "w+", "wt", "x", "xb") for m in modes))
