"""Omniglot as two zip files of PNGs, their folders, and one npz file; alphabets as tasks."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from autoinit.errors import OptionError
from autoinit.labs.data import Alphabets, DataError, batches, load_omniglot
from autoinit.labs.data.omniglot import read
from autoinit.labs.data.smaller import averaged
from tests.labs.data.making import write, zipped

SIDE = 105
CHARACTERS = {"images_background": {"Greek": 3, "Latin": 2}, "images_evaluation": {"Angelic": 2}}


def paper(alphabet: str, character: int, drawing: int) -> np.ndarray:
    """True for paper; where the ink is tells the alphabet, the character and the drawing."""
    image = np.ones((SIDE, SIDE), np.bool_)
    image[0, len(alphabet)] = image[10 + character, 50] = image[60, 10 + 2 * drawing] = False
    image[30:90, 70 : 80 + character] = False
    return image


def png(bits: np.ndarray, mode: str = "1") -> bytes:
    content = io.BytesIO()
    Image.fromarray(bits).convert(mode).save(content, "PNG")
    return content.getvalue()


def half(name: str) -> dict[str, bytes]:
    """images_background/Greek/character01/0001_01.png, a bit for each pixel."""
    files, number = {}, 0
    for alphabet, count in CHARACTERS[name].items():
        for character in range(count):
            number += 1
            for drawing in range(20):
                path = f"{name}/{alphabet}/character{character + 1:02d}/{number:04d}_{drawing + 1:02d}.png"
                files[path] = png(paper(alphabet, character, drawing))
    return files


def zips(folder: Path, **changes: Callable[[dict[str, bytes]], object]) -> Path:
    for name in CHARACTERS:
        files = half(name)
        changes.get(name, lambda _: None)(files)
        zipped(folder / f"{name}.zip", {f"{name}/": b"", f"__MACOSX/{name}/._x.png": b"x", **files})
    return folder


def npz(folder: Path, **changes: object) -> Path:
    rows = [(a, k, part) for part, names in CHARACTERS.items() for a, count in names.items() for k in range(count)]
    arrays = {
        "images": np.stack([np.stack([paper(a, k, i) for i in range(20)]) for a, k, _ in rows]),
        "alphabet": np.array([a for a, _, _ in rows]),
        "is_background": np.array([part == "images_background" for _, _, part in rows]),
    }
    np.savez_compressed(folder / "omniglot.npz", **{k: v for k, v in {**arrays, **changes}.items() if v is not None})
    return folder


FORMS: dict[str, Callable[[Path], Path]] = {
    "zip files": zips,
    "folders": lambda p: write(p, {**half("images_background"), **half("images_evaluation")}),
    "folders in a folder": lambda p: write(p, {
        f"omniglot-py/{k}": v for name in CHARACTERS for k, v in half(name).items()}),
    "npz": npz,
    "the npz file itself": lambda p: npz(p) / "omniglot.npz",
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_drawings(tmp_path: Path, form: str) -> None:
    drawings = read(FORMS[form](tmp_path))
    assert drawings is not None and sorted(drawings.names) == ["Angelic", "Greek", "Latin"]
    for names in CHARACTERS.values():
        for name, count in names.items():
            wanted = np.stack([np.stack([paper(name, k, i) for i in range(20)]) for k in range(count)])
            assert np.array_equal(drawings.paper(name), wanted)


def test_parts_of_every_character(tmp_path: Path) -> None:
    data = load_omniglot(npz(tmp_path), 3)
    assert [task.name for task in data.tasks] == ["Angelic", "Greek", "Latin"] and data.shape == (SIDE, SIDE, 1)
    for task, count in zip(data.tasks, (2, 3, 2), strict=True):
        assert task.classes == count
        seen: dict[int, list[int]] = {k: [] for k in range(count)}
        for part, each in ((task.train, 10), (task.validation, 4), (task.test, 6)):
            assert np.bincount(part.labels).tolist() == [each] * count and part.labels.dtype == np.int64
            assert part.inputs.dtype == np.uint8 and set(np.unique(part.inputs)) == {0, 255}
            for image, label in zip(part.inputs[..., 0], part.labels, strict=True):
                drawing = int(np.flatnonzero(image[60, 10:50])[0]) // 2
                assert np.array_equal(image == 0, paper(task.name, label, drawing))  # ink is 255
                seen[int(label)].append(drawing)
        assert all(sorted(drawn) == list(range(20)) for drawn in seen.values())


def test_the_seed_chooses(tmp_path: Path) -> None:
    npz(tmp_path)
    names = [tuple(task.name for task in load_omniglot(tmp_path, 1, seed).tasks) for seed in range(12)]
    assert set(names) == {("Angelic",), ("Greek",), ("Latin",)} and names == [
        tuple(task.name for task in load_omniglot(tmp_path, 1, seed).tasks) for seed in range(12)
    ]
    whole, alone, other = (load_omniglot(tmp_path, chosen, seed) for chosen, seed in ((3, 0), (["Latin"], 0), (3, 1)))
    assert np.array_equal(whole.tasks[2].train.inputs, alone.tasks[0].train.inputs)  # whatever else is chosen
    assert not np.array_equal(whole.tasks[2].train.inputs, other.tasks[2].train.inputs)


def test_smaller_images_are_means_of_areas(tmp_path: Path) -> None:
    small, large = (load_omniglot(npz(tmp_path), ["Latin"], size=size).tasks[0].train.inputs for size in (28, 105))
    assert small.shape[1:] == (28, 28, 1)
    assert np.allclose(small.mean(axis=(1, 2, 3)), large.mean(axis=(1, 2, 3)), atol=0.5)  # areas keep the ink
    block = large[0, :15, 15:30, 0].astype(float)  # 15 old pixels are 4 new ones
    assert small[0, :4, 4:8, 0].mean() == pytest.approx(block.mean(), abs=0.5)
    assert np.array_equal(averaged(np.arange(16, dtype=np.uint8).reshape(4, 4) * 8, 2), [[20, 36], [84, 100]])


@pytest.mark.parametrize("alphabets", [0, 4, True, [], "Latin", ["Latin", "Klingon"], ["Latin", "Latin"]])
def test_wrong_alphabets(tmp_path: Path, alphabets: object) -> None:
    with pytest.raises(OptionError, match="alphabets"):
        load_omniglot(npz(tmp_path), alphabets)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, 106, 2.5, True])
def test_wrong_sizes(tmp_path: Path, size: object) -> None:
    with pytest.raises(OptionError, match="from 1 to 105"):
        load_omniglot(npz(tmp_path), 1, size=size)  # type: ignore[arg-type]


def tasks(tmp_path: Path) -> Alphabets:
    return load_omniglot(npz(tmp_path), 3, size=7)


def test_batches_hold_every_task(tmp_path: Path) -> None:
    data = tasks(tmp_path)
    made = list(batches(data, 4, 15, np.random.default_rng(0)))
    assert len(made) == 15 and made[0].images.shape == (3, 4, 7, 7, 1) and made[0].labels.shape == (3, 4)
    for number, task in enumerate(data.tasks):
        images = np.concatenate([batch.images[number] for batch in made])
        labels = np.concatenate([batch.labels[number] for batch in made])
        length = len(task.train)  # 20 or 30; sixty are drawn
        for start in range(0, 60, length):
            assert np.bincount(labels[start : start + length]).tolist() == [10] * task.classes  # each once, then anew
        pairs = {(image.tobytes(), label) for image, label in zip(task.train.inputs, task.train.labels, strict=True)}
        assert {(image.tobytes(), label) for image, label in zip(images, labels, strict=True)} == pairs


def test_batches_are_reproducible(tmp_path: Path) -> None:
    data = tasks(tmp_path)
    first, again, other = (np.stack([batch.labels for batch in batches(data, 2, 9, np.random.default_rng(seed))])
                           for seed in (0, 0, 1))  # fmt: skip
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    with pytest.raises(OptionError, match="size"):
        next(batches(data, 0, 1, np.random.default_rng(0)))


PATH = "images_background/Greek/character02/0002_07.png"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda files: files.pop(PATH), "Greek/character02: 19"),
        (lambda files: files.update({PATH: b"<html>"}), "0002_07.png: the image cannot be decoded"),
        (lambda files: files.update({PATH: files[PATH][:60]}), "cannot be decoded"),
        (lambda files: files.update({PATH: png(np.ones((28, 28), np.bool_))}), "105×105 pixels"),
        (lambda files: files.clear(), "there is no image"),
    ],
)
def test_damaged_archives_are_named(tmp_path: Path, change: Callable, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        load_omniglot(zips(tmp_path, images_background=change), 3)
    assert "images_background.zip" in caught.value.where and caught.value.fix


def test_other_archives(tmp_path: Path) -> None:
    zips(tmp_path)
    path = tmp_path / "images_evaluation.zip"
    content = path.read_bytes()
    for damaged in (content[:-900], b"", b"<html>"):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"images_evaluation\.zip: the archive cannot be read"):
            load_omniglot(tmp_path, 3)
    start = content.index(b"Angelic/character02/0002_11.png") + 60
    path.write_bytes(content[:start] + bytes([content[start] ^ 255]) + content[start + 1 :])
    with pytest.raises(DataError, match="cannot be read"):  # the archive has checksums of its own
        load_omniglot(tmp_path, 3)
    path.unlink()
    with pytest.raises(DataError, match=r"no images_evaluation\.zip") as caught:
        load_omniglot(tmp_path, 3)
    assert "github.com/brendenlake/omniglot" in caught.value.fix


def test_a_huge_member_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autoinit.labs.data.zips.LARGEST", 100)
    with pytest.raises(DataError, match="more than 100 bytes"):
        load_omniglot(zips(tmp_path), 3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"alphabet": None}, "arrays are missing"),
        ({"images": np.ones((7, 20, 28, 28), np.bool_)}, "images are bool"),
        ({"images": np.ones((7, 20, SIDE, SIDE), np.uint8)}, "images are bool"),
        ({"alphabet": np.array(["Latin"] * 6)}, "one name of an alphabet"),
        ({"alphabet": np.array(["Latin"] * 7, dtype=object)}, "cannot be read"),
    ],
)
def test_npz_files_that_do_not_fit(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    with pytest.raises(DataError, match=words):
        load_omniglot(npz(tmp_path, **changes), 1)


def test_nothing_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="no package registry carries") as caught:
        load_omniglot()
    assert "images_background.zip" in caught.value.fix
    monkeypatch.setenv("AUTOINIT_DATA", str(npz(tmp_path)))
    assert len(load_omniglot(alphabets=2).tasks) == 2


def test_the_zip_is_one(tmp_path: Path) -> None:
    """So that the tests above read what they think."""
    with zipfile.ZipFile(zips(tmp_path) / "images_background.zip") as file:
        assert PATH in file.namelist()
