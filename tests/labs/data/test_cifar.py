"""CIFAR-10 in its binary and Python forms, unpacked and in archives."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autoinit.labs.data import DataError, load
from autoinit.labs.data.cifar import as_binary, read
from tests.labs.data.making import BATCHES, EACH, binary_files, cifar_batches, python_2_pickle, tar_gz, write


def pickle_files() -> dict[str, bytes]:
    return {name: python_2_pickle(*batch) for name, batch in cifar_batches().items()}


def python_3_files(protocol: int) -> dict[str, bytes]:
    def content(images: np.ndarray, labels: np.ndarray) -> bytes:
        data = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
        return pickle.dumps({b"data": data, b"labels": [int(y) for y in labels]}, protocol)

    return {name: content(*batch) for name, batch in cifar_batches().items()}


def inside(folder: str, files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{folder}/{name}": content for name, content in files.items()}


FORMS: dict[str, Callable[[Path], Path]] = {
    "binary": lambda p: write(p, binary_files(cifar_batches())),
    "binary in its folder": lambda p: write(p, inside("cifar-10-batches-bin", binary_files(cifar_batches()))),
    "binary archive": lambda p: (
        tar_gz(p / "cifar-10-binary.tar.gz", inside("cifar-10-batches-bin", binary_files(cifar_batches()))).parent
    ),
    "the archive itself": lambda p: tar_gz(
        p / "cifar-10-binary.tar.gz", inside("cifar-10-batches-bin", binary_files(cifar_batches()))
    ),
    "pickles of Python 2": lambda p: write(p, pickle_files()),
    "pickles in their folder": lambda p: write(p, inside("cifar-10-batches-py", pickle_files())),
    "archive of pickles": lambda p: (
        tar_gz(p / "cifar-10-python.tar.gz", inside("cifar-10-batches-py", pickle_files())).parent
    ),
    "pickles of Python 3, protocol 2": lambda p: write(p, python_3_files(2)),
    "pickles of Python 3, protocol 4": lambda p: write(p, python_3_files(4)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_images(tmp_path: Path, form: str) -> None:
    sets = load("cifar10", FORMS[form](tmp_path), validation=0)
    batches = cifar_batches()
    wanted = np.concatenate([batches[name][0] for name in BATCHES])
    labels = np.concatenate([batches[name][1] for name in BATCHES])
    assert np.array_equal(np.concatenate([sets.train.images, sets.test.images]), wanted)
    assert np.array_equal(np.concatenate([sets.train.labels, sets.test.labels]), labels)
    assert sets.train.images.dtype == np.uint8 and sets.train.labels.dtype == np.int64
    assert len(sets.train) == 5 * EACH and len(sets.test) == EACH and len(sets.validation) == 0
    assert sets.class_names[9] == "truck" and sets.shape == (32, 32, 3)


def test_images_can_be_written_to(tmp_path: Path) -> None:
    """Frameworks share memory with arrays, and warn if they may not write."""
    sets = load("cifar10", FORMS["binary"](tmp_path), validation=0)
    assert all(split.images.flags.writeable and split.images.flags.c_contiguous for split in (sets.train, sets.test))


def test_writing_is_the_inverse_of_reading() -> None:
    batches = cifar_batches()
    for name, content in binary_files(batches).items():
        assert as_binary(*batches[name.removesuffix(".bin")]) == content


def test_the_environment_names_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOINIT_DATA", str(FORMS["binary in its folder"](tmp_path / "mine")))
    assert len(load("cifar10", validation=10).train) == 5 * EACH - 10


def broken(tmp_path: Path, form: str, name: str, change: Callable[[bytes], bytes]) -> Path:
    place = FORMS[form](tmp_path)
    (place / name).write_bytes(change((place / name).read_bytes()))
    return place


@pytest.mark.parametrize(
    ("form", "name", "change", "words"),
    [
        ("binary", "data_batch_3.bin", lambda c: c[:-1], "records of 3073 bytes"),
        ("binary", "data_batch_3.bin", lambda c: c[:-3073], "data_batch_3 19"),
        ("binary", "test_batch.bin", lambda c: b"", "records of 3073 bytes"),
        ("binary", "data_batch_1.bin", lambda c: b"\x0a" + c[1:], "numbers from 0 to 9"),
        ("binary archive", "cifar-10-binary.tar.gz", lambda c: c[: len(c) // 2], "damaged or not complete"),
        ("binary archive", "cifar-10-binary.tar.gz", lambda c: b"<html>not found</html>", "cannot be read"),
        ("pickles of Python 2", "data_batch_2", lambda c: c[:-900], "pickle cannot be read"),
        ("pickles of Python 2", "data_batch_2", lambda c: b"<html>", "pickle cannot be read"),
        ("pickles of Python 2", "data_batch_2", lambda c: pickle.dumps([1, 2]), "is a dictionary"),
        ("pickles of Python 2", "data_batch_2", lambda c: pickle.dumps({"labels": [1]}), "keys labels"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, form: str, name: str, change: Callable, words: str) -> None:
    place = broken(tmp_path, form, name, change)
    with pytest.raises(DataError, match=words) as caught:
        read(place)
    assert caught.value.fix and (name.split(".")[0] in str(caught.value))


@pytest.mark.parametrize("form", ["binary", "pickles of Python 2"])
def test_a_missing_file_is_named(tmp_path: Path, form: str) -> None:
    place = FORMS[form](tmp_path)
    name = "data_batch_4.bin" if form == "binary" else "data_batch_4"
    (place / name).unlink()
    with pytest.raises(DataError, match=name):
        read(place)


def test_an_archive_without_a_file(tmp_path: Path) -> None:
    files = binary_files(cifar_batches())
    del files["test_batch.bin"]
    tar_gz(tmp_path / "cifar-10-binary.tar.gz", files)
    with pytest.raises(DataError, match=r"test_batch\.bin"):
        read(tmp_path)
