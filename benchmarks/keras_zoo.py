"""Every model of keras.applications and KerasHub: planned or not, and how close the signal comes to the target.

python -m benchmarks.keras_zoo                                   all of them
python -m benchmarks.keras_zoo --backend jax --plan-only         on another backend, without measuring
python -m benchmarks.keras_zoo --only 'hub:Bert' -v              one model: the tensors that are off
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
from .keras_zoos import running
from .keras_zoos.catalogue import ZOOS, entries
from .zoos.account import is_done
from .zoos.journal import Journal
from .zoos.summary import write_records, zoo_text

BACKENDS = ("tensorflow", "jax", "torch")
INTRODUCTION = """\
`python -m benchmarks.keras_zoo`: all of keras.applications (weights=None, reduced images, 100 classes) and every
backbone of KerasHub in a small configuration. Backends: {backends}.

Models with more parameters than `--measure-below` are planned without weights and not measured. Architectures that
standardise pixels themselves (ConvNeXt, EfficientNet, MobileNetV3) are fed numbers with the mean and variance of
pixels, the others numbers of mean 0 and variance 1."""


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    zoo_options(parser, ZOOS, pattern="hub:Q*", measure_below=60)
    parser.add_argument("--backend", choices=BACKENDS, default="torch", help="without compilation torch is fastest")
    run_options(parser, jobs=1, seconds=300, memory=8)
    return parser.parse_args(given)


def run_all(options: argparse.Namespace, journal: Journal) -> None:
    settings = settings_of(options)
    running.choose_backend(options.backend)
    names = [e.name for e in entries(options.zoo or ZOOS)]
    names = [n for n in names if not options.only or any(fnmatchcase(n, p) for p in options.only)]
    names = left_over(names, options, journal, partial(is_done, settings=settings, retry=options.retry))
    work = partial(running.work, settings=settings, verbose=options.verbose)
    prepare = partial(running.prepare, options.backend)
    worked_on(names, work, prepare, options, journal, settings=settings.key)


def write(records: list[dict[str, Any]], folder: Path) -> None:
    """keras.json and keras.md."""
    records = sorted(records, key=lambda r: r["name"])
    names = [r["backend"] for r in records if "backend" in r]
    first = max(sorted(set(names)), key=names.count, default="none")
    others = [f"{r['backend']} for {r['name']}" for r in records if r.get("backend", first) != first]
    backends = "; ".join([first, *others])
    write_records(records, folder / "keras.json")
    replace_text(folder / "keras.md", zoo_text(records, "Keras", INTRODUCTION.format(backends=backends)))


def main(given: Sequence[str] | None = None) -> int:
    return finished(arguments(given), "keras", run_all, write)


if __name__ == "__main__":
    raise SystemExit(main())
