"""plan, check, measure, init, diff, schema, demo."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from .. import __version__, api
from ..core.options import DEFAULTS, VARIANCE
from ..report.diff import TOLERANCE
from ..report.layout import wrapped
from ..telling import complaints
from .comparing import inputs_of, plan_of
from .documents import diff_document, measurement_document, preflight_document
from .references import resolve
from .saving import check_form, save_weights
from .schemas import path_of
from .settings import (
    Added,
    Batch,
    Branches,
    Centring,
    Compared,
    Debug,
    Drawn,
    Evaluation,
    Exact,
    Fail,
    FailOn,
    FailOnWorse,
    Html,
    Inputs,
    Json,
    KeepZeros,
    MaxOps,
    MaxSeconds,
    Model,
    Named,
    Now,
    Only,
    Output,
    Plot,
    Preflighted,
    Repeats,
    Seed,
    Skip,
    Tolerance,
    Variance,
    given,
)  # fmt: skip
from .showing import answering, is_bad, judge
from .speaking import BAD_SIGNAL, warn, width

app = typer.Typer(
    name="autoinit", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Initial weights for neural networks: plan them, check what is there, measure, write them.\n\n"
    "Exit codes: 0 fine; 1 a bad signal was found (--fail-on, --preflight); 2 wrong usage; 3 the model or a file "
    "failed.",
)  # fmt: skip


class Kind(str, Enum):
    """What `--json` writes."""

<<<<<<< HEAD
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
Target = Annotated[str, typer.Option("--variance", help="The variance of every weight layer's output, or stable.")]
Distribution = Annotated[
    str | None, typer.Option(help="truncated_normal, normal, uniform or orthogonal; if not given, the recipe's.")
]
Recipe = Annotated[str, typer.Option(help="A named set of options: paper or train.")]
Calibrate = Annotated[
    bool, typer.Option("--calibrate", help="Scale the weights of this draw by one run on noise.")
]
Seed = Annotated[int, typer.Option(help="For drawing weights and noise.")]
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
=======
    plan, measurement, diff, preflight = "plan", "measurement", "diff", "preflight"
>>>>>>> main


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
<<<<<<< HEAD
    model: Model, inputs: Inputs = None, batch: Batch = 64, variance: Target = str(VARIANCE),
    recipe: Recipe = DEFAULTS.recipe, distribution: Distribution = None, calibrate: Calibrate = False,
    seed: Seed = DEFAULTS.seed, evaluation: Evaluation = False, skip: Skip = None, only: Only = None,
    center: Centring = None, json_file: Json = None, html: Html = None,
    plot: Plot = None, fail_on: Fail = FailOn.never,
=======
    model: Model, inputs: Inputs = None, batch: Batch = 64, recipe: Named = None, variance: Variance = VARIANCE,
    distribution: Drawn = None, residual: Branches = None, tables: Added = None, seed: Seed = DEFAULTS.seed,
    evaluation: Evaluation = False, skip: Skip = None, only: Only = None, center: Centring = None,
    keep_zeros: KeepZeros = DEFAULTS.keep_zeros, exact: Exact = False, max_ops: MaxOps = DEFAULTS.max_ops,
    max_seconds: MaxSeconds = DEFAULTS.max_seconds, json: Json = None, html: Html = None, plot: Plot = None,
    fail_on: Fail = FailOn.never, traceback: Debug = False,
>>>>>>> main
) -> None:  # fmt: skip
    """Analyse a model and show what should be done to its parameters; nothing is changed."""
    with answering(json, traceback) as output:
        named = resolve(model)
<<<<<<< HEAD
        given = _given(named, inputs, batch)
        settings = _options(recipe, variance, distribution, calibrate, seed, evaluation, skip, only, center)
        made = api.plan(named.model, given, **settings)
        now = None
        if html or plot:
            now = api.predict(named.model, given, variance=_number(variance), training=not evaluation, warn=False)
        _show(made, json_file, html, plot, now)
    _judge(made, fail_on)
=======
        described = inputs_of(named, inputs, batch)
        options = given(
            recipe=recipe, variance=variance, distribution=distribution, residual=residual, tables=tables, seed=seed,
            training=not evaluation, skip=skip, only=only, center=center, keep_zeros=keep_zeros, exact=exact,
            max_ops=max_ops, max_seconds=max_seconds,
        )  # fmt: skip
        made = api.plan(named.model, described, **options)
        now = None
        if html or plot:
            now = api.predict(named.model, described, variance=variance, training=not evaluation, warn=False)
        output.table(made, made.to_dict)
        output.files(made, html, plot, now)
        judge(made, fail_on)
>>>>>>> main


@app.command()
def check(
    model: Model, inputs: Inputs = None, batch: Batch = 64, variance: Variance = VARIANCE,
    evaluation: Evaluation = False, preflight: Preflighted = False, max_ops: MaxOps = DEFAULTS.max_ops,
    max_seconds: MaxSeconds = DEFAULTS.max_seconds, json: Json = None, html: Html = None, plot: Plot = None,
    fail_on: Fail = FailOn.never, traceback: Debug = False,
) -> None:  # fmt: skip
    """Predict what a model's present weights do to signals, and name the first bad layer."""
    with answering(json, traceback) as output:
        named = resolve(model)
        if preflight:
            found = api.preflight(named.model)
            text = "\n".join(wrapped(line, width()) for line in str(found).splitlines())
            output.answer(text, lambda: preflight_document(found))
            raise typer.Exit(0 if found.ok else BAD_SIGNAL)
        options = given(variance=variance, training=not evaluation, max_ops=max_ops, max_seconds=max_seconds)
        made = api.predict(named.model, inputs_of(named, inputs, batch), **options)
        output.table(made, made.to_dict)
        output.files(made, html, plot)
        judge(made, fail_on)


