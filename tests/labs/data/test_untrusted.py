"""Files that try to do more than hold data."""

from __future__ import annotations

import os
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest

from autoinit.labs.data import DataError, load
from autoinit.labs.data.archives import members, unpacked
from autoinit.labs.data.pickles import load_batch
from tests.labs.data.making import binary_files, cifar_batches, tar_gz, write


class Touch:
    """Unpickled by plain pickle it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_calls_nothing(tmp_path: Path, protocol: int) -> None:
    content = pickle.dumps({"data": Touch(tmp_path / "touched"), "labels": [1]}, protocol)
    pickle.loads(content)  # the danger is real
    assert (tmp_path / "touched").exists()
    (tmp_path / "touched").unlink()
    with pytest.raises(DataError, match="wants to call") as caught:
        load_batch(content, "data_batch_1")
    assert "system" in str(caught.value) and "do not trust" in caught.value.fix
    assert not (tmp_path / "touched").exists()


def test_such_a_pickle_among_the_batches(tmp_path: Path) -> None:
    content = pickle.dumps(Touch(tmp_path / "touched"))
    write(tmp_path, {f"data_batch_{k}": content for k in range(1, 6)} | {"test_batch": content})
    with pytest.raises(DataError, match="wants to call"):
        load("cifar10", tmp_path)
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize(
    "code",
    [
        b"cbuiltins\neval\n(U\x041+1 tR.",
        b"cnumpy\nload\n(U\x01xtR.",
        b"cnumpy\nndarray.tofile\n.",
        b"c_codecs\nencode\n(U\x03abcU\x05rot13tR.",
        b"cnumpy\ndtype\n(U\x01OtR.",
        b"cnumpy\nndarray\n(K\x05tR.",
        b"Pname\n.",
    ],
)
def test_other_names_are_refused(code: bytes) -> None:
    with pytest.raises(DataError):
        load_batch(b"\x80\x02" + code, "data_batch_1")


def test_arrays_of_objects_are_refused() -> None:
    with pytest.raises(DataError, match="dtype"):
        load_batch(pickle.dumps({"data": np.array([print], dtype=object)}), "data_batch_1")


def linked(path: Path, name: str, kind: bytes, target: str) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, target
        tar.addfile(entry)
    return path


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_link_or_device_is_not_read(tmp_path: Path, kind: bytes) -> None:
    archive = linked(tmp_path / "a.tar.gz", "test_batch.bin", kind, "/etc/hostname")
    with pytest.raises(DataError, match="link or a device"):
        members(archive, ["test_batch.bin"])


def test_a_huge_member_is_not_read(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        entry = tarfile.TarInfo("test_batch.bin")
        entry.size = 10**12
        tar.fileobj.write(entry.tobuf())
    with pytest.raises(DataError, match="1,000,000,000,000 bytes"):
        members(tmp_path / "a.tar", ["test_batch.bin"])


def test_reading_writes_nothing(tmp_path: Path) -> None:
    """Paths that climb are only names here."""
    inner = tmp_path / "inner"
    inner.mkdir()
    files = {f"../../{name}": content for name, content in binary_files(cifar_batches()).items()}
    tar_gz(inner / "cifar-10-binary.tar.gz", {"../evil": b"x", **files})
    load("cifar10", inner, validation=0)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["cifar-10-binary.tar.gz", "inner"]


@pytest.mark.parametrize("name", ["../evil", "a/../../evil"])
def test_unpacking_stays_inside(tmp_path: Path, name: str) -> None:
    archive = tar_gz(tmp_path / "a.tgz", {name: b"x"})
    (tmp_path / "into").mkdir()
    with pytest.raises(DataError, match="outside"):
        unpacked(archive, tmp_path / "into")
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("target", ["/etc", "../.."])
def test_unpacking_refuses_links_that_lead_out(tmp_path: Path, target: str) -> None:
    archive = linked(tmp_path / "a.tgz", "door", tarfile.SYMTYPE, target)
    (tmp_path / "into").mkdir()
    with pytest.raises(DataError, match="outside"):
        unpacked(archive, tmp_path / "into")
