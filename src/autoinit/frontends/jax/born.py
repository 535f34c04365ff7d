"""Models that are made with planned weights from the beginning: what the plan sets is never drawn by the library.

The constructor is followed on abstract arrays, the plan made of that; then every array is made once: drawn where the
plan says so, shard by shard, and worked out by the constructor where it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
from jax.sharding import Sharding
from numpy.typing import NDArray

from ...core.plan.check import check_writes
from ...core.plan.plan import PlanData
from .apply import complete
from .drawing import Filling, filled, fillings
from .held import Adapted, Held
from .names import named_leaves
from .seeds import seed_of
from .traced import drawn

Places = Callable[[str, tuple[int, ...]], Sharding | None]


def fill(model: Adapted, plan: PlanData, seed: int, place: Places) -> Any:
    """The abstract model with its arrays: where `place` says."""
    check_writes(plan)
    found = fillings(plan, {held.name: held.dtype for held in model.arrays})
    for held in model.arrays:
        if isinstance(held.array, jax.ShapeDtypeStruct):
            sharding = place(held.name, held.shape) or held.array.sharding
            held.array = jax.ShapeDtypeStruct(held.shape, held.dtype, sharding=sharding)
    shardings = {held.name: held.array.sharding for held in model.arrays}
    _write(model, found, lambda held, filling, there: filled(filling, seed, held.array))
    for held in model.arrays:
        if shardings[held.name] is not None and held.array.sharding != shardings[held.name]:
            model.put(held, jax.device_put(held.array, shardings[held.name]))
    return model.holding()


def fill_traced(model: Adapted, plan: PlanData, words: Any) -> Any:
    """The abstract model with arrays of a traced program: seeded by the words of a key."""
    check_writes(plan)
    found = fillings(plan, {held.name: held.dtype for held in model.arrays})

    def write(held: Held, filling: Filling, there: Any) -> Any:
        return drawn(words, held.shape, held.dtype, partial(_rectangle, filling), there)

    _write(model, found, write)
    return model.holding()


def _write(model: Adapted, found: dict[str, Filling], write: Callable[[Held, Filling, Any], Any]) -> None:
    """What covers its array first; then the constructor's arrays; then what leaves a part of one as it is."""
    planned = [held for held in model.arrays if held.name in found and held.trainable]
    for held in planned:
        if found[held.name].covers:
            model.put(held, write(held, found[held.name], None))
    complete(model, (*model.arrays, *model.others))
    for held in planned:
        if not found[held.name].covers:
            model.put(held, write(held, found[held.name], held.array))


def _rectangle(filling: Filling, words: Any, low: Any, shape: Any, present: NDArray[Any] | None) -> NDArray[Any]:
    return filling.rectangle(seed_of(words), low, shape, present)


def places(given: Any) -> Places:
    """Shardings as users give them: one for all, by name, a structure like the model's, or a function of name and
    shape."""
    if given is None or isinstance(given, Sharding):
        return lambda name, shape: given
    if callable(given) and not isinstance(given, Mapping):
        return given  # type: ignore[no-any-return]
    named = dict(named_leaves(given, is_leaf=lambda item: isinstance(item, Sharding)))

    def place(name: str, shape: tuple[int, ...]) -> Sharding | None:
        for written in (name, f"{name}.value", f"params.{name}"):
            if isinstance(named.get(written), Sharding):
                return named[written]  # type: ignore[no-any-return]
        return None

    return place
