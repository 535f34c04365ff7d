"""A stranger's config, looked through completely before Keras sees any of it.

Every description of an object in it (anything with a ``class_name``) has to name a class or function of the list in
`allowed`, or one that the user gave or registered. Numbers, depth and length have limits: a kilobyte of text can
describe more memory than there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import keras
from keras.src.saving import object_registration

from ..errors import ModelError
from .allowed import CLASSES, DTYPES, FUNCTIONS, LEGACY, OPERATIONS, OWN_MODULES, PLAIN

DEEPEST = 500
MOST_OBJECTS = 250_000
LARGEST_NUMBER = 10**11
"""Sizes beyond this are no layer's; seeds may be larger."""
LARGEST_SEED = 2**64
CODE = ("Lambda", "__lambda__")
TRUST = "if you trust its author: autoinit.keras.load(config, allow_code=True)"
READS_FILES = frozenset({"StringLookup", "IntegerLookup", "TextVectorization"})
NOT_LAYERS_OF_A_NETWORK = frozenset({"PreprocessingLayer", "Preprocessor", "Tokenizer", "Task"})
"""Bases of registered classes (KerasHub's) that read files or fetch them."""


def copied(config: Any) -> Any:
    """The config as plain dicts and lists that nobody else holds; refused if it is too deep, too long or too large."""
    made: list[Any] = [None]
    pending: list[tuple[Any, Any, Any, int, str]] = [(config, made, 0, 0, "")]
    count = 0
    while pending:
        item, holder, key, depth, name = pending.pop()
        count += 1
        if depth > DEEPEST:
            raise _refused(f"the config is nested more than {DEEPEST} levels deep", "config", f"{depth} levels",
                           "a config as model.to_json() makes it")  # fmt: skip
        if count > 20 * MOST_OBJECTS:
            raise _refused("the config has too many entries", "config", f"more than {20 * MOST_OBJECTS}",
                           "a config as model.to_json() makes it")  # fmt: skip
        if isinstance(item, Mapping):
            new: dict[str, Any] = {}
            holder[key] = new
            for k, v in item.items():
                if not isinstance(k, str):
                    raise _refused("the keys of a config are texts", "config", shown(k), "give model.get_config()")
                new[k] = None
                pending.append((v, new, k, depth + 1, k))
        elif isinstance(item, (list, tuple)):
            holder[key] = new_list = [None] * len(item)
            pending.extend((v, new_list, k, depth + 1, name) for k, v in enumerate(item))
        else:
            holder[key] = _plain(item, name)
    return made[0]


def _plain(item: Any, name: str) -> Any:
    if item is None or isinstance(item, (str, bool)):
        return item
    if isinstance(item, int):
        if abs(item) > (LARGEST_SEED if "seed" in name else LARGEST_NUMBER):
            raise _refused("this number is too large for the size of anything", f"config, '{name}'", shown(item),
                           f"numbers up to {LARGEST_NUMBER:.0e}")  # fmt: skip
        return int(item)
    return item  # what get_config() holds besides: types, objects of the user's


def check(config: Any, own: Mapping[str, Any]) -> None:
    """Refuse a (copied) config that names anything that is not allowed. Its modules are written as Keras means them."""
    for count, (where, part) in enumerate(parts(config, "config"), start=1):
        if count > MOST_OBJECTS:
            raise _refused("the config describes too many objects", "config", f"more than {MOST_OBJECTS}",
                           "a model of fewer layers")  # fmt: skip
        _check_part(where, part, own)


def _check_part(where: str, part: dict[str, Any], own: Mapping[str, Any]) -> None:
    name, module, registered = part.get("class_name"), part.get("module"), part.get("registered_name")
    for key, text in (("class_name", name), ("module", module), ("registered_name", registered)):
        if text is not None and not isinstance(text, str):
            raise _refused(f"'{key}' has to be a text", where, shown(text), "give what model.to_json() returned")
    if name in PLAIN:
        _check_value(where, part)
    elif name == "function":
        _check_function(where, part, own)
    elif name in CODE or (isinstance(name, str) and name.startswith("__")):
        _check_code(where, part, own)
    elif not _is_own(part, own):
        _check_class(where, part)
    if isinstance(part.get("config"), dict) and name in READS_FILES:
        for key in ("vocabulary", "idf_weights"):
            if isinstance(part["config"].get(key), str):
                raise _refused("the config asks to read a file", where, f"{key}={shown(part['config'][key])}",
                               f"give {key} as a list")  # fmt: skip


