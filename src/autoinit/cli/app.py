"""plan, check, measure, init, demo. Exit codes: 0 fine, 1 a bad signal (with --fail-on), 2 usage, 3 cannot be done."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from .. import __version__, api
from ..core.options import DEFAULTS, VARIANCE, GivenOptions
from ..errors import AutoInitError
from ..measurement import Measurement
from ..names import shown
from ..plans import Plan
from ..report.data import is_problem, layer_rows, verdict
from ..telling import complaints
from .inputs import read_inputs
from .references import FORMS, Named, resolve
from .saving import check_form, save_weights

app = typer.Typer(
    name="autoinit", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Initial weights for neural networks: plan them, check what is there, measure, write them.\n\n"
    "Exit codes: 0 fine; 1 a bad signal was found (--fail-on); 2 wrong usage; 3 the model cannot be loaded or planned, "
    "or anything else went wrong.",
)  # fmt: skip

BAD_SIGNAL, CANNOT, INTERRUPTED = 1, 3, 130


class FailOn(str, Enum):
    """Which verdicts make the exit code 1."""

    never, bad, warn = "never", "bad", "warn"


class Center(str, Enum):
    """What takes means off."""

    bias, activation = "bias", "activation"


Model = Annotated[str, typer.Argument(help=f"{FORMS[0].upper()}{FORMS[1:]}.")]
Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", "-i", help="Shape without batch, e.g. 3x224x224; NAME=SHAPE; :mean=0.5,vocabulary=100."),
]
Batch = Annotated[int, typer.Option("--batch", "-b", min=1, help="Size of the batch axis.")]
Variance = Annotated[float, typer.Option(help="The variance of every weight layer's output.")]
Distribution = Annotated[str, typer.Option(help="truncated_normal, normal, uniform or orthogonal.")]
Seed = Annotated[int, typer.Option(help="For drawing weights and noise.")]
Gradients = Annotated[bool, typer.Option("--gradients", help="Predict gradients, too, and show them.")]
Evaluation = Annotated[bool, typer.Option("--eval", help="Analyse in evaluation mode.")]
Skip = Annotated[list[str] | None, typer.Option(help="Pattern of parameter names to leave alone.")]
Only = Annotated[list[str] | None, typer.Option(help="Pattern of parameter names to restrict everything to.")]
Centring = Annotated[
    Center | None, typer.Option("--center", help="Biases cancel the mean that comes in, or activations have none.")
]
Json = Annotated[Path | None, typer.Option("--json", help="Write the plan as JSON (- for standard output).")]
Html = Annotated[Path | None, typer.Option("--html", help="Write an interactive page.")]
Plot = Annotated[Path | None, typer.Option("--plot", help="Write a figure (.png, .svg, .pdf).")]
Fail = Annotated[
    FailOn, typer.Option("--fail-on", help="Exit with 1 on bad (vanishing, exploding) or warn (also off 2x).")
]


@contextmanager
def told() -> Iterator[None]:
    """Errors are for people: their text (and where, if they are not ours), and exit code 3; 130 for an interrupt."""
    try:
        yield
    except AutoInitError as error:
        typer.echo(f"autoinit: {error}", err=True)
        raise typer.Exit(CANNOT) from None
    except KeyboardInterrupt:
        typer.echo("autoinit: interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, BrokenPipeError):
        raise
    except (Exception, SystemExit) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = "" if isinstance(error, OSError) else f" ({place.filename}, line {place.lineno})"
        text = f"{type(error).__name__}: {error}{where}"
        typer.echo(f"autoinit: {shown(text)}", err=True)
        raise typer.Exit(CANNOT) from None


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"autoinit {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """AutoInit."""


@app.command()
def plan(
    model: Model, inputs: Inputs = None, batch: Batch = 64, variance: Variance = VARIANCE,
    distribution: Distribution = DEFAULTS.distribution, seed: Seed = DEFAULTS.seed, evaluation: Evaluation = False,
    skip: Skip = None, only: Only = None, center: Centring = None, json_file: Json = None, html: Html = None,
    plot: Plot = None, fail_on: Fail = FailOn.never, gradients: Gradients = False,
) -> None:  # fmt: skip
    """Analyse a model and show what should be done to its parameters; nothing is changed."""
    with told():
        named = resolve(model)
        given = _given(named, inputs, batch)
        settings = _options(variance, distribution, seed, evaluation, skip, only, center)
        made = api.plan(named.model, given, gradients=gradients, **settings)
        now = None
        if html or plot:
            now = api.predict(named.model, given, variance=variance, training=not evaluation, warn=False)
        _show(made, json_file, html, plot, now)
    _judge(made, fail_on)


@app.command()
def check(
    model: Model, inputs: Inputs = None, batch: Batch = 64, variance: Variance = VARIANCE,
    evaluation: Evaluation = False, json_file: Json = None, html: Html = None, plot: Plot = None,
    fail_on: Fail = FailOn.never, gradients: Gradients = False,
    preflight: Annotated[
        bool, typer.Option("--preflight", help="Only look at what parameters and buffers hold; exit with 1 if bad.")
    ] = False,
) -> None:  # fmt: skip
    """Predict what a model's present weights do to signals, and name the first bad layer."""
    if preflight:
        _preflight(model)
        return
    with told():
        named = resolve(model)
        given = _given(named, inputs, batch)
        made = api.predict(named.model, given, variance=variance, training=not evaluation, gradients=gradients,
                           warn=False)  # fmt: skip
        _show(made, json_file, html, plot)
    _judge(made, fail_on)


