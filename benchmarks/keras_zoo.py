"""Every model of keras.applications and KerasHub: planned or not, and how close the signal comes to the target.

python -m benchmarks.keras_zoo                                   all of them
python -m benchmarks.keras_zoo --backend jax --plan-only         on another backend, without measuring
python -m benchmarks.keras_zoo --only 'hub:Bert' -v              one model: the tensors that are off
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from autoinit.core.files import replace_text

from .keras_zoos import running
from .keras_zoos.catalogue import ZOOS, entries
from .zoos.account import Settings, is_done
from .zoos.journal import Journal
from .zoos.listing import listing
from .zoos.progress import Progress
from .zoos.summary import write_records, zoo_text
from .zoos.workers import Limits, run

RESULTS = Path(__file__).parent / "results"
BACKENDS = ("tensorflow", "jax", "torch")
INTRODUCTION = """\
`python -m benchmarks.keras_zoo`: all of keras.applications (weights=None, reduced images, 100 classes) and every
backbone of KerasHub in a small configuration. Backends: {backends}.

Models with more parameters than `--measure-below` are planned without weights and not measured. Architectures that
standardise pixels themselves (ConvNeXt, EfficientNet, MobileNetV3) are fed numbers with the mean and variance of
pixels, the others numbers of mean 0 and variance 1."""


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--zoo", action="append", choices=ZOOS, help="this zoo alone (may be given several times)")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="names: 'hub:Q*'")
    parser.add_argument("--backend", choices=BACKENDS, default="torch", help="without compilation torch is fastest")
    parser.add_argument("--plan-only", action="store_true", help="plan without measuring")
    parser.add_argument("--seeds", type=int, default=3, help="draws per model (without normalisation at least 10)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them (default 0)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--time", type=float, default=300, metavar="SECONDS", help="limit per model")
    parser.add_argument("--memory", type=float, default=8, metavar="GB", help="limit per model")
    parser.add_argument("--measure-below", type=float, default=60, metavar="MILLION", help="parameters")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR")
    parser.add_argument("--fresh", action="store_true", help="repeat models that the journal has already")
    parser.add_argument("--retry", action="store_true", help="repeat those that failed or met a limit")
    parser.add_argument("--summary", action="store_true", help="only rebuild the tables from the journal")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the tensors that are off")
    return parser.parse_args(given)


def run_all(options: argparse.Namespace, journal: Journal) -> None:
    settings = Settings(options.seeds, options.plan_only, options.measure_below * 1e6, options.first_seed)
    running.choose_backend(options.backend)
    names = [e.name for e in entries(options.zoo or ZOOS)]
    names = [n for n in names if not options.only or any(fnmatchcase(n, p) for p in options.only)]
    if not options.fresh:
        done = journal.read()
        names = [n for n in names if not is_done(done.get(n), settings, options.retry)]
    work = partial(running.work, settings=settings, verbose=options.verbose)
    limits = Limits(options.time, options.memory * 1024)
    prepare = partial(running.prepare, options.backend)
    with Progress(len(names)) as progress:
        for name, found in run(names, work, max(1, min(options.jobs, len(names))), limits, progress.started, prepare):
            record: dict[str, Any] = {"name": name, "settings": settings.key, **found}
            progress.finished(record)
            if options.verbose:
                print(listing(record), flush=True)
                record.get("fidelity", {}).pop("listed", None)
            journal.add(record)
    print(progress.totals(), file=sys.stderr)


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
    options = arguments(given)
    journal = Journal(options.out / "keras.jsonl")
    try:
        if not options.summary:
            run_all(options, journal)
    except KeyboardInterrupt:
        print("stopped; the same command continues", file=sys.stderr)
        return 130
    journal.compact()
    write(list(journal.read().values()), options.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
