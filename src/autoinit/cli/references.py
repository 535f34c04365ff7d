"""From a word on the command line to a model: `module:factory`, `file.py:factory`, `timm:`, `hf:`, `keras:`, JSON.

Code runs only if the user named it: a module or a Python file. A JSON file never runs code, and nothing is downloaded.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.inputs import Input
from ..errors import ModelError

FORMS = "package.module:factory, file.py:factory, timm:NAME, hf:CONFIG.json, keras:NAME, or a Keras model as .json"


@dataclass(frozen=True)
class Named:
    """A model and, if its library tells, what it is called with (without the batch axis)."""

    model: Any
    inputs: Callable[[int], Any] | None = None


def resolve(reference: str) -> Named:
    """The model that a reference names."""
    kind, colon, name = reference.partition(":")
    if colon and kind in _LIBRARIES:
        return _LIBRARIES[kind](name)
    if reference.endswith(".json"):
        return Named(_keras_json(Path(reference)))
    if colon and name:
        return Named(_made(_attribute(kind, name, reference), reference))
    raise ModelError("this names no model", where="MODEL", received=reference, fix=f"give {FORMS}")


def _attribute(source: str, name: str, reference: str) -> Any:
    """A function, class or model in the user's own module or file."""
    module = _from_file(Path(source)) if source.endswith(".py") else _from_module(source, reference)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            known = [n for n in vars(found) if not n.startswith("_")][:12]
            raise ModelError(f"{source} has no '{part}'", where="MODEL", received=reference,
                             fix=f"one of: {', '.join(known)}")  # fmt: skip
        found = getattr(found, part)
    return found


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise ModelError("no such file", where="MODEL", received=str(path), fix="give the path of a Python file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.resolve().parent))
    spec.loader.exec_module(module)
    return module


def _from_module(name: str, reference: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(error.name + ".")):
            raise
        raise ModelError(f"there is no module '{name}'", where="MODEL", received=reference,
                         fix=f"give {FORMS}") from error  # fmt: skip


def _made(found: Any, reference: str) -> Any:
    """The model itself, or what a function or class without arguments returns."""
    from ..api import front_end_of

    if not isinstance(found, type):
        try:
            front_end_of(found)
            return found
        except ModelError:
            pass
    if not callable(found):
        raise ModelError("this is neither a model nor a function that makes one", where="MODEL", received=reference,
                         fix="name a function without arguments that returns a model")  # fmt: skip
    try:
        return found()
    except TypeError as error:
        raise ModelError(f"the model could not be made: {error}", where="MODEL", received=reference,
                         fix="name a function that needs no arguments") from error  # fmt: skip


def _library(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{name} is not installed", where="MODEL", received=extra, fix=f"pip install {name}"
        ) from error
    except Exception as error:  # whatever an installation may suffer from
        raise ModelError(f"{name} cannot be imported: {type(error).__name__}: {error}", where="MODEL", received=extra,
                         fix=f"see what `python -c 'import {name}'` says") from error  # fmt: skip


def _timm(name: str) -> Named:
    timm = _library("timm", f"timm:{name}")
    if name not in timm.list_models():
        close = timm.list_models(f"*{name}*")[:5]
        raise ModelError("timm has no such model", where="MODEL", received=name,
                         fix=f"one of {', '.join(close)}" if close else "see timm.list_models()")  # fmt: skip
    model = timm.create_model(name, pretrained=False)
    size = tuple(model.default_cfg.get("input_size", (3, 224, 224)))
    return Named(model, lambda batch: Input((batch, *size)))


def _hf(path: str) -> Named:
    library = _library("transformers", f"hf:{path}")
    config = _json(Path(path))
    if "auto_map" in config:
        raise ModelError("the config asks for code from elsewhere (auto_map), which is never run", where=path,
                         received="auto_map", fix="remove it, or build the model yourself: module:factory")  # fmt: skip
    try:
        made = library.AutoConfig.for_model(**config)
        model = library.AutoModel.from_config(made, trust_remote_code=False)
    except (KeyError, ValueError, TypeError, ImportError) as error:
        kind = str(config.get("model_type"))
        raise ModelError(f"transformers cannot make this model: {error}", where=path, received=kind,
                         fix="a config with a known model_type") from error  # fmt: skip
    vocabulary = getattr(made, "vocab_size", None)
    return Named(
        model, (lambda batch: {"input_ids": Input((batch, 64), vocabulary=vocabulary)}) if vocabulary else None
    )


def _keras_application(name: str) -> Named:
    keras = _library("keras", f"keras:{name}")
    factory = getattr(keras.applications, name, None)
    if not callable(factory) or not name[:1].isupper():
        known = [n for n in dir(keras.applications) if n[:1].isupper()]
        raise ModelError("keras.applications has no such model", where="MODEL", received=name,
                         fix=f"one of {', '.join(known)}")  # fmt: skip
    return Named(factory(weights=None))


def _keras_json(path: Path) -> Any:
    from ..keras.loading import load

    return load(_json(path))


def _json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError("no such file", where="MODEL", received=str(path), fix="give the path of a file") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelError(
            f"not a JSON file: {error}", where=str(path), received="text", fix="give a JSON file"
        ) from error


_LIBRARIES: dict[str, Callable[[str], Named]] = {"timm": _timm, "hf": _hf, "keras": _keras_application}
