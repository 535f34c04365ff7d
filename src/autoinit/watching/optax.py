"""For loops of optax: `optax.chain(optax.adam(1e-3), watch_signals(model, plan, batch=x))`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

try:
    import jax
    import numpy as np
    import optax
    from jax import numpy as jnp
except ImportError as error:
    raise ImportError("autoinit.watching.optax needs optax: pip install optax") from error

from ..errors import OptionError
from ..frontends.choice import with_parameters
from ..plans import Plan
from .schedule import schedule
from .watcher import Watch


class Step(NamedTuple):
    """The state of the link: how many steps there were."""

    count: Any


class WatchSignals(optax.GradientTransformationExtraArgs):  # type: ignore[misc]
    """A link that changes no update, and keeps the parameters of the chosen steps until its watch is asked for."""

    record: Record

    @property
    def watch(self) -> Watch:
        """The record so far: looking takes place here, so that no step waits for it."""
        return self.record.looked()


class Record:
    """Parameters that were seen, and the watch that looks at them."""

    def __init__(self, watch: Watch, batch: Any) -> None:
        self._watch, self._batch = watch, batch
        self._waiting: list[tuple[int, Any]] = []

    def keep(self, step: Any, parameters: Any) -> None:
        if self._watch.due(int(step)):
            self._waiting.append((int(step), jax.tree_util.tree_map(np.asarray, parameters)))

    def looked(self) -> Watch:
        jax.effects_barrier()
        while self._waiting:
            step, parameters = self._waiting.pop(0)
            self._watch.use(parameters)
            self._watch.look(self._batch, step)
        return self._watch


def watch_signals(
    model: Any,
    plan: Plan | None = None,
    *,
    batch: Any,
    params: Any = None,
    steps: Iterable[int] | None = None,
    first: int | None = None,
    every: int | None = None,
) -> WatchSignals:
    """A link of a chain that sees the parameters which the chosen steps begin with; the record is in `.watch`.

    model, params: as for `autoinit.plan`. batch: inputs that stay the same. Other options as of `autoinit.watch`.
    Under `jit` parameters come to the host at the chosen steps, and at no others.
    """
    when = schedule(steps, first, every)
    record = Record(Watch(with_parameters(model, params), plan, when), batch)

    def init(params: Any) -> Step:
        return Step(jnp.zeros((), "int32"))

    def update(updates: Any, state: Step, params: Any = None, **others: Any) -> tuple[Any, Step]:
        if params is None:
            raise OptionError("a watch needs the parameters", where="optimizer.update", received="params=None",
                              fix="optimizer.update(grads, state, params)")  # fmt: skip
        due = jnp.isin(state.count, jnp.array(sorted(when.steps), "int32"))
        if when.every is not None:
            due |= state.count % when.every == 0
        jax.lax.cond(due, lambda: jax.debug.callback(record.keep, state.count, params), lambda: None)
        return updates, Step(state.count + 1)

    link = WatchSignals(init, update)
    link.record = record
    return link