def _preflight(model: str) -> None:
    with told():
        found = api.preflight(resolve(model).model)
        typer.echo(str(found))
    if not found.ok:
        raise typer.Exit(BAD_SIGNAL)


@app.command()
def measure(
    model: Model, inputs: Inputs = None, batch: Batch = 64, variance: Variance = VARIANCE,
    seed: Seed = DEFAULTS.seed, evaluation: Evaluation = False,
    repeats: Annotated[int, typer.Option(min=1, help="Runs to average over.")] = 1,
    html: Html = None, plot: Plot = None, fail_on: Fail = FailOn.never, gradients: Gradients = False,
) -> None:  # fmt: skip
    """Run noise through the real model and show what is measured beside what is predicted."""
    with told():
        named = resolve(model)
        made = api.measure(named.model, _given(named, inputs, batch), repeats=repeats, variance=variance, seed=seed,
                           training=not evaluation, gradients=gradients, warn=False)  # fmt: skip
        typer.echo(f"{made}\n\n{made.gradients}" if gradients else str(made))
        _drawn(made, html, plot)
    _judge(made, fail_on)


@app.command()
def init(
    model: Model, output: Annotated[Path, typer.Option("--output", "-o", help=".safetensors, .keras or .weights.h5")],
    inputs: Inputs = None, batch: Batch = 64, variance: Variance = VARIANCE,
    distribution: Distribution = DEFAULTS.distribution, seed: Seed = DEFAULTS.seed, evaluation: Evaluation = False,
    skip: Skip = None, only: Only = None, center: Centring = None,
) -> None:  # fmt: skip
    """Initialize a model and write its weights to a file."""
    with told():
        named = resolve(model)
        check_form(named.model, output, center and center.value)
        settings = _options(variance, distribution, seed, evaluation, skip, only, center)
        made = api.initialize(named.model, _given(named, inputs, batch), **settings)
        save_weights(named.model, output)
        for line in complaints(made):
            typer.echo(f"warning: {shown(line)}", err=True)
        typer.echo(f"{made.summary()}\nwritten to {shown(str(output))}")


@app.command()
def demo() -> None:
    """Show on a deep network without normalization what the initialization changes."""
    from .demo import run

    with told():
        run()


def _given(named: Named, inputs: list[str] | None, batch: int) -> Any:
    found = read_inputs(inputs or [], batch)
    return named.inputs(batch) if found is None and named.inputs is not None else found


def _options(
    variance: float, distribution: str, seed: int, evaluation: bool, skip: list[str] | None, only: list[str] | None,
    center: Center | None,
) -> GivenOptions:  # fmt: skip
    """As the API takes them, which says what is wrong with one."""
    return cast(GivenOptions, {
        "variance": variance, "distribution": distribution, "seed": seed, "training": not evaluation, "skip": skip,
        "only": only, "center": None if center is None else center.value, "warn": False,
    })  # fmt: skip


def _show(made: Plan, json_file: Path | None, html: Path | None, plot: Path | None, now: Plan | None = None) -> None:
    """The table, and files; `now` is what the weights that the model has would do, for comparison."""
    if json_file is not None and str(json_file) == "-":
        json.dump(made.to_dict(), sys.stdout, indent=1, allow_nan=False)
        typer.echo("")
    else:
        known = any(p.gradient is not None for p in made.parameters)
        typer.echo(f"{made}\n\n{made.gradients}" if known else str(made))
    if json_file is not None and str(json_file) != "-":
        made.save(json_file)
        typer.echo(f"plan written to {shown(str(json_file))}")
    _drawn(made, html, plot, now)


def _drawn(made: Plan | Measurement, html: Path | None, plot: Path | None, now: Plan | None = None) -> None:
    if html is not None:
        made.to_html(html, default=now)
        typer.echo(f"page written to {shown(str(html))}")
    if plot is not None:
        made.plot(plot, compare=None if now is None else {"as it is now": now})
        typer.echo(f"figure written to {shown(str(plot))}")


def _judge(made: Plan | Measurement, fail_on: FailOn) -> None:
    """Exit with 1 if a verdict is as bad as the user said."""
    if fail_on is FailOn.never:
        return
    if isinstance(made, Measurement):
        words = [verdict(row.variance, made.plan.variance) for row in made.weight_layers]
    else:
        words = [row.verdict for row in layer_rows(made)]
    bad = [w for w in words if is_problem(w) or (fail_on is FailOn.warn and w in ("low", "high"))]
    if bad:
        typer.echo(f"autoinit: {len(bad)} of {len(words)} weight layers are {bad[0]}", err=True)
        raise typer.Exit(BAD_SIGNAL)
