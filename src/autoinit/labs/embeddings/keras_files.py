"""Weights in files of Keras, layer by layer, read without Keras.

Three layouts: .h5 of Keras 2 and of `model.save` (attributes `layer_names` and `weight_names` tell the order, below
`model_weights` if the file holds a whole model); .weights.h5 of Keras 3 (`layers/…/vars/0`, the layer's name an
attribute of `vars`); .keras, a zip archive with the latter inside.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from ..data.problems import DataError
from ..data.zips import zip_members

INSIDE = "model.weights.h5"


def keras_file(path: Path) -> dict[str, list[np.ndarray]]:
    """Arrays by the name of their layer ("/" in a name becomes "_"), in the order in which the layer has them."""
    try:
        import h5py  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError("files of Keras' weights are read by h5py: pip install h5py") from error
    source: Any = io.BytesIO(zip_members(path, [INSIDE])[INSIDE]) if path.suffix == ".keras" else path
    try:
        with h5py.File(source, "r") as file:
            whole = file.get("model_weights", file)
            found = _second(whole) if "layer_names" in whole.attrs else _third(whole)
    except DataError:
        raise
    except Exception as error:  # damaged bytes fail in every possible way
        raise DataError(f"the file of weights cannot be read: {type(error).__name__}: {error}", where=str(path),
                        fix="fetch it again: it is damaged or not complete") from error  # fmt: skip
    if not found:
        raise DataError("the file holds no layers with weights", where=str(path),
                        fix="name a file that model.save, or model.save_weights, of Keras wrote")  # fmt: skip
    return found


def _second(file: Any) -> dict[str, list[np.ndarray]]:
    found = {}
    for layer in map(_text, file.attrs["layer_names"]):
        names = [_text(name) for name in file[layer].attrs["weight_names"]]
        if names:
            found[layer.replace("/", "_")] = [np.asarray(file[layer][name], np.float32) for name in names]
    return found


def _third(file: Any) -> dict[str, list[np.ndarray]]:
    found = {}
    for group in file["layers"].values() if "layers" in file else ():
        variables = group.get("vars", {})
        if len(variables) and "name" in variables.attrs:
            found[_text(variables.attrs["name"]).replace("/", "_")] = [
                np.asarray(variables[str(k)], np.float32) for k in range(len(variables))
            ]
    return found


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
