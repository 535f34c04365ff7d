"""The pickles of CIFAR's Python version, read by an unpickler that can build nothing but lists, texts and byte arrays.

A pickle is a program: it names functions and calls them. These files need three of them, to make an array of bytes;
they are replaced by stand-ins that make nothing else, and every other name is refused.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

from .problems import DataError


def load_batch(content: bytes, where: str) -> dict[str, Any]:
    """The dictionary of one batch file, its keys as texts."""
    try:
        batch = _Reader(io.BytesIO(content), encoding="latin1").load()
    except DataError:
        raise
    except _Refused as error:
        raise DataError(f"the pickle wants to call '{error}', which no CIFAR-10 file does", where=where,
                        fix="do not trust this file; fetch the original") from error  # fmt: skip
    except Exception as error:  # an unpickler that meets damaged bytes fails in every possible way
        raise DataError(f"the pickle cannot be read: {type(error).__name__}: {error}", where=where,
                        fix="fetch it again: it is damaged or not complete") from error  # fmt: skip
    if not isinstance(batch, dict):
        raise DataError("a CIFAR-10 batch is a dictionary", where=where, received=type(batch).__name__,
                        fix="point to the folder cifar-10-batches-py of cifar-10-python.tar.gz")  # fmt: skip
    return {key.decode("latin1") if isinstance(key, bytes) else str(key): value for key, value in batch.items()}


class _Refused(Exception):
    pass


_ARRAY = object()
"""Stands in for the class `numpy.ndarray`, and cannot be called."""


def _array(kind: Any, shape: Any, _code: Any) -> np.ndarray:
    """Stands in for NumPy's `_reconstruct`: an empty array, filled by its state."""
    if kind is not _ARRAY or shape != (0,):
        raise _Refused("numpy._reconstruct of something that is not an array")
    return np.empty(0, np.uint8)


def _dtype(code: Any, *_flags: Any) -> np.dtype:
    """Stands in for `numpy.dtype`: bytes only."""
    if code not in ("u1", b"u1", "uint8", "|u1"):
        raise _Refused(f"numpy.dtype({code!r})")
    return np.dtype("u1", copy=True)


def _encode(text: Any, encoding: Any) -> bytes:
    """Stands in for `_codecs.encode`, by which Python 3 writes bytes into old pickles."""
    if not isinstance(text, str) or encoding != "latin1":
        raise _Refused("_codecs.encode")
    return text.encode("latin1")


class _Reader(pickle.Unpickler):
    known = {  # noqa: RUF012
        ("numpy.core.multiarray", "_reconstruct"): _array,
        ("numpy._core.multiarray", "_reconstruct"): _array,
        ("numpy", "dtype"): _dtype,
        ("numpy", "ndarray"): _ARRAY,
        ("_codecs", "encode"): _encode,
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.known:
            raise _Refused(f"{module}.{name}")
        return self.known[module, name]

    def persistent_load(self, pid: Any) -> Any:
        raise _Refused("a persistent object")
