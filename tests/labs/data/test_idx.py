"""MNIST and Fashion-MNIST."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autoinit.labs.data import DataError, checksums, load
from tests.labs.data.making import gzipped, idx, idx_files, write


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("name", "folder"),
    [("mnist", "."), ("mnist", "MNIST/raw"), ("fashion_mnist", "."), ("fashion_mnist", "fashion-mnist")],
)
def test_plain_and_gzipped(tmp_path: Path, name: str, folder: str, packed: bool) -> None:
    files = idx_files()
    write(tmp_path / folder, gzipped(files) if packed else files)
    sets = load(name, tmp_path, validation=0)
    wanted = np.frombuffer(files["train-images-idx3-ubyte"], np.uint8)[16:].reshape(30, 28, 28, 1)
    assert np.array_equal(sets.train.images, wanted) and sets.train.images.dtype == np.uint8
    assert sets.test.images.shape == (10, 28, 28, 1) and sets.test.images.flags.writeable
    assert sets.train.labels.tolist() == [k % 10 for k in range(30)] and sets.train.labels.dtype == np.int64


def test_names_with_a_dot(tmp_path: Path) -> None:
    write(tmp_path, {name.replace("-idx", ".idx"): content for name, content in idx_files().items()})
    assert len(load("mnist", tmp_path, validation=10).train) == 20


def test_own_folders_come_first(tmp_path: Path) -> None:
    """Files of one set in the directory itself do not hide the folder of the other."""
    write(tmp_path, idx_files(30))
    write(tmp_path / "fashion_mnist", idx_files(50))
    assert len(load("fashion_mnist", tmp_path, validation=0).train) == 50
    assert len(load("mnist", tmp_path, validation=0).train) == 30


def test_the_other_set_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = idx_files()
    write(tmp_path, files)
    name = "train-labels-idx1-ubyte"
    monkeypatch.setitem(checksums.FILES["mnist"], name, checksums.of_bytes(files[name]))
    load("mnist", tmp_path, validation=0)
    with pytest.raises(DataError, match="labels of 'mnist', not of 'fashion_mnist'"):
        load("fashion_mnist", tmp_path, validation=0)


HUGE = bytes([0, 0, 8, 3]) + struct.pack(">3I", 2**32 - 1, 2**32 - 1, 2**32 - 1)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("train-images-idx3-ubyte", lambda c: c[:-1], "not as long as its head says"),
        ("train-images-idx3-ubyte", lambda c: c + b"x", "not as long as its head says"),
        ("train-images-idx3-ubyte", lambda c: c[:9], "not an idx file"),
        ("train-images-idx3-ubyte", lambda c: b"<html>", "not an idx file"),
        ("train-images-idx3-ubyte", lambda c: HUGE, "not as long as its head says"),
        ("train-labels-idx1-ubyte", lambda c: idx(np.full(30, 10, np.uint8)), "numbers from 0 to 9"),
        ("t10k-labels-idx1-ubyte", lambda c: idx(np.zeros(9, np.uint8)), "10 images, 9 labels"),
        ("t10k-labels-idx1-ubyte", lambda c: idx(np.zeros((10, 1), np.uint8)), "not an idx file"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, change: Callable, words: str, packed: bool) -> None:
    files = idx_files()
    files[name] = change(files[name])
    write(tmp_path, gzipped(files) if packed else files)
    with pytest.raises(DataError, match=words) as caught:
        load("mnist", tmp_path)
    assert name.split("-")[0] in caught.value.where and caught.value.fix


def test_a_cut_gzip(tmp_path: Path) -> None:
    files = gzipped(idx_files())
    files["train-images-idx3-ubyte.gz"] = files["train-images-idx3-ubyte.gz"][:-40]
    write(tmp_path, files)
    with pytest.raises(DataError, match="cannot be read"):
        load("mnist", tmp_path)


def test_a_gzip_that_grows_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autoinit.labs.data.idx.LARGEST", 50_000)
    files = idx_files(30)
    files["train-images-idx3-ubyte"] += bytes(10**7)
    write(tmp_path, gzipped(files))
    with pytest.raises(DataError, match="49,984 values for 30 × 28 × 28"):
        load("mnist", tmp_path)


def test_a_missing_file(tmp_path: Path) -> None:
    files = idx_files()
    del files["t10k-labels-idx1-ubyte"]
    write(tmp_path, files)
    with pytest.raises(DataError, match="t10k-labels-idx1-ubyte"):
        load("mnist", tmp_path)
