"""Discover activation functions: train random ones under three initializations, or evolve them."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ..terminal import errors_told
from .function import Function
from .presets import PRESETS, Preset
from .presets import preset as named
from .trials import INITIALIZATIONS

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)
JOURNAL, EVOLUTION = "journal.jsonl", "evolution.jsonl"


class Engine(str, Enum):
    """Where evaluations run."""

    processes = "processes"
    serial = "serial"
    ray = "ray"


Folder = Annotated[Path, typer.Argument(help="Folder of the run: its journal, tables and figures.")]
PresetName = Annotated[str, typer.Option("--preset", help=f"One of {', '.join(PRESETS)}.")]
EngineName = Annotated[Engine, typer.Option("--engine", help="ray: the cluster at $RAY_ADDRESS, or this machine.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Evaluations at the same time.")]
Functions = Annotated[int | None, typer.Option("--functions", min=1, help="Instead of the preset's number.")]
Data = Annotated[Path | None, typer.Option("--data", help="Folder of the data set; without it, it is installed.")]
Retry = Annotated[list[str] | None, typer.Option("--retry", help="Repeat what ended so: time, memory, crashed, error.")]
Device = Annotated[str, typer.Option("--device", help="cpu, cuda, …")]


@app.command()
def run(
    folder: Folder, preset: PresetName = "cpu", engine: EngineName = Engine.processes, workers: Workers = 2,
    functions: Functions = None, data: Data = None, device: Device = "cpu", retry: Retry = None,
) -> None:  # fmt: skip
    """Train random functions under each initialization. The same command goes on after an interruption."""
    from ..evolution import run as run_jobs
    from .sampling import WORK, jobs
    from .search import limits

    with errors_told():
        chosen = _chosen(preset, functions, data, device)
        run_jobs(
            jobs(chosen), WORK, folder / JOURNAL, engine=engine.value, workers=workers, limits=limits(chosen),
            title=f"pangaea {chosen.name}", retry=retry or (),
        )  # fmt: skip
        _write(folder)


@app.command()
def report(folder: Folder) -> None:
    """Write the tables and figures of a run, also of one that is still going on."""
    with errors_told():
        _write(folder)


@app.command()
def evolve(
    folder: Folder, preset: PresetName = "cpu", engine: EngineName = Engine.processes, workers: Workers = 2,
    initialization: Annotated[str, typer.Option(help=f"One of {', '.join(INITIALIZATIONS)}.")] = "autoinit++",
    evaluations: Annotated[int, typer.Option(min=1, help="Functions to train.")] = 200,
    population: Annotated[int, typer.Option(min=1, help="Functions that are alive at once.")] = 32,
    tournament: Annotated[int, typer.Option(min=1, help="Candidates from which a parent is chosen.")] = 8,
    data: Data = None, device: Device = "cpu",
) -> None:  # fmt: skip
    """Evolve functions: children are mutations of the best of a few, and the oldest member leaves."""
    from .search import evolve_functions

    with errors_told():
        history = evolve_functions(
            _chosen(preset, None, data, device), folder / EVOLUTION, initialization=initialization,
            evaluations=evaluations, population=population, tournament=tournament, engine=engine.value, workers=workers,
        )  # fmt: skip
        for member in history.best(10):
            typer.echo(f"{member.fitness:.4f}  {Function.from_dict(member.genome).formula}")


@app.command()
def show(
    formula: Annotated[str, typer.Argument(help="For example 'max(x, tanh(alpha * x))'.")],
    picture: Annotated[Path | None, typer.Option("--plot", help="Draw the function into this file.")] = None,
) -> None:
    """Say what AutoInit makes of one function of N(0, 1)."""
    from ...core.gaussian.integrals import analyse_callable

    with errors_told():
        function = Function.parse(formula)
        found = analyse_callable(function, 0.0, 1.0)
        typer.echo(f"{function.formula}\nof N(0, 1): mean {found.mean:.6g}, second moment {found.second:.6g}")
        if found.problem:
            typer.echo(f"warning: {found.problem}")
        if picture is not None:
            from .figures import one_function

            one_function(function, path=picture)


def _chosen(name: str, functions: int | None, data: Path | None, device: str) -> Preset:
    chosen = named(name).changed(directory=None if data is None else str(data), device=device)
    return chosen if functions is None else chosen.changed(functions=functions)


def _write(folder: Path) -> None:
    from .results import preset_of, write

    name = preset_of(folder / JOURNAL)
    command = "" if name is None else f"python -m autoinit.labs.pangaea run {folder} --preset {name}"
    write(folder / JOURNAL, folder, command=command)
    typer.echo((folder / "results.md").read_text(encoding="utf-8"))
