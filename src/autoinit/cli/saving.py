"""Writing a model's weights: safetensors for PyTorch; .keras, .weights.h5 (or safetensors) for Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.files import replacing_path
from ..errors import MissingPackage, OptionError
from ..frontends.choice import front_end_of


def save_weights(model: Any, path: Path) -> None:
    """All of the weights, or the file that was there before."""
    check_form(model, path)
    with replacing_path(path) as beside:
        _save(model, beside)


def _save(model: Any, path: Path) -> None:
    framework = front_end_of(model).NAME
    name = path.name
    if framework == "keras" and name.endswith(".keras"):
        model.save(path)
    elif framework == "keras" and name.endswith(".weights.h5"):
        model.save_weights(path)
    else:
        _safetensors(model, path, framework)


def refused(path: Path, framework: str) -> OptionError:
    forms = ".keras, .weights.h5 or .safetensors" if framework == "keras" else ".safetensors"
    return OptionError("weights cannot be written in this form", where="--output", received=path.name,
                       fix=f"a name that ends in {forms}")  # fmt: skip


def check_form(model: Any, path: Path, center: str | None = None) -> None:
    """Raise before any work is done if the weights (and centred activations) cannot be written there."""
    framework = front_end_of(model).NAME
    forms = (".keras", ".weights.h5", ".safetensors") if framework == "keras" else (".safetensors",)
    if not path.name.endswith(forms):
        raise refused(path, framework)
    if center == "activation" and framework == "keras" and not path.name.endswith(".keras"):
        raise OptionError("centred activations are no weights: this form does not hold them", where="--output",
                          received=path.name, fix="a name that ends in .keras, or --center bias")  # fmt: skip
    if not path.parent.is_dir():
        raise OptionError("there is no such folder", where="--output", received=str(path.parent), fix="create it first")


def _safetensors(model: Any, path: Path, framework: str) -> None:
    try:
        if framework == "keras":
            from safetensors.numpy import save_file as save_arrays

            from ..frontends.keras.variables import parameters_of, values_of

            values = {name: values_of(v) for name, v in parameters_of(model).items()}
            save_arrays({name: array for name, array in values.items() if array is not None}, str(path))
        elif framework == "jax":
            from safetensors.flax import save_file as save_jax

            from ..frontends.jax.adapters import adapted

            save_jax({held.name: held.array for held in adapted(model).arrays}, str(path))
        else:
            from safetensors.torch import save_model

            save_model(model, str(path))
    except ModuleNotFoundError as error:
        raise MissingPackage(f"{path.suffix} files need safetensors", "autoinit-nn[cli]") from error