@app.command()
def measure(
    model: Model, inputs: Inputs = None, batch: Batch = 64, variance: Variance = VARIANCE,
    seed: Seed = DEFAULTS.seed, evaluation: Evaluation = False, repeats: Repeats = 1,
    max_ops: MaxOps = DEFAULTS.max_ops, max_seconds: MaxSeconds = DEFAULTS.max_seconds, json: Json = None,
    html: Html = None, plot: Plot = None, fail_on: Fail = FailOn.never, traceback: Debug = False,
) -> None:  # fmt: skip
    """Run noise through the real model and show what is measured beside what is predicted."""
    with answering(json, traceback) as output:
        named = resolve(model)
        options = given(
            variance=variance, seed=seed, training=not evaluation, max_ops=max_ops, max_seconds=max_seconds
        )  # fmt: skip
        made = api.measure(named.model, inputs_of(named, inputs, batch), repeats=repeats, **options)
        output.table(made, lambda: measurement_document(made))
        output.files(made, html, plot)
        judge(made, fail_on)


@app.command()
def init(
<<<<<<< HEAD
    model: Model, output: Annotated[Path, typer.Option("--output", "-o", help=".safetensors, .keras or .weights.h5")],
    inputs: Inputs = None, batch: Batch = 64, variance: Target = str(VARIANCE),
    recipe: Recipe = DEFAULTS.recipe, distribution: Distribution = None, calibrate: Calibrate = False,
    seed: Seed = DEFAULTS.seed, evaluation: Evaluation = False, skip: Skip = None, only: Only = None,
    center: Centring = None,
=======
    model: Model, output: Output, inputs: Inputs = None, batch: Batch = 64, recipe: Named = None,
    variance: Variance = VARIANCE, distribution: Drawn = None, residual: Branches = None, tables: Added = None,
    seed: Seed = DEFAULTS.seed, evaluation: Evaluation = False, skip: Skip = None, only: Only = None,
    center: Centring = None, keep_zeros: KeepZeros = DEFAULTS.keep_zeros, exact: Exact = False,
    max_ops: MaxOps = DEFAULTS.max_ops, max_seconds: MaxSeconds = DEFAULTS.max_seconds, traceback: Debug = False,
>>>>>>> main
) -> None:  # fmt: skip
    """Initialize a model and write its weights to a file."""
    with answering(None, traceback) as answer:
        named = resolve(model)
        check_form(named.model, output, center and center.value)
