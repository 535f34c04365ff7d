"""Imagenette and ImageNet as class folders, as one npz file, as an archive."""

from __future__ import annotations

import io
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from autoinit.errors import OptionError
from autoinit.labs.data import DataError, Images, load
from autoinit.labs.data.imagenet import IMAGENETTE
from tests.labs.data.making import class_folders, picture, write

CLASSES = ["n01440764", "n01443537", "n02119789"]
NETTE = sorted(IMAGENETTE)
GREY = 3
"""JPEG of quality 95 keeps a flat grey to within rounding."""


def shows_its_class(sets: Images) -> None:
    """Images of class k are grey with level 20·k."""
    for split in (sets.train, sets.test):
        levels = np.asarray(split.images).astype(int).mean(axis=(1, 2, 3))
        assert np.abs(levels - 20 * split.labels).max() < GREY


def test_imagenet_in_class_folders(tmp_path: Path) -> None:
    sets = load("imagenet", class_folders(tmp_path, CLASSES), validation=3, size=24)
    assert sets.class_names == tuple(CLASSES) and sets.shape == (24, 24, 3)
    assert (len(sets.train), len(sets.validation), len(sets.test)) == (6, 3, 6)
    assert sets.train.labels.dtype == np.int64 and sets.validation.labels.tolist() == [0, 1, 2]
    shows_its_class(sets)


def test_below_the_usual_folder(tmp_path: Path) -> None:
    class_folders(tmp_path / "ILSVRC" / "Data" / "CLS-LOC", CLASSES)
    assert len(load("imagenet", tmp_path, validation=0).train) == 9


def truth_of_the_kit(place: Path) -> None:
    """The kit's numbers run from 1 and not in alphabetical order; it knows classes that are no leaves."""
    from scipy.io import savemat

    kind = [("ILSVRC2012_ID", "O"), ("WNID", "O")]
    rows = [(1, CLASSES[2]), (2, CLASSES[0]), (3, CLASSES[1]), (4, "n00000001")]
    synsets = np.array(rows, dtype=kind).reshape(-1, 1)
    kit = place / "ILSVRC2012_devkit_t12" / "data"
    kit.mkdir(parents=True)
    savemat(kit / "meta.mat", {"synsets": synsets})
    (kit / "ILSVRC2012_validation_ground_truth.txt").write_text("2\n2\n3\n3\n1\n1\n")


