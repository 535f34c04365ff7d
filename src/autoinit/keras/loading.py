"""Models from JSON and config dicts, including those of strangers.

A config names classes and may carry Python code (a Lambda layer holds its function as marshalled byte code). By
default nothing is loaded that is not on a list of our own (`allowed`) or given by the user, whatever Keras' version
would do and whatever its global switch says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from math import prod
from typing import Any

import keras
from keras.src import backend
from keras.src.saving import serialization_lib

from ..errors import ModelError
from ..frontends.keras.state import Settings
from ..frontends.keras.variables import shape_of
from .allowed import MODELS
from .checking import check, copied, shown

LONGEST_TEXT = 2**26
"""Characters of JSON."""


def load(
    model: Any, *, custom_objects: Mapping[str, Any] | None = None, allow_code: bool = False, abstract: bool = False
) -> Any:
    """A Keras model from a config dict or a JSON string; a model is returned as it is.

    model: what ``model.to_json()``, ``keras.saving.serialize_keras_object(model)`` or ``model.get_config()`` gave.
    custom_objects: your own classes and functions, by name.
    allow_code: also load Python code that the config carries. Only for configs that you trust like a program.
    abstract: make no memory for the weights: enough to plan, not to run.
    """
    if isinstance(model, keras.layers.Layer):
        return model
    own = dict(custom_objects or {})
    config = _config(model)
    if not allow_code:
        check(config, own)
    try:
        if abstract:
            return _abstract(config, own, allow_code)
        _check_memory(_abstract(config, own, allow_code))
        return _made(config, own, allow_code)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"the config does not describe a model that can be made: {type(error).__name__}: {_short(error)}",
            where="config", received=shown(config.get("class_name", "a config without class name")),
            fix="custom_objects={'MyLayer': MyLayer} if it names classes of your own",
        ) from error  # fmt: skip


def _config(model: Any) -> dict[str, Any]:
    if isinstance(model, (str, bytes)):
        model = _read(model)
    if not isinstance(model, Mapping) or not ("class_name" in model or "layers" in model):
        raise ModelError("this does not describe a Keras model", where="model", received=type(model).__name__,
                         fix="give a model, model.get_config(), or model.to_json()")  # fmt: skip
    config: dict[str, Any] = copied(model)
    return config


def _read(text: str | bytes) -> Any:
    if len(text) > LONGEST_TEXT:
        raise ModelError("this text is too long to be a model", where="model", received=f"{len(text)} characters",
                         fix=f"at most {LONGEST_TEXT}; weights do not belong into JSON")  # fmt: skip
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ModelError("this JSON is nested too deeply", where="model", received="JSON",
                         fix="give what model.to_json() returned") from error  # fmt: skip
    except ValueError as error:  # no JSON, no UTF-8, or a number of thousands of digits
        raise ModelError("this text is not JSON", where="model", received=_short(error),
                         fix="give what model.to_json() returned, or the model itself") from error  # fmt: skip


def _made(config: dict[str, Any], own: dict[str, Any], allow_code: bool) -> Any:
    with serialization_lib.SafeModeScope(not allow_code), keras.saving.CustomObjectScope(own):
        inner = config.get("config")
        if config.get("module") is None and config.get("class_name") in MODELS and isinstance(inner, dict):
            cls = keras.Sequential if config["class_name"] == "Sequential" else keras.Model
            made = cls.from_config(inner)  # of Keras 2
        elif "class_name" in config:
            made = serialization_lib.deserialize_keras_object(config, custom_objects=own, safe_mode=not allow_code)
        else:
            made = (keras.Model if "input_layers" in config else keras.Sequential).from_config(config)
    if not isinstance(made, keras.layers.Layer):
        raise ModelError("the config describes something that is not a model", where="config",
                         received=type(made).__name__, fix="give what model.to_json() returned")  # fmt: skip
    return made


def _abstract(config: dict[str, Any], own: dict[str, Any], allow_code: bool) -> Any:
    """The model without memory for its weights. An optimizer would have memory of its own."""
    without = {k: v for k, v in copied(config).items() if k != "compile_config"}  # Keras empties what it reads
    with Settings(), backend.StatelessScope(initialize_variables=False):
        return _made(without, own, allow_code)


def _check_memory(model: Any) -> None:
    """Refuse a model whose weights would not fit, before any of them is made."""
    sizes = {id(v): prod(shape_of(v)) * _bytes(str(v.dtype)) for v in model.variables}
    wanted, there = sum(sizes.values()), _memory()
    if wanted > there:
        raise ModelError(f"the weights would take {wanted / 2**30:.0f} GiB, and there are {there / 2**30:.0f} GiB",
                         where="config", received=f"{len(sizes)} variables",
                         fix="autoinit.plan(config) needs no memory for weights")  # fmt: skip


def _bytes(dtype: str) -> int:
    bits = "".join(c for c in dtype.partition("_")[0] if c.isdigit())
    return max(1, int(bits or 8) // 8)


def _memory() -> int:
    """The machine's memory in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not everywhere
        return 2**36


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return text if len(text) <= 500 else text[:497] + "..."
