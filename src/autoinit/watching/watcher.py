"""The watch: takes statistics at the chosen steps, keeps them, and passes them on."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from ..api import predict
from ..core.files import replace_text
from ..errors import AutoInitError, PlanError
from ..frontends.choice import front_end_of
from ..measurement import key_of
from ..plans import Plan
from .exporters import tensorboard_listener, wandb_listener
from .figure import draw
from .observation import Observation, layer_names
from .schedule import Schedule, schedule
from .tables import as_dict, table

Listener = Callable[[int, list[Observation]], None]


def watch(
    model: Any,
    plan: Plan | None = None,
    *,
    steps: Iterable[int] | None = None,
    first: int | None = None,
    every: int | None = None,
) -> Watch:
    """Record mean and variance of every weight layer's output at chosen steps of training, beside the prediction.

    model: a torch.nn.Module (compiled ones as you call them), or a Keras 3 model.
    plan: what `plan`, `initialize` or `check` returned; without one, the weights as they are at the first look are
        checked on the batch that comes in.
    steps: numbers of steps, 0 being the first (default 0, 1, 10, 100). first: each of so many first steps.
        every: each so-many-th step. What is given counts together.

    PyTorch: a step is a forward in training mode, unless `begin_step` says otherwise; the watch removes itself after
    the last chosen one. Keras: use `autoinit.watching.keras.WatchSignals` in `fit`, or call `look` in your own loop.
    """
    return Watch(model, plan, schedule(steps, first, every))


class Watch:
    """A record of the first training steps. Use it in a `with` statement, or call `close`."""

    def __init__(self, model: Any, plan: Plan | None, when: Schedule) -> None:
        front_end = front_end_of(model)
        if plan is not None:
            _fits(plan, front_end.shapes(model))
        self.schedule = when
        self.record: list[Observation] = []
        """What was seen, step by step, layers in the order of execution."""
        self._plan = plan
        self._names = {} if plan is None else layer_names(plan)
        self._probe = front_end.probe(model, plan is None or plan.training)
        self._listeners: list[Listener] = []
        self._step, self._before = -1, -1
        self._heard = self._told = False
        self._waiting = False
        self._detach: Callable[[], None] | None = self._probe.attach(self._forward) if self._probe.calls_back else None

    # --- the loop ---------------------------------------------------------------------------------------------------

    def begin_step(self, step: int) -> None:
        """Say that step `step` begins: for loops with several forwards per step. Its first forward is looked at."""
        self._told, self._waiting = True, True
        self._step = int(step)

    def look(self, inputs: Any = None, step: int | None = None) -> list[Observation]:
        """Look now, at the model's present weights on a batch, whatever the schedule says; returns what was seen.

        For loops that the watch does not hear of. Keras models know their inputs: None is noise of their shape. Where
        models are values (JAX), say which ones: `use`.
        """
        return self._look(inputs, self._step + 1 if step is None else int(step))

    def use(self, parameters: Any) -> None:
        """Look at these values from now on, where models are values: a structure of parameters, or another model."""
        use = getattr(self._probe, "use", None)
        if use is None:
            raise AutoInitError("models of this framework hold their parameters", where="Watch.use",
                                fix="leave it out: a look sees the present ones")  # fmt: skip
        use(parameters)

    def due(self, step: int) -> bool:
        """Whether `step` is a chosen one, or the first one reported after a chosen one."""
        return self.schedule.due(step, self._before)

    def _forward(self, inputs: Any) -> None:
        """Hears of every training forward before it happens."""
        self._heard = True
        if not self._told:
            self._step += 1
        elif not self._waiting:
            return
        self._waiting = False
        if self.due(self._step):
            try:
                self._look(inputs, self._step)
            except Exception as error:  # training is worth more than its record
                self.close()
                warnings.warn(f"autoinit's watch stopped at step {self._step}: {error}", stacklevel=2)
        self._before = max(self._before, self._step)
        if self.schedule.over(self._step):
            self.close()

    def _look(self, inputs: Any, step: int) -> list[Observation]:
        if self._plan is None:
            with self._probe.aside():
                self._plan = predict(self._probe.model, inputs)
            self._names = layer_names(self._plan)
        layers = {key_of(t): t for t in self._plan.weight_layers}
        found = self._probe.look(inputs, set(layers), step)
        seen = [
            Observation(step, self._names[t.index], *found[key], predicted=t)
            for key, t in layers.items()
            if key in found
        ]
        self.record += seen
        self._step, self._before = step, max(self._before, step)
        for listener in self._listeners:
            listener(step, seen)
        return seen

    # --- its end ----------------------------------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether the model is without hooks of this watch again."""
        return self._detach is None

    def close(self) -> None:
        """Take the hooks away; the record stays."""
        if self._detach is not None:
            self._detach()
            self._detach = None

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close() if kind is not None else self.finish()

    def finish(self) -> None:
        """Close, and say so if the watch never heard of the model."""
        unheard = self._detach is not None and not self._heard
        self.close()
        if unheard:
            warnings.warn(
                "autoinit's watch saw no forward of the model in training mode: give it the module that the loop calls "
                "(the compiled one, if you compile), in model.train() and with gradients on",
                stacklevel=3,
            )

    # --- what came out ----------------------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        """The prediction."""
        if self._plan is None:
            raise AutoInitError("there is no prediction before the first look", where="Watch.plan",
                                fix="give watch a plan: autoinit.watch(model, plan)")  # fmt: skip
        return self._plan

    @property
    def steps(self) -> list[int]:
        """The steps that were looked at."""
        return sorted({row.step for row in self.record})

    def on_step(self, listener: Listener) -> Listener:
        """Call `listener(step, observations)` for every step of the record, past and to come."""
        for step in self.steps:
            listener(step, [row for row in self.record if row.step == step])
        self._listeners.append(listener)
        return listener

    def to_tensorboard(self, writer: Any) -> Any:
        """Write scalars to TensorBoard, past and to come; `writer` is a SummaryWriter or a directory. Returns it."""
        listener, writer = tensorboard_listener(writer)
        self.on_step(listener)
        return writer

    def to_wandb(self, run: Any = None, *, commit: bool = True) -> Any:
        """Log scalars to a Weights & Biases run (default: the active one), past and to come. Returns the run.

        With `commit=False` the values go into the row of your own next `run.log`; needed if you log with `step=`.
        """
        listener, run = wandb_listener(run, commit)
        self.on_step(listener)
        return run

    def to_dict(self) -> dict[str, Any]:
        """The record and the prediction as plain data."""
        return as_dict(self.plan, self._names, self.record)

    def to_json(self, path: str | Path | None = None) -> str:
        """The same as JSON; saved if a path is given."""
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        if path is not None:
            replace_text(path, text)
        return text

    def plot(self, path: str | Path | None = None, *, title: str | None = None) -> Any:
        """Draw what was measured at each step over the predicted band (needs matplotlib); returns the figure."""
        return draw(self.plan, self.record, path, title=title)

    def __str__(self) -> str:
        return table(self._plan, self.record)


def _fits(plan: Plan, shapes: dict[str, tuple[int, ...]]) -> None:
    for parameter in plan.parameters:
        if shapes.get(parameter.name) != tuple(parameter.shape):
            raise PlanError("the plan is of another model", where=f"parameter '{parameter.name}'",
                            received=f"shape {shapes.get(parameter.name, 'none')}, planned {tuple(parameter.shape)}",
                            fix="watch the module that the plan was made for")  # fmt: skip
