"""How a model is called: which argument each input is, and what is passed beside them.

A tuple is one argument per entry if the function takes so many, a dict keywords if it names them. Arguments by which
models are told whether they train, and their keys for random numbers, are passed if the function has them and the
user did not give them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

TRAINING = frozenset({"train", "training", "is_training"})
EVALUATION = frozenset({"deterministic", "eval", "evaluation", "inference", "use_running_average"})
KEYS = frozenset({"key", "rng", "prng", "prng_key", "rng_key", "dropout_key", "dropout_rng"})

Arguments = tuple[list[Any], dict[str, Any]]


def parameters_of(function: Callable[..., Any], leading: int = 0) -> list[inspect.Parameter]:
    """What a function takes, without its first `leading` arguments."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a function of C
        return [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)]
    if found and found[0].kind is inspect.Parameter.VAR_POSITIONAL:
        return found
    return found[leading:]


def arranged(inputs: Any, accepted: list[inspect.Parameter]) -> Arguments:
    """Inputs as users give them, as positional and keyword arguments."""
    places = [p for p in accepted if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    more = any(p.kind is p.VAR_POSITIONAL for p in accepted)
    names = {p.name for p in accepted if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    if isinstance(inputs, Mapping):
        whole = not inputs or not all(isinstance(k, str) for k in inputs) or not set(inputs) <= names
        return ([inputs], {}) if whole else ([], dict(inputs))
    if type(inputs) not in (tuple, list):
        return [inputs], {}
    args, kwargs = list(inputs), {}
    if len(args) > 1 and isinstance(args[-1], Mapping) and args[-1] and set(args[-1]) <= names:
        kwargs = dict(args.pop())
    if not more and len(args) > len(places):
        return [inputs], {}
    needed = [p for p in places if p.default is p.empty]
    if not more and len(args) > 1 and len(needed) < 2 and not _may_be_given(places, len(args)):
        return [inputs], {}
    return args, kwargs


def _may_be_given(places: list[inspect.Parameter], count: int) -> bool:
    """Whether the first places are for data, not for what tells the model how to run."""
    return not any(p.name in TRAINING | EVALUATION | KEYS for p in places[:count])


def completed(arguments: Arguments, accepted: list[inspect.Parameter], training: bool, key: Any) -> Arguments:
    """With the mode and a key, where the function takes them and they are not given. Without a key: None is passed."""
    args, kwargs = arguments
    places = [p.name for p in accepted if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    given = {*places[: len(args)], *kwargs}
    made = dict(kwargs)
    for p in accepted:
        if p.name in given or p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            continue
        if p.name in TRAINING:
            made[p.name] = training
        elif p.name in EVALUATION:
            made[p.name] = not training
        elif p.name in KEYS and key is not None:
            made[p.name] = key
    return args, made
