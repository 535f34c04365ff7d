"""How close does the signal come to the target? Prediction and measurement on many architectures.

python -m benchmarks.fidelity                     all models, 20 seeds
python -m benchmarks.fidelity --quick             a few minutes' worth of them
python -m benchmarks.fidelity --models vit12 unet --seeds 5 --failures
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from autoinit.core.files import replace_text

from .models import MODELS
from .tables import Table, number, percent

FEWER = 3
FOR_SPEED = "resnet50"
"""The model that is there for the speed benchmark; measured only if it is named."""
WEIGHT_CAPTION = """\
A layer counts if the mean over seeds of x.var() (whole tensor) is within the factor of ν, or if ν lies inside
the 95 % confidence interval of that mean: the t interval or the log-normal one (Cox), because variances of
deep unnormalised nets scatter log-normally. 'by interval': layers that needed it at 1.25×; '(t only)': those
of them that the t interval alone covers. 'plain': without intervals. 'scatter': median over layers of the
standard deviation of log variance between seeds. 'E[y²]': the same criterion for the second moment."""
COMPARE_CAPTION = """\
Shares of layers whose mean variance is within 1.25× / 2× of ν, without intervals; '+ interval': ν may also lie
inside the interval; then the smallest and largest ratio to ν. paper: AutoInit with the paper's model of the
signal (mean and variance, independence). default: PyTorch's own initialization. LSUV: fitted on one batch of
noise, measured on another."""
SCHEME_NAMES = {"autoinit": "AutoInit", "paper": "paper", "default": "default", "lsuv": "LSUV"}
MANY_SEEDS = ("autoinit", "paper")


def run(task: tuple[str, int, int]) -> dict[str, Any]:
    """One model, in a worker process."""
    import torch

    from .trials import study

    torch.set_num_threads(1)
    try:
        return study(*task)
    except Exception:
        return {"model": task[0], "error": traceback.format_exc()}


def weight_table(results: list[dict[str, Any]]) -> Table:
    table = Table(
        f"Weight layers: measured variance against ν, mean over {results[0]['seeds']} seeds",
        [
            "model",
            "layers",
            "≤1.25×",
            "≤2×",
            "by interval",
            "(t only)",
            "plain ≤1.25×",
            "plain ≤2×",
            "lowest",
            "median",
            "highest",
            "scatter",
            "E[y²] ≤1.25×",
            "≤2×",
        ],
        caption=WEIGHT_CAPTION,
    )
    for r in results:
        w, e = r["weights"], r["entries"]
        table.add(
            r["model"],
            r["layers"],
            percent(w["1.25"]["either"]),
            percent(w["2"]["either"]),
            w["1.25"]["needed"],
            w["1.25"]["needed_t"],
            percent(w["1.25"]["plain"]),
            percent(w["2"]["plain"]),
            number(w["lowest"]),
            number(w["median"]),
            number(w["highest"]),
            number(w["scatter"]),
            percent(e["1.25"]["either"]),
            percent(e["2"]["either"]),
        )
    n = sum(r["layers"] for r in results)

    def total(kind: str, factor: str, what: str) -> float:
        return sum(r[kind][factor][what] * r["layers"] for r in results if r["layers"]) / max(n, 1)

    table.add(
        "all",
        n,
        percent(total("weights", "1.25", "either")),
        percent(total("weights", "2", "either")),
        sum(r["weights"]["1.25"]["needed"] for r in results),
        sum(r["weights"]["1.25"]["needed_t"] for r in results),
        percent(total("weights", "1.25", "plain")),
        percent(total("weights", "2", "plain")),
        number(min(r["weights"]["lowest"] for r in results)),
        "",
        number(max(r["weights"]["highest"] for r in results)),
        "",
        percent(total("entries", "1.25", "either")),
        percent(total("entries", "2", "either")),
    )
    return table


def compare_table(results: list[dict[str, Any]]) -> Table:
    """Shares per scheme; with the interval only where there are seeds enough for it to mean something."""
    title = f"The same layers under other initializations ({results[0]['fewer']} seeds for default and LSUV)"
    heads = ["model"]
    for scheme, name in SCHEME_NAMES.items():
        heads += [name, *(["+ interval"] if scheme in MANY_SEEDS else []), "range"]
    table = Table(title, heads, caption=COMPARE_CAPTION)
    for r in results:
        table.add(r["model"], *_compared([r], with_range=True))
    table.add("all", *_compared(results, with_range=False))
    return table


def _compared(results: list[dict[str, Any]], with_range: bool) -> list[str]:
    """The cells of one model, or of all together, weighted by their layers."""
    n = sum(r["layers"] for r in results)

    def total(scheme: str, key: str) -> float:
        return sum(r["compare"][scheme][key] * r["layers"] for r in results if r["layers"]) / max(n, 1)

    cells = []
    for scheme in SCHEME_NAMES:
        for extra in ("", " or interval") if scheme in MANY_SEEDS else ("",):
            cells.append(pair(total(scheme, f"1.25{extra}"), total(scheme, f"2{extra}")))
        one = results[0]["compare"][scheme]
        cells.append(f"{one['lowest']:.1g}…{one['highest']:.1g}" if with_range else "")
    return cells


def pair(first: float, second: float) -> str:
    return f"{percent(first)[:-2]} / {percent(second)}"


def draw_table(results: list[dict[str, Any]]) -> Table:
    kinds = list(results[0]["draw"])
    caption = "Seed 0. Truncated normal and uniform weights come from the same random numbers, so they err alike."
    table = Table("One draw: share of weight layers within 2× of ν", ["model", *kinds], caption=caption)
    for r in results:
        table.add(r["model"], *(percent(r["draw"][k]) for k in kinds))
    n = sum(r["layers"] for r in results)
    table.add("all", *(percent(sum(r["draw"][k] * r["layers"] for r in results) / max(n, 1)) for k in kinds))
    return table


def others_table(results: list[dict[str, Any]]) -> Table:
    table = Table(
        f"All other tensors: predicted against measured variance, mean over {results[0]['seeds']} seeds",
        [
            "model",
            "tensors",
            "≤1.25×",
            "≤2×",
            "≤1.25× or interval",
            "≤2× or interval",
            "lowest",
            "highest",
            "worst",
            "at",
        ],
        caption="Ratio measured / predicted of x.var(). 'worst': largest deviation outside the intervals.",
    )
    factors = ("1.25", "2", "1.25 or interval", "2 or interval")
    for r in results:
        o = r["others"]
        table.add(
            r["model"],
            o["tensors"],
            *(percent(o[f]) for f in factors),
            number(o["lowest"]),
            number(o["highest"]),
            number(o["worst"]),
            o["worst at"],
        )
    n = sum(r["others"]["tensors"] for r in results)
    shares = [sum(r["others"][f] * r["others"]["tensors"] for r in results if r["others"]["tensors"]) for f in factors]
    table.add("all", n, *(percent(s / max(n, 1)) for s in shares), "", "", "", "")
    return table


def progress(done: int, total: int, result: dict[str, Any], begin: float) -> None:
    state = "FAILED" if "error" in result else f"{result['layers']} layers, {result['seconds']:.1f} s"
    spent = f"{time.perf_counter() - begin:.0f} s so far"
    print(f"[{done}/{total}] {result['model']}: {state} ({spent})", file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", nargs="*", choices=list(MODELS), metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--fewer", type=int, default=FEWER, help="seeds for default and LSUV (default 3)")
    parser.add_argument("--quick", action="store_true", help="5 seeds, no heavy models")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 2))
    parser.add_argument("--failures", action="store_true", help="list the layers that do not count")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    names = options.models or [n for n in MODELS if n != FOR_SPEED and not (options.quick and MODELS[n].heavy)]
    seeds, fewer = (5, 1) if options.quick else (options.seeds, min(options.fewer, options.seeds))
    order = sorted(names, key=lambda n: not MODELS[n].heavy)
    begin = time.perf_counter()
    found: dict[str, dict[str, Any]] = {}
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for result in pool.imap_unordered(run, [(n, seeds, fewer) for n in order]):
            found[result["model"]] = result
            progress(len(found), len(names), result, begin)
    good = [found[n] for n in names if "error" not in found[n]]
    bad = [found[n] for n in names if "error" in found[n]]
    tables = [weight_table(good), compare_table(good), draw_table(good), others_table(good)] if good else []
    for table in tables:
        table.show()
    for result in bad:
        print(f"{result['model']} FAILED\n{result['error']}")
    if options.failures:
        for result in good:
            print(f"{result['model']}: outside: {'; '.join(result['weights']['outside']) or 'none'}")
    spent = f"{time.perf_counter() - begin:.0f} s on {options.jobs} processes"
    total = f"{len(good)} models, {seeds} seeds ({fewer} for default and LSUV): {spent}"
    print(total)
    if options.markdown:
        replace_text(options.markdown, "\n".join(["# Fidelity", "", total, "", *(t.markdown() for t in tables)]))
    if options.json:
        replace_text(options.json, json.dumps([found[n] for n in names], indent=1) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
