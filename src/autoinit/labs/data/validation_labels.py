"""Labels of ImageNet's validation images when they lie flat in one folder. Three files that are in use:

- `LOC_val_solution.csv`: `ILSVRC2012_val_00048981,n03995372 85 1 499 272`, the class and boxes;
- `val.txt`: `ILSVRC2012_val_00000001.JPEG 65`, the class by number or by folder name;
- `ILSVRC2012_validation_ground_truth.txt` of the development kit, one number in each line, in the order of the images;
  its numbers are not alphabetical, and `meta.mat` beside it says which class they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .problems import DataError

KIT = "ILSVRC2012_devkit_t12/data"
TRUTH = "ILSVRC2012_validation_ground_truth.txt"


def validation_labels(images: Sequence[str], classes: Sequence[str], places: Sequence[Path]) -> np.ndarray:
    """One label for each image name, from the first file of labels in these places."""
    number = {name: k for k, name in enumerate(classes)}
    for place in places:
        if (path := place / "LOC_val_solution.csv").is_file():
            return _matched(images, _solution(path), number, path)
        if (path := place / "val.txt").is_file():
            return _matched(images, _list(path), number, path)
        for kit in (place, place / KIT, place / "data"):
            if (path := kit / TRUTH).is_file():
                return _matched(images, _kit(path, images), number, path)
    raise DataError("the validation images lie flat, and no file says what they show", where=str(places[0]),
                    received=f"{len(images):,} images",
                    fix=f"put them into class folders, or val.txt, LOC_val_solution.csv or {TRUTH} (with meta.mat) "
                        "beside them")  # fmt: skip


def _matched(images: Sequence[str], told: dict[str, str], number: dict[str, int], path: Path) -> np.ndarray:
    labels = np.empty(len(images), np.int64)
    for k, image in enumerate(images):
        name = told.get(Path(image).stem)
        if name is None:
            raise DataError("no label for a validation image", where=str(path), received=image,
                            fix="use the file of labels that belongs to these images")  # fmt: skip
        if name in number:
            labels[k] = number[name]
        elif name.isdecimal() and int(name) < len(number):
            labels[k] = int(name)
        else:
            raise DataError("a label that is no class of the training part", where=str(path),
                            received=f"{image}: {name}",
                            fix=f"classes are folder names or numbers below {len(number)}")  # fmt: skip
    return labels


def _solution(path: Path) -> dict[str, str]:
    lines = [line.split(",", 1) for line in path.read_text().splitlines()[1:] if line.strip()]
    return {line[0]: line[1].split()[0] for line in lines if len(line) == 2 and line[1].strip()}


def _list(path: Path) -> dict[str, str]:
    lines = [line.split() for line in path.read_text().splitlines() if line.strip()]
    return {Path(line[0]).stem: line[1] for line in lines if len(line) == 2}


def _kit(path: Path, images: Sequence[str]) -> dict[str, str]:
    from scipy.io import loadmat

    meta = path.with_name("meta.mat")
    if not meta.is_file():
        raise DataError("the numbers in this file are explained by meta.mat, which is not beside it", where=str(path),
                        fix="copy meta.mat of the development kit there")  # fmt: skip
    rows = np.atleast_1d(loadmat(meta, squeeze_me=True)["synsets"])
    meaning = {str(int(row["ILSVRC2012_ID"])): str(row["WNID"]) for row in rows}
    truth = path.read_text().split()
    if len(truth) != len(images):
        raise DataError("the kit has one number for each validation image", where=str(path),
                        received=f"{len(truth):,} numbers, {len(images):,} images",
                        fix="unpack the validation images again")  # fmt: skip
    return {Path(image).stem: meaning.get(line, f"number {line}") for image, line in zip(images, truth, strict=True)}
