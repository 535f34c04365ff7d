"""Are residual trunks found? Published models of four libraries, against counts by hand (`trunk_rules`).

python -m benchmarks.trunks                                  all; goes on where it was stopped
python -m benchmarks.trunks --only 'timm:dpn*' --fresh       some of them, again

Models are built without memory where they can be. What is compared are the additions that `plan.residual` lists.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import autoinit
from autoinit.core.files import replace_text

from .keras_zoos import running
from .tables import Table, percent
from .trunk_rules import LEFT_OUT, WHY_NOT, ZOOS, Count, Rule
from .zoos.journal import Journal

BAR = 0.98
KERAS = ("applications", "hub")
RESULTS = Path(__file__).parent / "results"
NAMES = {"applications": "keras.applications", "hub": "KerasHub"}
"""Where a zoo is not called as its library."""
CAPTION = """\
expected: counted by hand, modules of a class times the additions that one of them makes (a `*`: of those that add at
all, as the blocks themselves know). right: found in the innermost module that the rule names; too many: found anywhere
else, or more than expected (layers of Keras do not lie in one another: there totals are compared). n: branches along
the longest trunk, as the plan counts them."""
Places = list[str]


def families() -> Iterator[tuple[str, str, Rule]]:
    for zoo, rules in ZOOS.items():
        for model, rule in rules.items():
            yield f"{zoo}:{model}", zoo, rule


def expected(rule: Rule, modules: dict[str, Any]) -> Counter[str]:
    """Additions by class of module."""
    found: Counter[str] = Counter()
    for module in modules.values():
        count: Count = rule.get(type(module).__name__, 0)
        found[type(module).__name__] += count(module) if callable(count) else count
    return +found


def placed(rule: Rule, modules: dict[str, Any], places: Places) -> Counter[str]:
    """Additions by the class of the innermost module that the rule names; "" where there is none."""
    found: Counter[str] = Counter()
    for place in places:
        parts = place.split(".")
        around = [type(modules.get(".".join(parts[:k]))).__name__ for k in range(len(parts), -1, -1)]
        found[next((name for name in around if name in rule), "")] += 1
    return found


def torch_model(name: str) -> tuple[Any, Any, dict[str, Any]]:
    import torch

    from .zoos.catalogue import find

    entry, model = find(name), None
    torch.manual_seed(0)
    with suppress(Exception), torch.device("meta"):
        model = entry.build()
    model = model or entry.build()
    return model, entry.inputs_of(model), dict(model.named_modules())


def keras_model(name: str) -> tuple[Any, Any, dict[str, Any]]:
    import keras

    from .keras_zoos.catalogue import find

    keras.backend.clear_session()
    entry = find(name)
    with keras.StatelessScope(initialize_variables=False):
        model = entry.build()
    return model, entry.inputs_of(model), {str(k): layer for k, layer in enumerate(model._flatten_layers())}


def study(name: str, zoo: str, rule: Rule) -> dict[str, Any]:
    begin = time.perf_counter()
    build: Callable[[str], tuple[Any, Any, dict[str, Any]]] = keras_model if zoo in KERAS else torch_model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, inputs, modules = build(name)
        plan = autoinit.plan(model, inputs, warn=False)
    wanted = expected(rule, modules)
    if zoo in KERAS:  # layers of functional models do not lie in one another
        found = Counter({"": len(plan.residual)})
        right = min(found.total(), wanted.total())
    else:
        found = placed(rule, modules, [plan.tensors[row.tensor].module for row in plan.residual])
        right = sum(min(found[name], count) for name, count in wanted.items())
    return {
        "name": name, "zoo": zoo, "rule": told(rule), "expected": wanted.total(), "found": found.total(),
        "right": right, "n": max((row.n for row in plan.residual), default=0),
        "norms": dict(Counter(row.norm for row in plan.residual)),
        "seconds": round(time.perf_counter() - begin, 1),
    }  # fmt: skip


def told(rule: Rule) -> str:
    """2 per BertLayer."""
    return ", ".join(f"{'1*' if callable(count) else count} per {name}" for name, count in rule.items()) or "none"


def share(records: Sequence[dict[str, Any]]) -> float:
    """Of all additions that are expected or found, those that are both."""
    every = sum(r["expected"] + r["found"] - r["right"] for r in records)
    return sum(r["right"] for r in records) / every if every else 1.0


def text(records: Sequence[dict[str, Any]]) -> str:
    done = [r for r in records if "error" not in r]
    total = Table("Totals", ["library", "families", "expected", "found", "right", "share right", "exact", "bar", ""])
    for zoo in (*ZOOS, "all"):
        chosen = [r for r in done if zoo in (r["zoo"], "all")]
        sums = [sum(r[what] for r in chosen) for what in ("expected", "found", "right")]
        exact = sum(r["expected"] == r["found"] == r["right"] for r in chosen)
        bar = [percent(BAR), "PASS" if share(chosen) >= BAR else "FAIL"] if zoo == "all" else ["", ""]
        total.add(NAMES.get(zoo, zoo), len(chosen), *sums, percent(share(chosen)), f"{exact} of {len(chosen)}", *bar)
    other = Table("Differences", ["family", "expected", "found", "right", "too many", "why"])
    for r in done:
        if not r["expected"] == r["found"] == r["right"]:
            cells = (r["expected"], r["found"], r["right"], r["found"] - r["right"])
            other.add(r["name"], *cells, WHY_NOT.get(r["name"], ""))
    every = Table("Families", ["family", "rule", "expected", "found", "right", "n", "norms"], caption=CAPTION)
    for r in done:
        norms = ", ".join(f"{norm} {count}" for norm, count in r["norms"].items())
        every.add(r["name"], r["rule"], r["expected"], r["found"], r["right"], r["n"], norms)
    failed = "".join(f"- {r['name']}: {r['error']}\n" for r in records if "error" in r)
    tail = f"\n## Not planned\n\n{failed}" if failed else ""
    left = "\n".join(f"- {names}: {why}" for names, why in LEFT_OUT.items())
    head = (
        "# Residual trunks\n\n`python -m benchmarks.trunks`: residual additions found in published models, against "
        "counts by hand.\nThe share right is of all that are expected or found: what is missed and what is taken for "
        "one by mistake both lower it.\n\n"
    )
    parts = "\n".join(table.markdown() for table in (total, other, every))
    return f"{head}{parts}\n## Left out\n\n{left}\n{tail}"


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="names: 'timm:resnet*'")
    parser.add_argument("--fresh", action="store_true", help="repeat what the journal has already")
    parser.add_argument("--journal", type=Path, default=Path("build/trunks.jsonl"))
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR")
    options = parser.parse_args(given)
    running.choose_backend("torch")
    journal = Journal(options.journal)
    known = journal.read()
    for name, zoo, rule in families():
        wanted = not options.only or any(fnmatchcase(name, pattern) for pattern in options.only)
        stale = options.fresh or known.get(name, {}).get("rule") != told(rule)
        if not wanted or not stale:
            continue
        try:
            known[name] = study(name, zoo, rule)
        except Exception as error:  # one model must not stop the others
            known[name] = {"name": name, "zoo": zoo, "rule": told(rule), "error": f"{type(error).__name__}: {error}"}
        journal.add(known[name])
        print(known[name], file=sys.stderr, flush=True)
    records = [known[name] for name, _, _ in families() if name in known]
    lines = ",\n".join(json.dumps({k: v for k, v in r.items() if k != "seconds"}) for r in records)
    replace_text(options.out / "trunks.json", f'{{"share": {share([r for r in records if "error" not in r]):.4f},'
                 f' "models": [\n{lines}\n]}}\n')  # fmt: skip
    replace_text(options.out / "trunks.md", text(records))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
