"""The paper's experiments: run them, at full size or on two cores, and write their results."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from autoinit.labs.terminal import errors_told

from . import page as results_page
from .catalogue import EXPERIMENTS
from .place import Place
from .results import RESULTS, folder_of, perform, read, write

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)


class Engine(str, Enum):
    """Where jobs run."""

    processes = "processes"
    serial = "serial"
    ray = "ray"


Name = Annotated[str, typer.Argument(help=f"One of {', '.join(EXPERIMENTS)}.")]
PresetName = Annotated[str, typer.Option("--preset", help="smoke: seconds; cpu: minutes on two cores; paper.")]
Folder = Annotated[Path, typer.Option("--results", help="Folder of all results.")]


@app.command("list")
def list_experiments() -> None:
    """Say what there is, and how many jobs each size has."""
    for name, one in EXPERIMENTS.items():
        sizes = ", ".join(f"{preset} {len(one.jobs(chosen))}" for preset, chosen in one.PRESETS.items())
        typer.echo(f"{name:16} {one.TITLE}\n{'':16} jobs: {sizes}")


@app.command()
def run(
    name: Name,
    preset: PresetName = "cpu",
    engine: Annotated[Engine, typer.Option(help="ray: the cluster at $RAY_ADDRESS, or this machine.")] = (
        Engine.processes
    ),
    workers: Annotated[int, typer.Option(min=1, help="Jobs at the same time.")] = 2,
    data: Annotated[Path | None, typer.Option(help="Folder of the data sets; default $AUTOINIT_DATA.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, …")] = "cpu",
    loaders: Annotated[int, typer.Option(min=0, help="Threads per job that prepare batches ahead.")] = 0,
    retry: Annotated[bool, typer.Option(help="Try jobs that ended with an error again.")] = False,
    results: Folder = RESULTS,
) -> None:
    """Run an experiment. The same command goes on after an interruption."""
    with errors_told():
        folder = folder_of(name, preset, results)
        place = Place(data, device, folder / "checkpoints", loaders, folder / "runs")
        place.into_environment()
        again = ("error", "crashed", "time", "memory") if retry else ()
        threads = 1 if device == "cpu" else None
        perform(name, preset, results, engine=engine.value, workers=workers, threads=threads, retry=again)
        if all(trial.status == "done" for trial in read(name, preset, results)):
            place.discard_checkpoints()
        typer.echo((folder / "results.md").read_text(encoding="utf-8"))


@app.command()
def report(name: Name, preset: PresetName = "cpu", results: Folder = RESULTS) -> None:
    """Write the tables and figures of a run, also of one that is still going on."""
    with errors_told():
        write(name, preset, results)
        typer.echo((folder_of(name, preset, results) / "results.md").read_text(encoding="utf-8"))


@app.command()
def page() -> None:
    """Write experiments/README.md anew from all results."""
    with errors_told():
        typer.echo(f"wrote {results_page.write()}")
