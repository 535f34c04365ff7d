"""Models from JSON and config dicts, including those of strangers.

A config names classes and may carry Python code (a Lambda layer holds its function as marshalled byte code). By
default neither code nor classes of foreign modules are loaded, whatever Keras' own global switch says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import keras
from keras.src import backend
from keras.src.saving import serialization_lib

from ..errors import ModelError
from .pending import others_waiting

TRUSTED = ("keras", "keras_hub", "keras_cv", "keras_nlp", "autoinit", "builtins")
"""Packages whose classes a config may name."""


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
    config = _config(model)
    own = dict(custom_objects or {})
    if not allow_code:
        _refuse_code(config, own)
    try:
        if not abstract:
            return _made(config, own, allow_code)
        config.pop("compile_config", None)  # an optimizer has memory of its own
        with others_waiting(), backend.StatelessScope(initialize_variables=False):
            return _made(config, own, allow_code)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"the config does not describe a model that can be made: {type(error).__name__}: {error}",
            where="config", received=str(config.get("class_name", "a config without class name")),
            fix="custom_objects={'MyLayer': MyLayer} if it names classes of your own",
        ) from error  # fmt: skip


def _config(model: Any) -> dict[str, Any]:
    if isinstance(model, (str, bytes)):
        try:
            model = json.loads(model)
        except json.JSONDecodeError as error:
            raise ModelError("this text is not JSON", where="model", received=str(error),
                             fix="give what model.to_json() returned, or the model itself") from error  # fmt: skip
    if not isinstance(model, Mapping) or not ("class_name" in model or "layers" in model):
        raise ModelError("this does not describe a Keras model", where="model", received=type(model).__name__,
                         fix="give a model, model.get_config(), or model.to_json()")  # fmt: skip
    return dict(model)


def _made(config: dict[str, Any], own: dict[str, Any], allow_code: bool) -> Any:
    if "class_name" in config:
        return serialization_lib.deserialize_keras_object(config, custom_objects=own, safe_mode=not allow_code)
    cls = keras.Model if "input_layers" in config else keras.Sequential
    with serialization_lib.SafeModeScope(not allow_code), keras.saving.CustomObjectScope(own):
        return cls.from_config(config)


def _refuse_code(config: Any, own: dict[str, Any]) -> None:
    for where, part in _parts(config, "config"):
        name, module = part.get("class_name"), part.get("module")
        if name == "__lambda__" or (name == "Lambda" and _carries_code(part.get("config"))):
            raise ModelError("the config carries Python code (a lambda), and loading it would run it", where=where,
                             received=str(name),
                             fix="if you trust its author: autoinit.keras.load(config, allow_code=True)")  # fmt: skip
        if isinstance(module, str) and module.split(".")[0] not in TRUSTED and not _is_known(part, own):
            raise ModelError(f"the config names a class of the module {module!r}, which is not Keras' own", where=where,
                             received=str(name),
                             fix=f"if you trust it: load(config, custom_objects={{{name!r}: ...}})")  # fmt: skip


def _carries_code(config: Any) -> bool:
    """A Lambda layer that names a function is fine, one that holds its code is not."""
    function = (config or {}).get("function") if isinstance(config, Mapping) else None
    return isinstance(function, (list, tuple)) or (
        isinstance(function, Mapping) and function.get("class_name") == "__lambda__"
    )


def _is_known(part: Mapping[str, Any], own: dict[str, Any]) -> bool:
    names = {str(part.get("class_name")), str(part.get("registered_name")), str(part.get("config"))}
    return bool(names & (set(own) | set(keras.saving.get_custom_objects())))


def _parts(value: Any, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every object description in a config, with its place; without recursion, however deep the config is."""
    pending = [(where, value)]
    while pending:
        place, item = pending.pop()
        if isinstance(item, Mapping):
            if "class_name" in item:
                yield place, item
                inner = item.get("config")
                name = inner.get("name") if isinstance(inner, Mapping) else None
                place = f"{place}/{name}" if isinstance(name, str) else place
            pending.extend((place, part) for part in item.values())
        elif isinstance(item, (list, tuple)):
            pending.extend((place, part) for part in item)
