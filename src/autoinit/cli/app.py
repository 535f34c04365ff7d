"""plan, check, measure, init, diff, schema, demo."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from .. import __version__, api
from ..core.options import DEFAULTS
from ..report.diff import TOLERANCE
from ..report.layout import wrapped
from ..telling import complaints
from .comparing import inputs_of, plan_of
from .documents import diff_document, measurement_document, preflight_document
from .references import resolve
from .saving import check_form, save_weights
from .schemas import path_of
from .settings import (
    UNIT,
    Added,
    Batch,
    Branches,
    Calibrate,
    Centring,
    Compared,
    Debug,
    Drawn,
    Evaluation,
    Exact,
    Fail,
    FailOn,
    FailOnWorse,
    Gradients,
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

    plan, measurement, diff, preflight = "plan", "measurement", "diff", "preflight"


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
    model: Model, inputs: Inputs = None, batch: Batch = 64, recipe: Named = None, variance: Variance = UNIT,
    distribution: Drawn = None, residual: Branches = None, tables: Added = None, seed: Seed = DEFAULTS.seed,
    evaluation: Evaluation = False, skip: Skip = None, only: Only = None, center: Centring = None,
    keep_zeros: KeepZeros = DEFAULTS.keep_zeros, exact: Exact = False,
    calibrate: Calibrate = False, max_ops: MaxOps = DEFAULTS.max_ops,
    max_seconds: MaxSeconds = DEFAULTS.max_seconds, json: Json = None, html: Html = None, plot: Plot = None,
    fail_on: Fail = FailOn.never, gradients: Gradients = False,
    traceback: Debug = False,
) -> None:  # fmt: skip
    """Analyse a model and show what should be done to its parameters; nothing is changed."""
    with answering(json, traceback) as output:
        named = resolve(model)
        described = inputs_of(named, inputs, batch)
        options = given(
            recipe=recipe, variance=variance, distribution=distribution, residual=residual, tables=tables, seed=seed,
            training=not evaluation, skip=skip, only=only, center=center, keep_zeros=keep_zeros, exact=exact,
            calibrate=calibrate, max_ops=max_ops, max_seconds=max_seconds, gradients=gradients,
        )  # fmt: skip
        made = api.plan(named.model, described, **options)
        now = None
        if html or plot:
            now = api.predict(named.model, described, **given(variance=variance, training=not evaluation))
        output.table(made, made.to_dict)
        if gradients:
            output.gradients(made)
        output.files(made, html, plot, now)
        judge(made, fail_on)


@app.command()
def check(
    model: Model, inputs: Inputs = None, batch: Batch = 64, variance: Variance = UNIT,
    evaluation: Evaluation = False, preflight: Preflighted = False, max_ops: MaxOps = DEFAULTS.max_ops,
    max_seconds: MaxSeconds = DEFAULTS.max_seconds, json: Json = None, html: Html = None, plot: Plot = None,
    fail_on: Fail = FailOn.never, gradients: Gradients = False,
    traceback: Debug = False,
) -> None:  # fmt: skip
    """Predict what a model's present weights do to signals, and name the first bad layer."""
    with answering(json, traceback) as output:
        named = resolve(model)
        if preflight:
            found = api.preflight(named.model)
            text = "\n".join(wrapped(line, width()) for line in str(found).splitlines())
            output.answer(text, lambda: preflight_document(found))
            raise typer.Exit(0 if found.ok else BAD_SIGNAL)
        options = given(
            variance=variance, training=not evaluation, max_ops=max_ops, max_seconds=max_seconds, gradients=gradients
        )  # fmt: skip
        made = api.predict(named.model, inputs_of(named, inputs, batch), **options)
        output.table(made, made.to_dict)
        if gradients:
            output.gradients(made)
        output.files(made, html, plot)
        judge(made, fail_on)


