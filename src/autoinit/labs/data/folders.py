"""Imagenette and ImageNet: JPEGs in a folder for each class, below train and val.

    train/n01440764/n01440764_10026.JPEG
    val/n01440764/ILSVRC2012_val_00009111.JPEG        or flat, with labels in a file: val/ILSVRC2012_val_00000001.JPEG

A class is numbered by the place of its folder in alphabetical order.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from .images import Split
from .jpegs import Files, Jpegs
from .places import Found, places
from .problems import DataError
from .validation_labels import validation_labels

ENDINGS = (".jpeg", ".jpg", ".png")


def read(directory: Path, size: int, below: tuple[str, ...], class_names: Mapping[str, str] | None = None
         ) -> Found | None:  # fmt: skip
    """The data set if there is a folder `train` of class folders here or in one of the folders `below`.

    class_names: the classes that must be there, and what they are called; None takes whatever is there.
    """
    for place in places(directory, *below):
        folders = _folders(place / "train")
        if not folders:
            continue
        if class_names is not None and set(folders) - set(class_names):
            continue  # ImageNet's folders are not Imagenette's
        if missing := sorted(set(class_names or ()) - set(folders)):
            raise DataError("folders of classes are missing", where=str(place / "train"), received=", ".join(missing),
                            fix="unpack the archive again")  # fmt: skip
        train = _by_folder(place / "train", folders, folders, size)
        names = tuple(folders if class_names is None else (class_names[folder] for folder in folders))
        return Found(train, _validation(directory, place, folders, size), names)
    return None


def _folders(place: Path) -> list[str]:
    return sorted(entry.name for entry in os.scandir(place) if entry.is_dir()) if place.is_dir() else []


def _images(place: Path) -> list[str]:
    return sorted(entry.name for entry in os.scandir(place) if entry.name.lower().endswith(ENDINGS))


def _by_folder(place: Path, folders: list[str], classes: list[str], size: int) -> Split:
    names: list[str] = []
    labels: list[int] = []
    for folder in folders:
        if folder not in classes:
            raise DataError("a class that is not among the training folders", where=str(place), received=folder,
                            fix="use the training and the validation part of one data set")  # fmt: skip
        inside = _images(place / folder)
        if not inside:
            raise DataError("a class without an image", where=str(place / folder),
                            fix=f"unpack it again; images end in {', '.join(ENDINGS)}")  # fmt: skip
        names += [f"{folder}/{name}" for name in inside]
        labels += [classes.index(folder)] * len(inside)
    return Split(Jpegs(Files(place, names), size), np.array(labels, np.int64))


def _validation(directory: Path, place: Path, classes: list[str], size: int) -> Split:
    val = place / "val"
    if folders := _folders(val):
        return _by_folder(val, folders, classes, size)
    flat = _images(val) if val.is_dir() else []
    if not flat:
        raise DataError("there are training images, but none in a folder 'val' beside them", where=str(place),
                        fix="unpack the validation images there, in class folders or flat with a file of labels"
                        )  # fmt: skip
    labels = validation_labels(flat, classes, [val, place, directory])
    return Split(Jpegs(Files(val, flat), size), labels)