<<<<<<< HEAD
        settings = _options(recipe, variance, distribution, calibrate, seed, evaluation, skip, only, center)
        made = api.initialize(named.model, _given(named, inputs, batch), **settings)
=======
        options = given(
            recipe=recipe, variance=variance, distribution=distribution, residual=residual, tables=tables, seed=seed,
            training=not evaluation, skip=skip, only=only, center=center, keep_zeros=keep_zeros, exact=exact,
            max_ops=max_ops, max_seconds=max_seconds,
        )  # fmt: skip
        made = api.initialize(named.model, inputs_of(named, inputs, batch), **options)
>>>>>>> main
        save_weights(named.model, output)
        for line in complaints(made):
            warn(line)
        typer.echo(wrapped(made.summary(), width()))
        answer.written("weights", output)


@app.command()
def diff(
    this: Compared, other: Compared, inputs: Inputs = None, batch: Batch = 64, recipe: Named = None,
    variance: Variance = VARIANCE, evaluation: Evaluation = False,
    now: Now = False, tolerance: Tolerance = TOLERANCE, json: Json = None, fail_on: FailOnWorse = FailOn.never,
    traceback: Debug = False,
) -> None:  # fmt: skip
    """Show what two plans do not have in common: settings, parameters, predicted signals and verdicts."""
    with answering(json, traceback) as output:
        options = given(recipe=recipe, variance=variance, training=not evaluation)
        one, two = (plan_of(reference, inputs, batch, options, now) for reference in (this, other))
        found = one.diff(two, tolerance)
        output.answer(found.table(width()), lambda: diff_document(found))
        pairs = [layer.verdicts for layer in found.verdicts]
        worse = sum(is_bad(after, fail_on) and not is_bad(before, fail_on) for before, after in pairs)
        if worse and fail_on is not FailOn.never:
            typer.echo(f"autoinit: {worse} of {len(two.weight_layers)} weight layers are worse", err=True)
            raise typer.Exit(BAD_SIGNAL)


@app.command()
def schema(kind: Annotated[Kind, typer.Argument(help="Of which document.")]) -> None:
    """Print the JSON Schema of what --json writes."""
    typer.echo(path_of(kind.value).read_text(encoding="utf-8"), nl=False)


@app.command()
def demo(traceback: Debug = False) -> None:
    """Show on a deep network without normalization what the initialization changes."""
    from .demo import run

    with answering(None, traceback):
        run()

<<<<<<< HEAD

def _given(named: Named, inputs: list[str] | None, batch: int) -> Any:
    found = read_inputs(inputs or [], batch)
    return named.inputs(batch) if found is None and named.inputs is not None else found


def _options(
    recipe: str, variance: str, distribution: str | None, calibrate: bool, seed: int, evaluation: bool,
    skip: list[str] | None, only: list[str] | None, center: Center | None,
) -> GivenOptions:  # fmt: skip
    """As the API takes them, which says what is wrong with one."""
    settings = {
        "recipe": recipe, "variance": _number(variance), "calibrate": calibrate, "seed": seed,
        "training": not evaluation, "skip": skip, "only": only, "center": None if center is None else center.value,
        "warn": False,
    }  # fmt: skip
    given = {} if distribution is None else {"distribution": distribution}  # beside a recipe it would win
    return cast(GivenOptions, {**settings, **given})


def _number(word: str) -> Any:
    """A number, if that is what was written; the API says what is wrong with other words."""
    try:
        return float(word)
    except ValueError:
        return word


def _show(made: Plan, json_file: Path | None, html: Path | None, plot: Path | None, now: Plan | None = None) -> None:
    """The table, and files; `now` is what the weights that the model has would do, for comparison."""
    if json_file is not None and str(json_file) == "-":
        json.dump(made.to_dict(), sys.stdout, indent=1, allow_nan=False)
        typer.echo("")
    else:
        typer.echo(str(made))
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
=======
>>>>>>> main
