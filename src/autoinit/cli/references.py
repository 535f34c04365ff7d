"""From a word on the command line to a model: `module:factory`, `file.py:factory`, `timm:`, `hf:`, `keras:`, JSON.

Code runs only if the user named it: a module or a Python file. A JSON file never runs code, and nothing is downloaded.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from ..core.inputs import Input
from ..errors import MissingPackage, ModelError, OptionError
from ..frontends.choice import front_end_of, with_parameters
from .offline import NetworkRefused, offline

FORMS = (
    "package.module:factory, file.py:factory, timm:NAME, torchvision:NAME, hf:CONFIG.json, keras:NAME, "
    "or a Keras model as .json"
)
LONGEST_FILE = 2**26
ELSEWHERE = ("auto_map", "trust_remote_code", "custom_pipelines")
"""Entries of a config by which it asks for code that is not in the library."""


@dataclass(frozen=True)
class Named:
    """A model and, if its library tells, what it is called with (without the batch axis)."""

    model: Any
    inputs: Callable[[int], Any] | None = None


def resolve(reference: str) -> Named:
    """The model that a reference names."""
    kind, colon, name = reference.partition(":")
    if colon and kind in _LIBRARIES:
        with offline():
            return _with_own_inputs(_LIBRARIES[kind](name))
    if reference.endswith(".json"):
        return _with_own_inputs(Named(_keras_json(Path(reference))))
    if colon and name:
        return _with_own_inputs(Named(_made(_attribute(kind, name, reference), reference)))
    raise OptionError("this names no model", where="MODEL", received=reference, fix=f"give {FORMS}")


def _with_own_inputs(named: Named) -> Named:
    """Keras models know their inputs, but for the size of the batch."""
    if named.inputs is not None or front_end_of(named.model).NAME != "keras":
        return named
    from ..frontends.keras.inputs import own_inputs_of_batch

    return Named(named.model, lambda batch: own_inputs_of_batch(named.model, batch))


def _attribute(source: str, name: str, reference: str) -> Any:
    """A function, class or model in the user's own module or file."""
    module = _from_file(Path(source)) if source.endswith(".py") else _from_module(source, reference)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            known = [n for n in vars(found) if not n.startswith("_")][:12]
            file = f"{source.replace('.', '/')}.py"
            meant = f"{file}:{name}, the file in this folder" if Path(file).is_file() else f"one of: {', '.join(known)}"
            raise ModelError(f"{source} has no '{part}'", where="MODEL", received=reference, fix=meant)
        found = getattr(found, part)
    return found


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise ModelError("no such file", where="MODEL", received=str(path), fix="give the path of a Python file")
    taken = path.stem in sys.modules or path.stem in sys.stdlib_module_names
    name = f"_model_file_{path.stem}" if taken else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:  # last: what lies beside the file takes no library's place
        sys.path.append(folder)
    spec.loader.exec_module(module)
    return module


def _from_module(name: str, reference: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:  # last: what lies in this folder takes no library's place
        sys.path.append(here)
    try:
        _from_here(name.partition(".")[0], here)
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(error.name + ".")):
            raise
        raise ModelError(f"there is no module '{name}'", where="MODEL", received=reference,
                         fix=f"give {FORMS}") from error  # fmt: skip


def _from_here(name: str, folder: str) -> None:
    """Import the user's module or package that was named, though a library may be called so, too."""
    if name in sys.modules or name in sys.stdlib_module_names:
        return
    spec = PathFinder.find_spec(name, [folder])
    if spec is None or spec.loader is None or spec.origin is None:
        return
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _made(found: Any, reference: str) -> Any:
    """The model itself, or what a function or class without arguments returns."""
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
        made = found()
    except TypeError as error:
        raise ModelError(f"the model could not be made: {error}", where="MODEL", received=reference,
                         fix="name a function that needs no arguments") from error  # fmt: skip
    pair = isinstance(made, tuple) and len(made) == 2 and callable(made[0])  # a function of JAX and its parameters
    return with_parameters(*made) if pair else made


