"""Public architectures of Flax, Equinox and Haiku: planned or not, and how close the signal comes to the target.

python -m benchmarks.jax_zoos.install                     the packages, in a folder of their own
python -m benchmarks.jax_zoo                              all of them
python -m benchmarks.jax_zoo --only 'equimo:*' -v         some: the tensors that are off
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from autoinit.core.files import replace_text

from .continued import finished, left_over, run_options, settings_of, worked_on, zoo_options
from .jax_zoos import running
from .jax_zoos.catalogue import ZOOS, entries
from .zoos.account import is_done
from .zoos.journal import Journal
from .zoos.summary import write_records, zoo_text

INTRODUCTION = """\
`python -m benchmarks.jax_zoo`: architectures of packages that `benchmarks/jax_zoos/constraints.txt` pins (Flax linen,
Equinox), of Haiku, and of the examples of Flax NNX, on noise of mean 0 and variance 1, most in small configurations;
what is larger than `--measure-below` is planned without weights and not measured."""


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    zoo_options(parser, ZOOS, pattern="equimo:*", measure_below=60)
    run_options(parser, jobs=1, seconds=300, memory=3)
    return parser.parse_args(given)


def run_all(options: argparse.Namespace, journal: Journal) -> None:
    settings = settings_of(options)
    names = [e.name for e in entries(options.zoo or ZOOS)]
    names = [n for n in names if not options.only or any(fnmatchcase(n, p) for p in options.only)]
    names = left_over(names, options, journal, partial(is_done, settings=settings, retry=options.retry))
    work = partial(running.work, settings=settings, verbose=options.verbose)
    worked_on(names, work, running.prepare, options, journal, settings=settings.key)


def write(records: list[dict[str, Any]], folder: Path) -> None:
    """jax_zoo.json and jax_zoo.md."""
    records = sorted(records, key=lambda r: r["name"])
    write_records(records, folder / "jax_zoo.json")
    replace_text(folder / "jax_zoo.md", zoo_text(records, "JAX", INTRODUCTION))


def main(given: Sequence[str] | None = None) -> int:
    return finished(arguments(given), "jax_zoo", run_all, write)


if __name__ == "__main__":
    raise SystemExit(main())
