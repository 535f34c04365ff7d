"""Oxford Flowers 102: an archive with two MATLAB files, or one npz file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from autoinit.errors import OptionError
from autoinit.labs.data import DataError, Images, load
from tests.labs.data.making import picture, tar_gz, write

COUNT = 3 * 102 + 10
"""Three images of each flower, and ten more of the first."""
LABELS = np.concatenate([np.tile(np.arange(1, 103), 3), np.ones(10, int)])
PARTS = {"trnid": np.arange(1, 103), "valid": np.arange(103, 205), "tstid": np.arange(205, COUNT + 1)}
KEYS = ("trnid", "valid", "tstid")


def level(label: int) -> int:
    return 2 * int(label)


def images() -> dict[str, bytes]:
    return {f"jpg/image_{k + 1:05d}.jpg": picture((level(LABELS[k]),) * 3) for k in range(COUNT)}


def tables(folder: Path, **changes: object) -> Path:
    """uint8 labels and uint16 numbers in one row, as in the originals."""
    folder.mkdir(parents=True, exist_ok=True)
    savemat(folder / "imagelabels.mat", {"labels": changes.get("labels", LABELS.astype(np.uint8))})
    savemat(folder / "setid.mat", {key: changes.get(key, PARTS[key].astype(np.uint16)) for key in KEYS
                                   if changes.get(key, 0) is not None})  # fmt: skip
    return folder


def archive(folder: Path) -> Path:
    tar_gz(tables(folder) / "102flowers.tgz", images())
    return folder


def npz(path: Path, **changes: object) -> Path:
    pictures = list(images().values())
    split = np.empty(COUNT, "<U5")
    for name, key in (("train", "trnid"), ("valid", "valid"), ("test", "tstid")):
        split[PARTS[key] - 1] = name
    arrays = {
        "jpeg": np.frombuffer(b"".join(pictures), np.uint8),
        "offsets": np.cumsum([0, *map(len, pictures)]),
        "labels": (LABELS - 1).astype(np.int16),
        "split": split,
    }
    np.savez(path, **{**arrays, **changes})
    return path


FORMS: dict[str, Callable[[Path], Path]] = {
    "the archive": archive,
    "the archive itself": lambda p: archive(p) / "102flowers.tgz",
    "unpacked": lambda p: write(tables(p), images()),
    "in torchvision's folder": lambda p: write(tables(p / "flowers-102"), images()).parent,
    "npz": lambda p: npz(p / "flowers102_128px.npz").parent,
}


def shows_its_class(sets: Images) -> None:
    for split in (sets.train, sets.validation, sets.test):
        levels = np.asarray(split.images).astype(int).mean(axis=(1, 2, 3))
        assert np.abs(levels - 2 * (split.labels + 1)).max() < 2


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_three_parts(tmp_path: Path, form: str) -> None:
    sets = load("flowers102", FORMS[form](tmp_path / "mine" if form != "npz" else tmp_path), size=16)
    assert (len(sets.train), len(sets.validation), len(sets.test)) == (102, 102, 112)
    assert sets.classes == 102 and sets.class_names[53] == "sunflower" and sets.shape == (16, 16, 3)
    assert sets.validation.labels.tolist() == list(range(102)) and sets.test.labels.dtype == np.int64
    shows_its_class(sets)


def test_the_archive_is_unpacked_into_the_cache(tmp_path: Path, cache_directory: Path) -> None:
    place = archive(tmp_path / "mine")
    load("flowers102", place)
    assert sorted(path.name for path in place.iterdir()) == ["102flowers.tgz", "imagelabels.mat", "setid.mat"]
    assert (cache_directory / "102flowers" / "jpg" / "image_00001.jpg").is_file()
    (place / "102flowers.tgz").write_bytes(b"x")  # it is not read again
    assert load("flowers102", place).shape == (128, 128, 3)


def test_the_validation_part_is_the_set_s_own(tmp_path: Path) -> None:
    npz(tmp_path / "flowers102_128px.npz")
    with pytest.raises(OptionError, match="validation part of its own"):
        load("flowers102", tmp_path, validation=10)
    one, two = (load("flowers102", tmp_path, seed=seed) for seed in (0, 1))
    assert np.array_equal(one.validation.labels, two.validation.labels)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": LABELS + 1}, "whole numbers from 1 to 102"),
        ({"labels": LABELS - 1}, "whole numbers from 1 to 102"),
        ({"labels": LABELS + 0.5}, "whole numbers"),
        ({"labels": LABELS.reshape(2, -1)}, "one row of numbers"),
        ({"labels": np.append(LABELS, 1)}, "1 of 317 images are missing"),
        ({"trnid": None}, "no array 'trnid'"),
        ({"trnid": np.arange(2, 104)}, "in two parts"),
        ({"tstid": np.arange(205, COUNT + 2)}, "whole numbers from 1 to 316"),
        ({"valid": np.zeros((1, 0))}, "one row of numbers"),
    ],
)
def test_tables_that_do_not_fit(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    write(tables(tmp_path, **changes), images())
    with pytest.raises(DataError, match=words) as caught:
        load("flowers102", tmp_path)
    assert caught.value.fix


@pytest.mark.parametrize("name", ["imagelabels.mat", "setid.mat"])
def test_missing_and_damaged_tables(tmp_path: Path, name: str) -> None:
    write(tables(tmp_path), images())
    content = (tmp_path / name).read_bytes()
    for damaged in (content[:150], b"<html>not found</html>", b""):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(DataError, match=name):
            load("flowers102", tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(DataError, match=name) as caught:
        load("flowers102", tmp_path)
    assert "robots.ox.ac.uk" in caught.value.fix


def test_missing_images(tmp_path: Path) -> None:
    tables(tmp_path)
    with pytest.raises(DataError, match="the images are not") as caught:
        load("flowers102", tmp_path)
    assert "102flowers.tgz" in caught.value.fix
    write(tmp_path, images())
    (tmp_path / "jpg" / "image_00007.jpg").unlink()
    with pytest.raises(DataError, match=r"image_00007\.jpg"):
        load("flowers102", tmp_path)


def test_a_damaged_archive(tmp_path: Path, cache_directory: Path) -> None:
    place = archive(tmp_path / "mine")
    content = (place / "102flowers.tgz").read_bytes()
    (place / "102flowers.tgz").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="cannot be read"):
        load("flowers102", place)
    assert not (cache_directory / "102flowers").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": LABELS}, "numbers from 0 to 101"),
        ({"split": np.array(["train", "test"] * (COUNT // 2))}, "no image of the validation part"),
    ],
)
def test_npz_files_that_do_not_fit(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    npz(tmp_path / "flowers102_128px.npz", **changes)
    with pytest.raises(DataError, match=words):
        load("flowers102", tmp_path)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no package registry") as caught:
        load("flowers102")
    assert "robots.ox.ac.uk" in caught.value.fix
    with pytest.raises(DataError, match="no files of this data set"):
        load("flowers102", tmp_path)


def test_a_digest_is_of_the_images(tmp_path: Path) -> None:
    """The same in one file and in a folder; another for another size, order or image."""
    packed = load("flowers102", npz(tmp_path / "flowers102_128px.npz")).train.images
    folder = load("flowers102", write(tables(tmp_path / "folder"), images())).train.images
    assert packed.digest() == folder.digest() and len(packed.digest()) == 64
    others = [packed.take([*range(1, 102), 0]), packed.take(range(101))]
    others.append(load("flowers102", tmp_path, size=64).train.images)
    (tmp_path / "folder" / "jpg" / "image_00005.jpg").write_bytes(picture((9, 9, 9)))
    assert len({packed.digest(), folder.digest(), *(other.digest() for other in others)}) == 5
