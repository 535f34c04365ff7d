"""The data sets by name: how each is read, how it is installed, where its originals are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import cifar, digits, idx, imagenet, installing
from .places import Found


@dataclass(frozen=True)
class Entry:
    """`read(directory, size)` gives None where there are no files of the set; `install(folder, fix)` fills a folder."""

    read: Callable[[Path, int | None], Found | None]
    validation: int
    originals: str
    put: str
    install: Callable[[Path, str], None] | None = None
    bundled: bool = False
    lazy: bool = False

    @property
    def fix(self) -> str:
        """Where to get the original files, and where to put them."""
        return (f"get {self.originals}, put {self.put} into a directory, and name it: directory=… or the environment "
                "variable AUTOINIT_DATA")  # fmt: skip


CATALOGUE = {
    "cifar10": Entry(lambda place, _: cifar.read(place), 5000,
                     "cifar-10-binary.tar.gz or cifar-10-python.tar.gz from www.cs.toronto.edu/~kriz/cifar.html",
                     "the archive or its unpacked folder", installing.cifar10),
    "mnist": Entry(lambda place, _: idx.mnist(place), 5000,
                   "the four files train-images-idx3-ubyte.gz, … from yann.lecun.com/exdb/mnist or a mirror of it",
                   "them (plain or gzipped, or in a folder 'mnist')", installing.mnist),
    "fashion_mnist": Entry(lambda place, _: idx.fashion_mnist(place), 5000,
                           "the four files train-images-idx3-ubyte.gz, … from github.com/zalandoresearch/fashion-mnist",
                           "them (plain or gzipped, or in a folder 'fashion_mnist')", installing.fashion_mnist),
    "imagenette": Entry(imagenet.imagenette, 1000,
                        "imagenette2-160.tgz (or -320, or full size) from github.com/fastai/imagenette",
                        "the archive or its unpacked folder", lazy=True),
    "imagenette_96px": Entry(imagenet.imagenette_96px, 1000,
                             "Imagenette (github.com/fastai/imagenette), pack its images as JPEGs of 96×96 pixels",
                             "the file imagenette_96px.npz (docs/data.md tells its form)", lazy=True),
    "imagenet": Entry(imagenet.imagenet, 10000,
                      "ILSVRC2012_img_train.tar and ILSVRC2012_img_val.tar from image-net.org (with an account)",
                      "the images, unpacked into class folders below 'train' and 'val',", lazy=True),
    "digits": Entry(lambda place, _: digits.read(place), 180, "scikit-learn", "nothing", bundled=True),
}  # fmt: skip