def lines(template: str, head: str = "") -> str:
    return head + "".join(template.format(n=k + 1, name=CLASSES[k // 2], label=k // 2) for k in range(6))


LABELS: dict[str, Callable[[Path], object]] = {
    "numbers": lambda p: (p / "val.txt").write_text(lines("ILSVRC2012_val_{n:08d}.JPEG {label}\n")),
    "folder names": lambda p: (p / "val.txt").write_text(lines("ILSVRC2012_val_{n:08d}.JPEG {name}\n")),
    "beside the images": lambda p: (p / "val" / "val.txt").write_text(lines("ILSVRC2012_val_{n:08d}.JPEG {label}\n")),
    "classes and boxes": lambda p: (p / "LOC_val_solution.csv").write_text(
        lines("ILSVRC2012_val_{n:08d},{name} 85 1 499 272 {name} 1 2 3 4 \n", "ImageId,PredictionString\n")
    ),
    "the kit": truth_of_the_kit,
}


@pytest.mark.parametrize("form", LABELS)
def test_flat_validation_images(tmp_path: Path, form: str) -> None:
    class_folders(tmp_path, CLASSES, flat=True)
    LABELS[form](tmp_path)
    sets = load("imagenet", tmp_path, validation=0, size=24)
    assert sets.test.labels.tolist() == [0, 0, 1, 1, 2, 2]
    shows_its_class(sets)


def test_flat_images_without_or_with_wrong_labels(tmp_path: Path) -> None:
    class_folders(tmp_path, CLASSES, flat=True)
    with pytest.raises(DataError, match=r"val\.txt, LOC_val_solution\.csv"):
        load("imagenet", tmp_path)
    (tmp_path / "val.txt").write_text("ILSVRC2012_val_00000001.JPEG 0\n")
    with pytest.raises(DataError, match="no label for a validation image"):
        load("imagenet", tmp_path)
    (tmp_path / "val.txt").write_text(lines("ILSVRC2012_val_{n:08d}.JPEG 3\n"))
    with pytest.raises(DataError, match="numbers below 3"):
        load("imagenet", tmp_path)
    (tmp_path / "val.txt").unlink()
    truth_of_the_kit(tmp_path)
    kit = tmp_path / "ILSVRC2012_devkit_t12" / "data"
    (kit / "ILSVRC2012_validation_ground_truth.txt").write_text("2\n")
    with pytest.raises(DataError, match="1 numbers, 6 images"):
        load("imagenet", tmp_path)
    (kit / "meta.mat").unlink()
    with pytest.raises(DataError, match=r"meta\.mat"):
        load("imagenet", tmp_path)


def test_incomplete_folders(tmp_path: Path) -> None:
    class_folders(tmp_path, CLASSES, val=0)
    with pytest.raises(DataError, match="none in a folder 'val'"):
        load("imagenet", tmp_path)
    write(tmp_path, {"val/n09999999/a.JPEG": picture((0, 0, 0))})
    with pytest.raises(DataError, match="n09999999"):
        load("imagenet", tmp_path)
    (tmp_path / "train" / "n07777777").mkdir()
    with pytest.raises(DataError, match="without an image"):
        load("imagenet", tmp_path)


def test_imagenette_and_imagenet_are_told_apart(tmp_path: Path) -> None:
    class_folders(tmp_path / "imagenet", CLASSES)
    class_folders(tmp_path / "imagenette2-160", NETTE)
    assert load("imagenet", tmp_path, validation=0).classes == 3
    sets = load("imagenette", tmp_path, validation=10, size=24)
    assert sets.class_names[0] == "tench" and sets.class_names[9] == "parachute" and len(sets.train) == 20
    shows_its_class(sets)
    with pytest.raises(DataError, match="this is Imagenette"):
        load("imagenet", tmp_path / "imagenette2-160")
    (tmp_path / "imagenette2-160" / "train" / NETTE[4]).rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match=NETTE[4]):
        load("imagenette", tmp_path)


def test_the_archive_is_unpacked_into_the_cache(tmp_path: Path, cache_directory: Path) -> None:
    class_folders(tmp_path / "made" / "imagenette2-160", NETTE)
    (tmp_path / "mine").mkdir()
    with tarfile.open(tmp_path / "mine" / "imagenette2-160.tgz", "w:gz") as tar:
        tar.add(tmp_path / "made" / "imagenette2-160", "imagenette2-160")
    for _ in range(2):
        shows_its_class(load("imagenette", tmp_path / "mine", validation=0, size=24))
        assert [path.name for path in (tmp_path / "mine").iterdir()] == ["imagenette2-160.tgz"]
    assert (cache_directory / "imagenette2-160" / "imagenette2-160" / "val").is_dir()


def npz(path: Path, **changes: object) -> Path:
    pictures = [picture((20 * k,) * 3, 96, 96) for k in range(10) for _ in range(3)]
    arrays = {
        "jpeg": np.frombuffer(b"".join(pictures), np.uint8),
        "offsets": np.cumsum([0, *map(len, pictures)]),
        "labels": np.repeat(np.arange(10), 3).astype(np.int16),
        "split": np.array(["train", "train", "val"] * 10),
    }
    np.savez(path, **{key: value for key, value in {**arrays, **changes}.items() if value is not None})
    return path


@pytest.mark.parametrize("name", ["imagenette_96px", "imagenette"])
def test_one_file_of_images(tmp_path: Path, name: str) -> None:
    path = npz(tmp_path / "imagenette_96px.npz")
    for place in (tmp_path, path):
        sets = load(name, place, validation=10)
        assert (len(sets.train), len(sets.validation), len(sets.test)) == (10, 10, 10)
        assert sets.shape == ((96, 96, 3) if name == "imagenette_96px" else (160, 160, 3))
        shows_its_class(sets)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": None}, "missing: labels"),
        ({"labels": np.full(30, 10)}, "numbers from 0 to 9"),
        ({"labels": np.zeros(29, int)}, "one label"),
        ({"offsets": np.arange(31)}, "offsets must rise"),
        ({"offsets": np.arange(30)}, "one offset more"),
        ({"split": np.array(["train"] * 30)}, "no image of the test part"),
        ({"split": np.array(["train", "val", "holdout"] * 10)}, "holdout"),
        ({"split": np.array(["train"] * 30, dtype=object)}, "cannot be read"),
        ({"jpeg": np.zeros(10)}, "not bytes"),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    npz(tmp_path / "imagenette_96px.npz", **changes)
    with pytest.raises(DataError, match=words):
        load("imagenette_96px", tmp_path)


def test_offsets_that_fall(tmp_path: Path) -> None:
    path = npz(tmp_path / "imagenette_96px.npz")
    offsets = np.load(path)["offsets"]
    offsets[[7, 8]] = offsets[[8, 7]]
    npz(path, offsets=offsets)
    with pytest.raises(DataError, match="offsets must rise"):
        load("imagenette_96px", tmp_path)


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_cut_file(tmp_path: Path, keep: float) -> None:
    path = npz(tmp_path / "imagenette_96px.npz")
    content = path.read_bytes()
    path.write_bytes(content[: int(keep if keep > 1 else keep * len(content))])
    with pytest.raises(DataError, match="cannot be read"):
        load("imagenette_96px", tmp_path)


def test_indexing_is_that_of_an_array(tmp_path: Path) -> None:
    lazy = load("imagenette_96px", npz(tmp_path / "imagenette_96px.npz"), validation=0).train.images
    whole = np.asarray(lazy)
    assert whole.shape == lazy.shape == (20, 96, 96, 3) and whole.dtype == lazy.dtype == np.uint8
    for index in (3, -1, np.int64(4), slice(2, 9, 3), [5, 1, 1], np.array([7, 0]), whole[:, 0, 0, 0] > 100):
        assert np.array_equal(lazy[index], whole[index])
    assert np.array_equal(lazy.take([4, 2])[1], whole[2]) and len(lazy.take(slice(3))) == 3
    assert np.array_equal(pickle.loads(pickle.dumps(lazy))[:2], whole[:2])  # for worker processes
    with pytest.raises(IndexError):
        lazy[20]
    with pytest.raises(IndexError, match="number alone"):
        lazy[0, 1]


def striped(kind: str, width: int, height: int) -> bytes:
    """Red, green and blue thirds along the longer side."""
    image = np.zeros((height, width, 3), np.uint8)
    for colour in range(3):
        third = slice(colour * max(width, height) // 3, (colour + 1) * max(width, height) // 3)
        image[(slice(None), third, colour) if width > height else (third, slice(None), colour)] = 255
    content = io.BytesIO()
    Image.fromarray(image).save(content, kind, **({"quality": 95} if kind == "JPEG" else {}))
    return content.getvalue()


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
@pytest.mark.parametrize(("width", "height"), [(300, 100), (100, 300), (1200, 400)])
def test_the_centre_is_cut_out(tmp_path: Path, kind: str, width: int, height: int) -> None:
    class_folders(tmp_path, CLASSES[:2])
    write(tmp_path, {f"train/{CLASSES[0]}/{CLASSES[0]}_0.JPEG": striped(kind, width, height)})
    images = load("imagenet", tmp_path, validation=0, size=40).train.images
    assert images[0].shape == (40, 40, 3)
    assert images[0][4:-4, 4:-4].reshape(-1, 3).mean(axis=0) == pytest.approx([0, 255, 0], abs=4)
    assert images.original(0).shape == (height, width, 3)


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_grey_and_printing_colours_become_rgb(tmp_path: Path, mode: str) -> None:
    class_folders(tmp_path, CLASSES[:2])
    content = io.BytesIO()
    Image.new("RGB", (40, 30), (90, 90, 90)).convert(mode).save(content, "JPEG", quality=95)
    write(tmp_path, {f"train/{CLASSES[0]}/{CLASSES[0]}_0.JPEG": content.getvalue()})
    image = load("imagenet", tmp_path, validation=0, size=24).train.images[0]
    assert image.shape == (24, 24, 3) and np.abs(image.astype(int) - 90).max() <= GREY


@pytest.mark.parametrize("content", [b"", b"<html>", picture((9, 9, 9))[:-200], b"GIF89a"])
def test_a_damaged_image_is_named(tmp_path: Path, content: bytes) -> None:
    class_folders(tmp_path, CLASSES[:2])
    write(tmp_path, {f"train/{CLASSES[0]}/{CLASSES[0]}_0.JPEG": content})
    images = load("imagenet", tmp_path, validation=0, size=24).train.images
    with pytest.raises(DataError, match=f"{CLASSES[0]}_0.JPEG"):
        images[0]
    assert images[1].shape == (24, 24, 3)


def test_statistics_of_many_images_are_measured_on_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evenly spread, so that every class counts: levels 0, 20, … 180 have mean 90."""
    monkeypatch.setattr("autoinit.labs.data.images.MEASURED", 10)
    sets = load("imagenette_96px", npz(tmp_path / "imagenette_96px.npz"), validation=0)
    assert sets.mean * 255 == pytest.approx([90] * 3, abs=GREY)
    assert sets.std * 255 == pytest.approx([np.std(np.arange(10) * 20)] * 3, abs=GREY)


@pytest.mark.parametrize("size", [0, -4, 2.5, True, "big"])
def test_wrong_sizes(tmp_path: Path, size: object) -> None:
    with pytest.raises(OptionError, match="size"):
        load("imagenet", class_folders(tmp_path, CLASSES), size=size)  # type: ignore[arg-type]
