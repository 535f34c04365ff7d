"""Random genomes of the architecture search, assembled without memory and planned: none may fail or lose a parameter.

python -m benchmarks.genomes                                 10,000 of each task, some of them trained
python -m benchmarks.genomes --count 100 --task adult        fewer, of one task
python -m benchmarks.genomes --summary                       only rebuild the tables from the journal
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from autoinit.errors import AutoInitError
from autoinit.labs.codeepneat.tasks import TASKS

from .genome_study import Setting, names_of, prepare, setting_of, work
from .genome_tables import tables, write
from .zoos.journal import Journal
from .zoos.progress import Progress
from .zoos.workers import Limits, run

RESULTS = Path(__file__).parent / "results"
FIVE = [name for name in TASKS if name != "digits"]


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", action="append", choices=TASKS, help="this task alone (may be given several times)")
    parser.add_argument("--preset", default="cpu", help="the size of the tasks")
    parser.add_argument("--count", type=int, default=10_000, help="genomes of each task")
    parser.add_argument("--trained", type=int, default=8, help="of these so many are trained as well")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--time", type=float, default=900, metavar="SECONDS", help="limit per record (50 genomes)")
    parser.add_argument("--memory", type=float, default=6, metavar="GB", help="limit per process")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR")
    parser.add_argument("--fresh", action="store_true", help="repeat what the journal has already")
    parser.add_argument("--retry", action="store_true", help="repeat records with a failure or a limit")
    parser.add_argument("--summary", action="store_true", help="only rebuild the tables from the journal")
    return parser.parse_args(given)


def settings_of(options: argparse.Namespace) -> list[Setting]:
    """The tasks whose data is there; of the others it is told where to get it."""
    found = []
    for task in options.task or FIVE:
        try:
            found.append(setting_of(task, options.preset))
        except AutoInitError as error:
            print(f"{task} is left out.\n{error}", file=sys.stderr)
    return found


def run_all(options: argparse.Namespace, journal: Journal) -> None:
    settings = settings_of(options)
    names = [n for s in settings for n in names_of(s, options.count, options.trained, options.seed)]
    known = {} if options.fresh else journal.read()
    names = [n for n in names if n not in known or (options.retry and known[n]["outcome"] != "done")]
    worker = partial(work, settings={setting.key: setting for setting in settings})
    limits = Limits(options.time, options.memory * 1024)
    jobs = max(1, min(options.jobs, len(names)))
    with Progress(len(names)) as progress:
        for name, found in run(names, worker, jobs, limits, progress.started, partial(prepare, settings)):
            record: dict[str, Any] = {"name": name, **found}
            progress.finished(record)
            journal.add(record)
    print(progress.totals(), file=sys.stderr)


def main(given: Sequence[str] | None = None) -> int:
    options = arguments(given)
    journal = Journal(options.out / "genomes.jsonl")
    try:
        if not options.summary:
            run_all(options, journal)
    except KeyboardInterrupt:
        print("stopped; the same command continues", file=sys.stderr)
        return 130
    journal.compact()
    records = list(journal.read().values())
    write(records, options.out)
    for table in tables(records):
        table.show()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
