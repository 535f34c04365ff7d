"""To TensorBoard and Weights & Biases, through their own libraries."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import OptionError
from .observation import Observation
from .tables import scalars

Listener = Callable[[int, list[Observation]], None]


def tensorboard_listener(writer: Any) -> tuple[Listener, Any]:
    """For a writer of torch.utils.tensorboard, tensorboardX, tensorboard.summary or tf.summary, or a directory."""
    if isinstance(writer, (str, PathLike)):
        try:
            from tensorboard.summary import Writer
        except ImportError as error:
            raise ImportError("writing for TensorBoard needs its package: pip install tensorboard") from error
        writer = Writer(str(Path(writer)))
    if hasattr(writer, "add_scalar"):
        add: Callable[[str, float, int], Any] = writer.add_scalar
    elif hasattr(writer, "as_default"):
        add = _tf_scalar(writer)
    else:
        raise OptionError("this is no writer of TensorBoard", where="to_tensorboard", received=type(writer).__name__,
                          fix="give a directory, a SummaryWriter, or tf.summary.create_file_writer(...)")  # fmt: skip

    def listen(step: int, seen: list[Observation]) -> None:
        for tag, value in scalars(seen).items():
            add(tag, value, step)
        writer.flush()

    return listen, writer


def _tf_scalar(writer: Any) -> Callable[[str, float, int], Any]:
    def add(tag: str, value: float, step: int) -> None:
        import tensorflow as tf

        with writer.as_default():
            tf.summary.scalar(tag, value, step=step)

    return add


def wandb_listener(run: Any = None, commit: bool = True) -> tuple[Listener, Any]:
    """For a run of Weights & Biases. Its scalars have an axis of their own, `signal/step`."""
    if run is None:
        try:
            import wandb
        except ImportError as error:
            raise ImportError("logging to Weights & Biases needs its package: pip install wandb") from error
        run = wandb.run
    if not hasattr(run, "log"):
        raise OptionError("there is no run to log to", where="to_wandb", received=type(run).__name__,
                          fix="run = wandb.init(...) first, or pass the run")  # fmt: skip
    if hasattr(run, "define_metric"):
        run.define_metric("signal/step")
        run.define_metric("signal/*", step_metric="signal/step")

    def listen(step: int, seen: list[Observation]) -> None:
        run.log({"signal/step": step, **scalars(seen)}, commit=commit)

    return listen, run
