"""Every model of timm, transformers, torchvision and five more libraries: planned or not, and how close to the target.

python -m benchmarks.zoo                                     some models of every family
python -m benchmarks.zoo --all --plan-only                   every model, without measuring
python -m benchmarks.zoo --subset nightly --seeds 2
python -m benchmarks.zoo --only 'timm:levit_128s' -v         one model: the tensors that are off
python -m benchmarks.zoo --zoo libraries                     after python -m benchmarks.zoos.libraries.install
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .zoos import running
from .zoos.catalogue import ZOOS, choose, entries
from .zoos.journal import Journal
from .zoos.libraries.install import installed
from .zoos.listing import listing
from .zoos.nightly import NIGHTLY
from .zoos.progress import Progress
from .zoos.study import Settings
from .zoos.summary import write
from .zoos.workers import Limits, run

RESULTS = Path(__file__).parent / "results"


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--zoo", action="append", choices=ZOOS, help="this zoo alone (may be given several times)")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="names: 'timm:resnet*'")
    parser.add_argument("--all", action="store_true", help="every model, not only some of every family")
    parser.add_argument("--subset", choices=["nightly"], help="the models that tests run")
    parser.add_argument("--plan-only", action="store_true", help="plan without measuring")
    parser.add_argument("--seeds", type=int, default=3, help="draws per model (without normalisation at least 10)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them (default 0)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--time", type=float, default=180, metavar="SECONDS", help="limit per model")
    parser.add_argument("--memory", type=float, default=8, metavar="GB", help="limit per model")
    parser.add_argument("--measure-below", type=float, default=120, metavar="MILLION", help="parameters")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR")
    parser.add_argument("--fresh", action="store_true", help="repeat models that the journal has already")
    parser.add_argument("--retry", action="store_true", help="repeat those that failed or met a limit")
    parser.add_argument("--summary", action="store_true", help="only rebuild the tables from the journal")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the tensors that are off")
    return parser.parse_args(given)


def names_of(options: argparse.Namespace) -> list[str]:
    """The models asked for."""
    if options.subset == "nightly":
        names = [n for n in NIGHTLY if not options.zoo or n.split(":")[0] in options.zoo]
        return choose(names, options.only)
    exact = [n for n in options.only if not set("*?[") & set(n)]
    if exact and len(exact) == len(options.only):
        return exact
    zoos = options.zoo or (ZOOS if installed() else [zoo for zoo in ZOOS if zoo != "libraries"])
    return choose([e.name for e in entries(zoos, options.all or bool(exact))], options.only)


def run_all(options: argparse.Namespace, journal: Journal) -> None:
    settings = Settings(options.seeds, options.plan_only, options.measure_below * 1e6, options.first_seed)
    names = names_of(options)
    if not options.fresh:
        done = journal.read()
        names = [n for n in names if not running.is_done(done.get(n), settings, options.retry)]
    work = partial(running.work, settings=settings, verbose=options.verbose)
    limits = Limits(options.time, options.memory * 1024)
    jobs = max(1, min(options.jobs, len(names)))
    with Progress(len(names)) as progress:
        for name, found in run(names, work, jobs, limits, progress.started, partial(running.prepare, jobs)):
            record: dict[str, Any] = {"name": name, "settings": settings.key, **found}
            progress.finished(record)
            if options.verbose:
                print(listing(record), flush=True)
                record.get("fidelity", {}).pop("listed", None)
            journal.add(record)
    print(progress.totals(), file=sys.stderr)


def main(given: Sequence[str] | None = None) -> int:
    options = arguments(given)
    journal = Journal(options.out / "zoo.jsonl")
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
