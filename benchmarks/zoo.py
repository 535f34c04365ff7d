"""Every model of timm, transformers, torchvision and five more libraries: planned or not, and how close to the target.

python -m benchmarks.zoo                                     some models of every family
python -m benchmarks.zoo --all --plan-only                   every model, without measuring
python -m benchmarks.zoo --subset nightly --seeds 2
python -m benchmarks.zoo --only 'timm:levit_128s' -v         one model: the tensors that are off
python -m benchmarks.zoo --zoo libraries                     after python -m benchmarks.zoos.libraries.install
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from .continued import finished, left_over, run_options, settings_of, worked_on, zoo_options
from .zoos import running
from .zoos.catalogue import ZOOS, choose, entries
from .zoos.journal import Journal
from .zoos.libraries.install import installed
from .zoos.nightly import NIGHTLY
from .zoos.summary import write


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    zoo_options(parser, ZOOS, pattern="timm:resnet*", measure_below=120)
    parser.add_argument("--all", action="store_true", help="every model, not only some of every family")
    parser.add_argument("--subset", choices=["nightly"], help="the models that tests run")
    run_options(parser, jobs=2, seconds=180, memory=8)
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
    settings = settings_of(options)
    done = partial(running.is_done, settings=settings, retry=options.retry)
    names = left_over(names_of(options), options, journal, done)
    work = partial(running.work, settings=settings, verbose=options.verbose)
    prepare = partial(running.prepare, max(1, min(options.jobs, len(names))))
    worked_on(names, work, prepare, options, journal, settings=settings.key)


def main(given: Sequence[str] | None = None) -> int:
    return finished(arguments(given), "zoo", run_all, write)


if __name__ == "__main__":
    raise SystemExit(main())