def _check_class(where: str, part: dict[str, Any]) -> None:
    name, module, registered = part["class_name"], part.get("module"), part.get("registered_name")
    if module is None and name in LEGACY and registered in (None, name):
        return
    if module is not None and registered in (None, name):
        if name in CLASSES.get(module, ()):
            return
        for prefix, (public, names) in OWN_MODULES.items():
            if module.startswith(prefix) and name in names:
                if public != "keras.models":  # Functional has no public name
                    part["module"], part["registered_name"] = public, None
                elif not _is_class_of(module, name, keras.Model):
                    break
                return
        if module in OPERATIONS and _is_class_of(module, name, keras.Operation):
            return
    place = f" of the module {shown(module)}" if module is not None else ""
    raise _refused(f"the config names a class{place} that is not on the list of what may be loaded", where,
                   shown(name), f"if you trust it: load(config, custom_objects={{{shown(name)}: ...}})")  # fmt: skip


def _is_class_of(module: str, name: str, base: type) -> bool:
    """Whether a module of Keras' own (on our list) defines such a class."""
    try:
        found = vars(import_module(module)).get(name)
    except ImportError:
        return False
    return isinstance(found, type) and issubclass(found, base) and found.__module__ == module


def _check_function(where: str, part: dict[str, Any], own: Mapping[str, Any]) -> None:
    name, module = part.get("config"), part.get("module")
    if isinstance(name, str) and _known(name, own) is not None:
        return
    known = FUNCTIONS.get(str(module)) if module is not None else ACTIVATIONS_AND_LOSSES
    if isinstance(name, str) and known is not None and name in known and part.get("registered_name") in (
        None, name, "function",
    ):  # fmt: skip
        return
    raise _refused(f"the config names a function of the module {shown(module)} that is not on the list of what may be "
                   "loaded", where, shown(name),
                   f"if you trust it: load(config, custom_objects={{{shown(name)}: ...}})")  # fmt: skip


ACTIVATIONS_AND_LOSSES = frozenset().union(*FUNCTIONS.values())


def _check_code(where: str, part: dict[str, Any], own: Mapping[str, Any]) -> None:
    """A Lambda layer may name a function that the user gave; everything else that carries code is refused."""
    name, config = part["class_name"], part.get("config")
    if name == "Lambda" and isinstance(config, dict) and part.get("module") in (None, "keras.layers"):
        function, others = config.get("function"), (config.get("output_shape"), config.get("mask"))
        named = function.get("config") if isinstance(function, dict) else function
        plain = all(value is None or _is_shape(value) for value in others)
        kinds = {config.get(f"{key}_type") for key in ("function", "output_shape", "mask")}
        if isinstance(named, str) and _known(named, own) is not None and plain and "lambda" not in kinds:
            return
    if name in CODE:
        raise _refused("the config carries Python code (a lambda), and loading it would run it", where, shown(name),
                       TRUST)  # fmt: skip
    raise _refused("the config holds a description that is not on the list of what may be loaded", where, shown(name),
                   TRUST)  # fmt: skip


def _is_shape(value: Any) -> bool:
    return isinstance(value, list) and all(v is None or isinstance(v, int) for v in value)


def _check_value(where: str, part: dict[str, Any]) -> None:
    config = part.get("config")
    dtype = config.get("dtype") if isinstance(config, dict) else None
    if dtype is not None and dtype not in DTYPES:
        raise _refused("unknown dtype", where, shown(dtype), "dtype='float32'")


def _is_own(part: dict[str, Any], own: Mapping[str, Any]) -> bool:
    """Whether the class is one that the user gave by name, or registered with Keras.

    The part is then written so that Keras finds it by that name, and imports no module for it.
    """
    for name in (part.get("registered_name"), part.get("class_name")):
        found = _known(name, own) if isinstance(name, str) else None
        if found is not None and not _fetches(found):
            part["registered_name"], part["module"] = name, None
            return True
    return False


def _known(name: str, own: Mapping[str, Any]) -> Any:
    """What the user gave or registered under a name."""
    if name in own:
        return own[name]
    return object_registration.get_registered_object(name)


def _fetches(found: Any) -> bool:
    return isinstance(found, type) and any(base.__name__ in NOT_LAYERS_OF_A_NETWORK for base in found.__mro__)


def parts(value: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object description in a config, with its place; without recursion."""
    pending = [(where, value)]
    while pending:
        place, item = pending.pop()
        if isinstance(item, dict):
            if "class_name" in item:
                yield place, item
                inner = item.get("config")
                name = inner.get("name") if isinstance(inner, dict) else None
                place = f"{place}/{name}" if isinstance(name, str) else place
            pending.extend((place, part) for part in item.values())
        elif isinstance(item, (list, tuple)):
            pending.extend((place, part) for part in item)


def shown(value: Any) -> str:
    """A value for an error message: short, and nothing in it acts on a terminal."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**30:
        return f"a number of about {int(value.bit_length() * 0.30103)} digits"
    text = ascii(value) if isinstance(value, (str, int, float, type(None))) else type(value).__name__
    return text if len(text) <= 80 else text[:77] + "..."


def _refused(why: str, where: str, received: str, fix: str) -> ModelError:
    return ModelError(why, where=where, received=received, fix=fix)
