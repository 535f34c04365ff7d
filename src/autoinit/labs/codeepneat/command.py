"""Search for network architectures with CoDeepNEAT."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ...core.files import replace_text
from ..terminal import errors_told
from .finding import task_class
from .initialization import NAMES
from .tasks import TASKS

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)


class Engine(str, Enum):
    """Where networks are trained."""

    processes = "processes"
    serial = "serial"
    ray = "ray"


EngineName = Annotated[Engine, typer.Option("--engine", help="ray: the cluster at $RAY_ADDRESS, or this machine.")]
Folder = Annotated[Path, typer.Argument(help="Folder of the search: its journal, history and result.")]
Folders = Annotated[list[Path], typer.Argument(help="Folders of searches, or folders that have some below them.")]


@app.command()
def run(
    folder: Folder,
    task: Annotated[str, typer.Option(help=f"One of {', '.join(TASKS)}, or package.module:Class.")],
    preset: Annotated[str, typer.Option(help="The size of the search: paper, cpu or smoke.")] = "cpu",
    initialization: Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.")] = "autoinit",
    seed: Annotated[int, typer.Option(min=0)] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Networks that are trained at the same time.")] = 2,
    generations: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's number.")] = None,
    engine: EngineName = Engine.processes,
    device: Annotated[str, typer.Option(help="cpu, cuda, …")] = "cpu",
) -> None:
    """Search, and test the best network once. The same command goes on after an interruption."""
    from .running import run as search

    with errors_told():
        search(
            task, folder, preset=preset, initialization=initialization, seed=seed, generations=generations,
            engine=engine.value, workers=workers, device=device,
        )  # fmt: skip
        _print_report(folder)


@app.command()
def report(
    folder: Folder,
    data: Annotated[str | None, typer.Option("--json", help="Write it as JSON here; - for the terminal.")] = None,
) -> None:
    """Say what a search has come to, also while it goes on."""
    from .report import report as reported

    with errors_told():
        if data is None:
            _print_report(folder)
            return
        _write_json(data, reported(folder))


@app.command()
def show(
    folder: Folder,
    count: Annotated[int, typer.Option("--count", min=1, help="How many of the preserved networks.")] = 3,
) -> None:
    """Print the best networks."""
    from .report import networks

    with errors_told():
        for network, fitness, generation in networks(folder, count):
            typer.echo(f"fitness {fitness:.4f} in generation {generation}\n{network}\n")


@app.command()
def tasks() -> None:
    """List the tasks, the data that they need, and their sizes."""
    from ..data.listing import whereabouts

    with errors_told():
        for name in TASKS:
            found = task_class(name)
            typer.echo(f"{name}: {found.title}")
            for needed in found.needs:
                typer.echo(f"  needs  {needed}: {whereabouts(needed)}")
            for preset in found.presets().values():
                size = preset.evolution
                typer.echo(f"  {preset.name:<6} {size.generations} generations of {size.networks} networks, "
                           f"{preset.training.epochs} epochs each")  # fmt: skip


@app.command()
def figures(
    folders: Folders,
    out: Annotated[Path, typer.Option("--out", help="Folder of the figures.")] = Path("figures"),
) -> None:
    """Draw runs for print: performance, population, species, choices and networks."""
    from .drawings.figures import write
    from .results import courses

    with errors_told():
        for name in write(courses(folders), out):
            typer.echo(f"wrote {out / name}")


@app.command()
def page(
    folder: Folder,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Its file; page.html in the folder if none.")] = None,
) -> None:
    """Write one page to show to others: the course of a run and its best networks."""
    from .page import write
    from .results import Course

    with errors_told():
        target = folder / "page.html" if out is None else out
        write(Course.read(folder), target)
        typer.echo(f"wrote {target}")


@app.command()
def compare(
    folders: Folders,
    data: Annotated[str | None, typer.Option("--json", help="Write it as JSON here; - for the terminal.")] = None,
) -> None:
    """Compare initializations, task by task, over the seeds of their runs."""
    from .results import compare as compared
    from .results import courses
    from .results.tables import text

    with errors_told():
        found = compared(courses(folders))
        if data is None:
            typer.echo(text(found))
        else:
            _write_json(data, found.to_dict())


def _write_json(place: str, told: object) -> None:
    text = json.dumps(told, indent=1) + "\n"
    if place == "-":
        typer.echo(text, nl=False)
    else:
        replace_text(place, text)


def _print_report(folder: Path) -> None:
    from .report import report as reported
    from .report import table

    typer.echo(table(reported(folder)))
