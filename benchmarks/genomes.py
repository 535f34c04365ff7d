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

from .continued import Records, finished, left_over, run_options, worked_on
from .genome_study import Setting, names_of, prepare, setting_of, work
from .genome_tables import tables, write
from .zoos.journal import Journal

FIVE = [name for name in TASKS if name != "digits"]


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", action="append", choices=TASKS, help="this task alone (may be given several times)")
    parser.add_argument("--preset", default="cpu", help="the size of the tasks")
    parser.add_argument("--count", type=int, default=10_000, help="genomes of each task")
    parser.add_argument("--trained", type=int, default=8, help="of these so many are trained as well")
    parser.add_argument("--seed", type=int, default=0)
    run_options(parser, jobs=2, seconds=900, memory=6, unit="record (50 genomes)")
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
    names = left_over(names, options, journal, partial(is_done, retry=options.retry))
    worker = partial(work, settings={setting.key: setting for setting in settings})
    worked_on(names, worker, partial(prepare, settings), options, journal)


def is_done(record: dict[str, Any] | None, retry: bool) -> bool:
    return record is not None and not (retry and record["outcome"] != "done")


def written(records: Records, folder: Path) -> None:
    write(records, folder)
    for table in tables(records):
        table.show()


def main(given: Sequence[str] | None = None) -> int:
    return finished(arguments(given), "genomes", run_all, written)


if __name__ == "__main__":
    raise SystemExit(main())