def _library(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in (name, name.partition(".")[0]):
            raise
        raise MissingPackage(f"{extra} needs {error.name}, which is not installed", error.name) from error
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
    config = _without_weights(config, path)
    try:
        made = library.AutoConfig.for_model(**config)
        model = library.AutoModel.from_config(made, trust_remote_code=False)
    except Exception as error:  # whatever a config may lead the library to
        if _asked_for_network(error):
            raise ModelError("the config names weights or files that would have to be fetched, which is never done",
                             where=path, received=_short(error),
                             fix="use_pretrained_backbone=false and a backbone_config instead of the name of a "
                                 "backbone; or build the model yourself: module:factory") from error  # fmt: skip
        kind = ascii(config.get("model_type"))
        raise ModelError(f"transformers cannot make this model: {type(error).__name__}: {_short(error)}", where=path,
                         received=kind, fix="a config with a known model_type") from error  # fmt: skip
    vocabulary = getattr(made, "vocab_size", None)
    return Named(
        model, (lambda batch: {"input_ids": Input((batch, 64), vocabulary=vocabulary)}) if vocabulary else None
    )


def _without_weights(config: Any, path: str) -> dict[str, Any]:
    """The config, in which nothing asks for code from elsewhere and every backbone starts without weights."""
    if not isinstance(config, dict):
        raise ModelError("this is not the config of a model", where=path, received=type(config).__name__,
                         fix="a JSON object with a model_type")  # fmt: skip
    made: dict[str, Any] = {}
    pending: list[tuple[dict[str, Any], dict[str, Any]]] = [(config, made)]
    while pending:
        given, new = pending.pop()
        for key, value in given.items():
            if key in ELSEWHERE and value:
                raise ModelError(f"the config asks for code from elsewhere ({key}), which is never run", where=path,
                                 received=key, fix="remove it, or make the model yourself: module:factory")  # fmt: skip
            if key in ("use_pretrained_backbone", "pretrained", "init_from_pretrained") and value:
                value = False
            new[key] = {} if isinstance(value, dict) else value
            if isinstance(value, dict):
                pending.append((value, new[key]))
    return made


def _asked_for_network(error: BaseException | None) -> bool:
    """Whether an error comes of a connection that was refused, or of a library that knows it is offline."""
    seen = 0
    while error is not None and seen < 20:
        names = {cls.__name__ for cls in type(error).__mro__}
        if isinstance(error, NetworkRefused) or names & {"OfflineModeIsEnabled", "LocalEntryNotFoundError"}:
            return True
        if "offline" in str(error).lower() or "huggingface.co" in str(error):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return text if len(text) <= 300 else text[:297] + "..."


def _torchvision(name: str) -> Named:
    models = _library("torchvision.models", f"torchvision:{name}")
    known = models.list_models()
    if name not in known:
        close = [n for n in known if name.lower() in n][:5] or known[:5]
        raise ModelError("torchvision has no such model", where="MODEL", received=ascii(name),
                         fix=f"one of {', '.join(close)}, ... (torchvision.models.list_models())")  # fmt: skip
    without = {"weights": None, "weights_backbone": None} if _has_backbone(models, name) else {"weights": None}
    return Named(models.get_model(name, **without), lambda batch: Input((batch, 3, 224, 224)))


def _has_backbone(models: Any, name: str) -> bool:
    """Detection and segmentation models would fetch the weights of their backbone."""
    return "weights_backbone" in inspect.signature(models.get_model_builder(name)).parameters


def _keras_application(name: str) -> Named:
    importlib.import_module("autoinit.keras")  # which says what Keras lacks if it cannot be had
    keras = _library("keras", f"keras:{name}")
    factory = getattr(keras.applications, name, None)
    if not callable(factory) or not name[:1].isupper():
        known = [n for n in dir(keras.applications) if n[:1].isupper()]
        raise ModelError("keras.applications has no such model", where="MODEL", received=name,
                         fix=f"one of {', '.join(known)}")  # fmt: skip
    try:
        return Named(factory(weights=None))
    except TypeError as error:
        raise ModelError(f"this makes no model: {_short(error)}", where="MODEL", received=ascii(name),
                         fix="the name of a class of models, such as ResNet50") from error  # fmt: skip


def _keras_json(path: Path) -> Any:
    from ..keras.loading import load

    return load(_json(path))


def _json(path: Path) -> Any:
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise ModelError("this file is too large for a config", where="MODEL", received=str(path),
                             fix=f"a JSON file of at most {LONGEST_FILE >> 20} MiB")  # fmt: skip
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError("no such file", where="MODEL", received=str(path), fix="give the path of a file") from error
    except OSError as error:
        raise ModelError(f"the file cannot be read: {error}", where="MODEL", received=str(path),
                         fix="give the path of a JSON file") from error  # fmt: skip
    except RecursionError as error:
        raise ModelError("this JSON is nested too deeply", where=str(path), received="JSON",
                         fix="give a config as its library writes it") from error  # fmt: skip
    except ValueError as error:  # no JSON, no UTF-8, or a number of thousands of digits
        raise ModelError(f"not a JSON file: {_short(error)}", where=str(path), received="text",
                         fix="give a JSON file") from error  # fmt: skip


_LIBRARIES: dict[str, Callable[[str], Named]] = {
    "timm": _timm, "torchvision": _torchvision, "hf": _hf, "keras": _keras_application,
}  # fmt: skip
