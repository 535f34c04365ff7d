"""Runs that can be stopped and continued: their options, the loop over names, tables from the journal at the end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .zoos.account import Settings
from .zoos.journal import Journal
from .zoos.listing import listing
from .zoos.progress import Progress
from .zoos.workers import Limits, run

RESULTS = Path(__file__).parent / "results"
Records = list[dict[str, Any]]


def run_options(
    parser: argparse.ArgumentParser, *, jobs: int, seconds: float, memory: float, unit: str = "model"
) -> None:
    """What each run takes; jobs, seconds and GB are defaults, `unit` is what a record is of."""
    parser.add_argument("--jobs", type=int, default=jobs)
    parser.add_argument("--time", type=float, default=seconds, metavar="SECONDS", help=f"limit per {unit}")
    parser.add_argument("--memory", type=float, default=memory, metavar="GB", help="limit per process")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR")
    parser.add_argument("--fresh", action="store_true", help="repeat what the journal has already")
    parser.add_argument("--retry", action="store_true", help="repeat what failed or met a limit")
    parser.add_argument("--summary", action="store_true", help="only rebuild the tables from the journal")


def zoo_options(parser: argparse.ArgumentParser, zoos: Sequence[str], *, pattern: str, measure_below: float) -> None:
    """What runs over models take: which of them, and how they are measured."""
    parser.add_argument("--zoo", action="append", choices=zoos, help="this zoo alone (may be given several times)")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help=f"names: '{pattern}'")
    parser.add_argument("--plan-only", action="store_true", help="plan without measuring")
    parser.add_argument("--seeds", type=int, default=3, help="draws per model (without normalisation at least 10)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them (default 0)")
    parser.add_argument("--measure-below", type=float, default=measure_below, metavar="MILLION", help="parameters")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the tensors that are off")


def settings_of(options: argparse.Namespace) -> Settings:
    return Settings(options.seeds, options.plan_only, options.measure_below * 1e6, options.first_seed)


def left_over(
    names: list[str], options: argparse.Namespace, journal: Journal, is_done: Callable[[dict[str, Any] | None], bool]
) -> list[str]:
    """The names that have to be worked on: all with --fresh, else those whose record is not done."""
    known = {} if options.fresh else journal.read()
    return [name for name in names if not is_done(known.get(name))]


def worked_on(
    names: list[str],
    work: Callable[..., dict[str, Any]],
    prepare: Callable[[], None],
    options: argparse.Namespace,
    journal: Journal,
    **fields: Any,
) -> None:
    """Work on all names in processes with limits; each record, with these fields, goes to the journal at once."""
    jobs = max(1, min(options.jobs, len(names)))
    megabytes = options.memory * 1024
    limits = Limits(options.time, megabytes, kept=min(Limits.kept, megabytes / 2))
    verbose = getattr(options, "verbose", False)
    with Progress(len(names)) as progress:
        for name, found in run(names, work, jobs, limits, progress.started, prepare):
            record: dict[str, Any] = {"name": name, **fields, **found}
            progress.finished(record)
            if verbose:
                print(listing(record), flush=True)
                record.get("fidelity", {}).pop("listed", None)
            journal.add(record)
    print(progress.totals(), file=sys.stderr)


def finished(
    options: argparse.Namespace,
    name: str,
    run_all: Callable[[argparse.Namespace, Journal], None],
    write: Callable[[Records, Path], None],
) -> int:
    """Run (or not, with --summary) on the journal of this name, and write the tables; the code of the process."""
    journal = Journal(options.out / f"{name}.jsonl")
    try:
        if not options.summary:
            run_all(options, journal)
    except KeyboardInterrupt:
        print("stopped; the same command continues", file=sys.stderr)
        return 130
    journal.compact()
    write(list(journal.read().values()), options.out)
    return 0
