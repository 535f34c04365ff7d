"""What to say where Keras cannot be imported: it is not there, or it is there without its backend."""

from __future__ import annotations

from importlib.util import find_spec

from ..errors import MissingPackage

BACKENDS = ("tensorflow", "jax", "torch")


def keras_missing(what: str, error: ModuleNotFoundError) -> ModuleNotFoundError | MissingPackage:
    """The error to raise instead of the one that `import keras` raised."""
    if error.name == "keras":
        return MissingPackage(f"{what} needs Keras 3", "autoinit-nn[keras]")
    if error.name not in BACKENDS:
        return error
    others = [name for name in BACKENDS if find_spec(name) is not None]
    hint = f", but {' and '.join(others)} {'is' if len(others) == 1 else 'are'}: KERAS_BACKEND={others[0]}, or"
    told = f"{hint} else" if others else f" (KERAS_BACKEND chooses {', '.join(BACKENDS[:-1])} or {BACKENDS[-1]})"
    return MissingPackage(f"Keras takes the backend {error.name}, which is not installed{told}", error.name)
