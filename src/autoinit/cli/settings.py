"""The options of the commands: their names, their help, and what the library is given for them."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ..core.options import VARIANCE, GivenOptions
from ..errors import OptionError
from .references import FORMS


class FailOn(str, Enum):
    """Which verdicts make the exit code 1."""

    never, bad, warn = "never", "bad", "warn"


class Center(str, Enum):
    """What takes means off."""

    bias, activation = "bias", "activation"


class Distribution(str, Enum):
    """Of weights."""

    truncated_normal, normal, uniform, orthogonal = "truncated_normal", "normal", "uniform", "orthogonal"


class Recipe(str, Enum):
    """A named set of options."""

    paper, train = "paper", "train"


class Residual(str, Enum):
    """What residual branches add."""

    depth, zero = "depth", "zero"


class Tables(str, Enum):
    """Tables that are added to the signal."""

    matched, kept, scaled = "matched", "kept", "scaled"


Model = Annotated[str, typer.Argument(help=f"{FORMS[0].upper()}{FORMS[1:]}.")]
Compared = Annotated[str, typer.Argument(help="A plan file, or a model as for the other commands.")]
Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", "-i", help="Shape without batch, e.g. 3x224x224; NAME=SHAPE; :mean=0.5,vocabulary=100."),
]
Batch = Annotated[int, typer.Option("--batch", "-b", min=1, help="Size of the batch axis.")]
UNIT = f"{VARIANCE:g}"
Variance = Annotated[
    str, typer.Option(metavar="NUMBER", help="Of every weight layer's output; stable; or by name: 'head=0.1,*=1'.")
]
Drawn = Annotated[
    Distribution | None, typer.Option("--distribution", help="Of weights; without it as the recipe has it.")
]
Named = Annotated[Recipe | None, typer.Option("--recipe", help="A set of options; what is given beside it wins.")]
Branches = Annotated[
    Residual | None, typer.Option("--residual", help="What residual branches add: 1/n of the variance, or nothing.")
]
Added = Annotated[
    Tables | None, typer.Option("--tables", help="Match tables that are added to the signal to it, or keep them.")
]
Seed = Annotated[int, typer.Option(help="For drawing weights and noise.")]
Evaluation = Annotated[bool, typer.Option("--eval", help="Analyse in evaluation mode.")]
Skip = Annotated[list[str] | None, typer.Option(help="Pattern of parameter names to leave alone.")]
Only = Annotated[list[str] | None, typer.Option(help="Pattern of parameter names to restrict everything to.")]
Centring = Annotated[
    Center | None, typer.Option("--center", help="Biases cancel the mean that comes in, or activations have none.")
]
KeepZeros = Annotated[bool, typer.Option("--keep-zeros/--no-keep-zeros", help="Weights that are zero stay zero.")]
Calibrate = Annotated[bool, typer.Option("--calibrate", help="Scale the weights of this draw by a run on noise.")]
Exact = Annotated[bool, typer.Option("--exact", help="Give what is drawn exactly the planned mean and deviation.")]
Gradients = Annotated[bool, typer.Option("--gradients", help="Predict gradients, too, and show their table.")]
MaxOps = Annotated[float, typer.Option("--max-ops", help="A walk of more operations ends with an error.")]
MaxSeconds = Annotated[float, typer.Option("--max-seconds", help="A walk of more seconds ends with an error.")]
Repeats = Annotated[int, typer.Option(min=1, help="Runs to average over.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write JSON to a file (- for standard output, alone).")]
Html = Annotated[Path | None, typer.Option("--html", help="Write an interactive page.")]
Plot = Annotated[Path | None, typer.Option("--plot", help="Write a figure (.png, .svg, .pdf).")]
Fail = Annotated[
    FailOn, typer.Option("--fail-on", help="Exit with 1 on bad (vanishing, exploding) or warn (also off 2x).")
]
FailOnWorse = Annotated[
    FailOn, typer.Option("--fail-on", help="Exit with 1 if the other one is bad (or warn) where this one is not.")
]
Now = Annotated[bool, typer.Option("--now", help="Of models: what their present weights do, as check has it.")]
Tolerance = Annotated[float, typer.Option(help="Numbers that differ by no more than this share count as equal.")]
Preflighted = Annotated[
    bool, typer.Option("--preflight", help="Only look at what parameters and buffers hold; exit with 1 if bad.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help=".safetensors, .keras or .weights.h5")]
Debug = Annotated[bool, typer.Option("--traceback", help="With an error, show where in Python it was raised.")]


def read_variance(word: str) -> float | str | dict[str, float | str]:
    """`1.5`, `stable`, or one for each name pattern: `head=0.1,*=1`. The API says what is wrong with anything else."""
    if "=" not in word:
        return _number(word)
    pairs = [part.strip().rpartition("=") for part in word.split(",")]
    patterns = [pattern.strip() for pattern, _, _ in pairs]
    if not all(patterns) or len(set(patterns)) < len(patterns):
        raise OptionError("every part is PATTERN=NUMBER, with a pattern of its own", where="--variance",
                          received=word, fix="--variance 'head=0.1,*=1'")  # fmt: skip
    return {pattern: _number(value) for pattern, (_, _, value) in zip(patterns, pairs, strict=True)}


def _number(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word.strip()


def given(**settings: Any) -> GivenOptions:
    """As the API takes them, which says what is wrong with one; None stands for what was not given."""
    values = {name: value.value if isinstance(value, Enum) else value for name, value in settings.items()}
    if "variance" in values:
        values["variance"] = read_variance(values["variance"])
    return cast(GivenOptions, {"warn": False, **{name: value for name, value in values.items() if value is not None}})
