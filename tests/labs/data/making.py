"""Small data sets in the exact formats of the large ones."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from autoinit.labs.data.cifar import TEST, TRAIN

BATCHES = (*TRAIN, TEST)
EACH = 20
"""Images in each of CIFAR's files, two of every class."""


def cifar_batches() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Images (N, 32, 32, 3) and labels of six batches."""
    rng = np.random.default_rng(1)
    labels = [rng.permutation(np.repeat(np.arange(10), EACH // 10)) for _ in BATCHES]
    return {name: (rng.integers(0, 256, (EACH, 32, 32, 3), dtype=np.uint8), y)
            for name, y in zip(BATCHES, labels, strict=True)}  # fmt: skip


def binary_record(image: np.ndarray, label: int) -> bytes:
    """As the data set's description tells: the label, then the red, the green and the blue plane, row by row."""
    planes = b"".join(bytes(int(v) for v in image[:, :, colour].reshape(-1)) for colour in range(3))
    return bytes([int(label)]) + planes


def binary_files(batches: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, bytes]:
    return {f"{name}.bin": b"".join(binary_record(x, y) for x, y in zip(images, labels, strict=True))
            for name, (images, labels) in batches.items()}  # fmt: skip


def python_2_pickle(images: np.ndarray, labels: np.ndarray) -> bytes:
    """Opcode by opcode what Python 2 wrote for {'data': array, 'labels': [...], 'batch_label': ...}, protocol 2."""
    data = images.transpose(0, 3, 1, 2).reshape(len(images), -1)

    def text(value: bytes) -> bytes:
        return b"T" + struct.pack("<i", len(value)) + value  # BINSTRING

    def number(value: int) -> bytes:
        return b"J" + struct.pack("<i", value)  # BININT

    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n" + b"(cnumpy\nndarray\n" + number(0) + b"\x85" + text(b"b") + b"tR"
        + b"(" + number(1) + number(data.shape[0]) + number(data.shape[1]) + b"\x86"
        + b"cnumpy\ndtype\n" + b"(" + text(b"u1") + number(0) + number(1) + b"tR"
        + b"(" + number(3) + text(b"|") + b"NNN" + number(-1) + number(-1) + number(0) + b"tb"
        + b"\x89" + text(data.tobytes()) + b"tb"
    )  # fmt: skip
    entries = text(b"data") + array + text(b"labels") + b"](" + b"".join(number(int(y)) for y in labels) + b"e"
    return b"\x80\x02}(" + entries + text(b"batch_label") + text(b"training batch 1 of 5") + b"u."


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def tar_gz(path: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return path


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def idx(values: np.ndarray) -> bytes:
    return bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape) + values.tobytes()


def idx_files(count: int = 30) -> dict[str, bytes]:
    rng = np.random.default_rng(2)
    files = {}
    for stem, number in (("train", count), ("t10k", 10)):
        files[f"{stem}-images-idx3-ubyte"] = idx(rng.integers(0, 256, (number, 28, 28), dtype=np.uint8))
        files[f"{stem}-labels-idx1-ubyte"] = idx((np.arange(number) % 10).astype(np.uint8))
    return files


def gzipped(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {f"{name}.gz": gzip.compress(content) for name, content in files.items()}


def picture(colour: tuple[int, int, int], width: int = 40, height: int = 30, kind: str = "JPEG") -> bytes:
    """One colour; its centre third (along the longer side) is what a square cut must show."""
    content = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(content, kind, **({"quality": 95} if kind == "JPEG" else {}))
    return content.getvalue()


def class_folders(folder: Path, classes: list[str], train: int = 3, val: int = 2, flat: bool = False) -> Path:
    """Images of class k are grey with level 20·k."""
    number = 0
    for k, name in enumerate(classes):
        grey = (20 * k,) * 3
        for i in range(train):
            write(folder, {f"train/{name}/{name}_{i}.JPEG": picture(grey)})
        for _ in range(val):
            number += 1
            inside = "" if flat else f"{name}/"
            write(folder, {f"val/{inside}ILSVRC2012_val_{number:08d}.JPEG": picture(grey)})
    return folder