@app.command()
def measure(
    model: Model, inputs: Inputs = None, batch: Batch = 64, variance: Variance = UNIT,
    seed: Seed = DEFAULTS.seed, evaluation: Evaluation = False, repeats: Repeats = 1,
    max_ops: MaxOps = DEFAULTS.max_ops, max_seconds: MaxSeconds = DEFAULTS.max_seconds, json: Json = None,
    html: Html = None, plot: Plot = None, fail_on: Fail = FailOn.never, gradients: Gradients = False,
    traceback: Debug = False,
) -> None:  # fmt: skip
    """Run noise through the real model and show what is measured beside what is predicted."""
    with answering(json, traceback) as output:
        named = resolve(model)
        options = given(
            variance=variance, seed=seed, training=not evaluation, max_ops=max_ops, max_seconds=max_seconds,
            gradients=gradients,
        )  # fmt: skip
        made = api.measure(named.model, inputs_of(named, inputs, batch), repeats=repeats, **options)
        output.table(made, lambda: measurement_document(made))
        if gradients:
            output.gradients(made)
        output.files(made, html, plot)
        judge(made, fail_on)


@app.command()
def init(
    model: Model, output: Output, inputs: Inputs = None, batch: Batch = 64, recipe: Named = None,
    variance: Variance = UNIT, distribution: Drawn = None, residual: Branches = None, tables: Added = None,
    seed: Seed = DEFAULTS.seed, evaluation: Evaluation = False, skip: Skip = None, only: Only = None,
    center: Centring = None, keep_zeros: KeepZeros = DEFAULTS.keep_zeros, exact: Exact = False,
    calibrate: Calibrate = False,
    max_ops: MaxOps = DEFAULTS.max_ops, max_seconds: MaxSeconds = DEFAULTS.max_seconds, traceback: Debug = False,
) -> None:  # fmt: skip
    """Initialize a model and write its weights to a file."""
    with answering(None, traceback) as answer:
        named = resolve(model)
        check_form(named.model, output, center and center.value)
        options = given(
            recipe=recipe, variance=variance, distribution=distribution, residual=residual, tables=tables, seed=seed,
            training=not evaluation, skip=skip, only=only, center=center, keep_zeros=keep_zeros, exact=exact,
            calibrate=calibrate,
            max_ops=max_ops, max_seconds=max_seconds,
        )  # fmt: skip
        found = api.initialize(named.model, inputs_of(named, inputs, batch), **options)
        initialized, made = found if isinstance(found, tuple) else (named.model, found)
        save_weights(initialized, output)
        for line in complaints(made):
            warn(line)
        typer.echo(wrapped(made.summary(), width()))
        answer.written("weights", output)


@app.command()
def diff(
    this: Compared, other: Compared, inputs: Inputs = None, batch: Batch = 64, recipe: Named = None,
    variance: Variance = UNIT, distribution: Drawn = None, residual: Branches = None, tables: Added = None,
    seed: Seed = DEFAULTS.seed, evaluation: Evaluation = False, skip: Skip = None, only: Only = None,
    center: Centring = None, keep_zeros: KeepZeros = DEFAULTS.keep_zeros, exact: Exact = False,
    calibrate: Calibrate = False, max_ops: MaxOps = DEFAULTS.max_ops, max_seconds: MaxSeconds = DEFAULTS.max_seconds,
    now: Now = False, tolerance: Tolerance = TOLERANCE, json: Json = None, fail_on: FailOnWorse = FailOn.never,
    traceback: Debug = False,
) -> None:  # fmt: skip
    """Show what two plans do not have in common: settings, parameters, predicted signals and verdicts."""
    with answering(json, traceback) as output:
        options = given(
            recipe=recipe, variance=variance, distribution=distribution, residual=residual, tables=tables, seed=seed,
            training=not evaluation, skip=skip, only=only, center=center, keep_zeros=keep_zeros, exact=exact,
            calibrate=calibrate, max_ops=max_ops, max_seconds=max_seconds,
        )  # fmt: skip
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

