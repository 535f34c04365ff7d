"""From a journal to tables and words: what was tried is found again, and the words follow the numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from autoinit.errors import OptionError
from autoinit.labs.evolution import Journal, Outcome
from autoinit.labs.pangaea import Function, results, tables
from autoinit.labs.pangaea.statistics import compare
from autoinit.labs.pangaea.trials import Trial

NAMES = ("default", "autoinit", "autoinit++")


def line(function: Function, initialization: str, accuracy=None, *, status="done", kind="function", seed=0, **value):
    """What the journal is told of one training."""
    payload = {"kind": kind, "function": function.to_dict(), "initialization": initialization, "seed": seed,
               "setting": {"validation": 1000}}  # fmt: skip
    result = {"accuracy": accuracy, "diverged": False, **value} if status == "done" else None
    key = f"{kind}/{function.key}/{initialization}/{seed}"
    return Outcome(key, status, result, 1.5, 10**6, "" if status == "done" else "why"), payload


def written(path: Path, lines) -> Path:
    with Journal(path) as journal:
        for outcome, payload in lines:
            journal.append(outcome, payload)
    return path


def whole_run(path: Path) -> Path:
    """ReLU with three seeds, and functions of which the later initializations train more."""
    relu = Function.parse("relu(x)")
    lines = [line(relu, "default", a, kind="baseline", seed=k) for k, a in enumerate((0.6, 0.5, 0.55))]
    lines.append(line(relu, "autoinit", 0.9, kind="baseline"))
    functions: dict[str, Function] = {}
    for seed in range(100):
        function = Function.random(np.random.default_rng(seed))
        functions.setdefault(function.key, function)
    for k, function in enumerate(list(functions.values())[:40]):
        for name, failing in zip(NAMES, (28, 22, 16), strict=True):
            if k < 3:
                lines.append(line(function, name, status=("time", "memory", "error")[k]))
            elif k < failing:
                lines.append(line(function, name, float("nan"), diverged=True) if k % 2 else line(function, name, 0.1))
            else:
                lines.append(line(function, name, round(0.2 + k / 100 + NAMES.index(name) / 50, 3)))
    return written(path, lines)


# --- reading ---------------------------------------------------------------------------------------------


def test_trials_are_read_whatever_became_of_them(tmp_path: Path) -> None:
    tanh, swish = Function.parse("alpha * tanh(x)"), Function.parse("swish(x)")
    path = written(
        tmp_path / "journal.jsonl",
        [
            line(tanh, "default", 0.4),
            line(tanh, "autoinit++", status="memory"),
            line(swish, "autoinit", float("nan"), diverged=True, seed=3),
            line(swish, "default", 0.3, kind="baseline"),
        ],
    )
    one, two, three = results.read(path)
    assert one == Trial("alpha * tanh(x)", f"{tanh.key}/0", "default", 0.4, "done", False, 1.5, "")
    assert (two.key, two.status, two.accuracy, two.message) == (one.key, "memory", None, "why")
    assert three.diverged and not three.trained and three.key == f"{swish.key}/3"
    assert [t.function_formula for t in results.read(path, "baseline")] == ["swish(x)"]


def test_the_baseline_is_the_median_over_seeds(tmp_path: Path) -> None:
    path = whole_run(tmp_path / "journal.jsonl")
    assert results.baseline_accuracy(path) == 0.55
    assert results.validation_images(path) == 1000


def test_a_baseline_that_failed_counts_as_chance(tmp_path: Path) -> None:
    relu = Function.parse("relu(x)")
    lines = [line(relu, "default", status="time", kind="baseline", seed=k) for k in (0, 1)]
    path = written(tmp_path / "j.jsonl", [*lines, line(relu, "default", 0.7, kind="baseline", seed=2)])
    assert results.baseline_accuracy(path, classes=4) == 0.25


def test_no_baseline_at_all_is_refused(tmp_path: Path) -> None:
    """Otherwise every function that learns anything would beat it."""
    path = written(tmp_path / "j.jsonl", [line(Function.parse("relu(x)"), "default", status="time", kind="baseline")])
    with pytest.raises(
        OptionError, match=r"no training of ReLU[\s\S]*came to its end[\s\S]*why[\s\S]*mend the setting"
    ):
        results.baseline_accuracy(path)


@pytest.mark.parametrize("ask", [results.read, results.baseline_accuracy, results.validation_images])
def test_a_missing_journal_is_named(ask, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"no such journal[\s\S]*nowhere.jsonl[\s\S]*run the evaluation first"):
        ask(tmp_path / "nowhere.jsonl")


def test_journals_that_lack_something_are_refused(tmp_path: Path) -> None:
    other = written(tmp_path / "other.jsonl", [(Outcome("k", "done", {"accuracy": 0.5}), {"network": 1})])
    with pytest.raises(OptionError, match="without function and initialization"):
        results.read(other)
    tanh = Function.parse("tanh(x)")
    alone = written(tmp_path / "alone.jsonl", [line(tanh, "default", 0.5)])
    with pytest.raises(OptionError, match=r"no training of ReLU[\s\S]*baseline=0.8"):
        results.write(alone, tmp_path / "out")
    with pytest.raises(OptionError, match=r"how many validation images[\s\S]*validation_size=5000"):
        results.validation_images(other)
    assert not (tmp_path / "out").exists()


# --- writing ---------------------------------------------------------------------------------------------


def test_everything_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path, folder = whole_run(tmp_path / "journal.jsonl"), tmp_path / "out" / "results"
    before = path.read_bytes()
    comparison = results.write(path, folder, title="Forty functions")
    pictures = {"accuracies.png", "error_distributions.png", "best_functions.png", "same_functions.png"}
    assert {p.name for p in folder.iterdir()} == {"results.md", "results.json", *pictures}
    assert [s.failures for s in comparison.summaries] == [28, 22, 16] and comparison.baseline == 0.55
    assert json.loads((folder / "results.json").read_text()) == json.loads(json.dumps(comparison.to_dict()))
    page = (folder / "results.md").read_text()
    assert page.startswith("# Forty functions\n") and all(f"]({name})" in page for name in pictures)
    assert path.read_bytes() == before


def test_a_run_that_has_hardly_begun_is_written_too(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = written(tmp_path / "j.jsonl", [line(Function.parse("tanh(x)"), "default", 0.1)])
    first = results.write(path, tmp_path, baseline=0.5)
    assert results.write(path, tmp_path, baseline=0.5) == first
    page = (tmp_path / "results.md").read_text()
    assert "nothing to compare" in page and "Every function failed." in page and "cannot be judged" in page
    assert {p.name for p in tmp_path.glob("*.png")} == {"accuracies.png"}


# --- tables and words ------------------------------------------------------------------------------------


def trials(**failed: int) -> list[Trial]:
    """A hundred functions for each initialization, of which the first so many fail."""
    names = {"default": "default", "autoinit": "autoinit", "plus": "autoinit++"}
    return [
        Trial(f"abs(x) | {k}", f"k{k}", names[name], 0.1 if k < count else 0.3 + k / 200)
        for name, count in failed.items()
        for k in range(100)
    ]


def compared(given: list[Trial]):
    return compare(given, 10, 5000, 0.7)


def cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.split("\n")]


def test_counts_stand_beside_the_papers() -> None:
    head, _, *rows = cells(tables.counts(compared(trials(default=75, autoinit=60, plus=50))))
    assert [row[head.index("failed")] for row in rows] == ["75 (75.0 %)", "60 (60.0 %)", "50 (50.0 %)"]
    assert [row[head.index("failed, paper")] for row in rows] == ["149 (74.5 %)", "130 (65.0 %)", "117 (58.5 %)"]
    assert [row[head.index("above ReLU, paper")] for row in rows] == ["22 (11.0 %)", "26 (13.0 %)", "50 (25.0 %)"]
    assert [row[head.index("above ReLU")] for row in rows] == ["19 (19.0 %)"] * 3
    assert all(len(row) == len(head) for row in rows)


def test_causes_add_up(tmp_path: Path) -> None:
    path = whole_run(tmp_path / "journal.jsonl")
    comparison = compare(results.read(path), 10, 1000, 0.5)
    _, _, *rows, total = cells(tables.failures(comparison))
    numbers = np.array([[int(n) for n in row[1:]] for row in rows])
    assert numbers.sum(0).tolist() == [int(n) for n in total[1:]] == [28, 22, 16]
    assert dict(zip((row[0] for row in rows), numbers[:, 0], strict=True))["time limit"] == 1


def test_exceptions_are_shown_with_their_counts() -> None:
    trace = "  File 'conv.py', line 3\nRuntimeError: kernel too large\n  received: (2, 2)\n  to fix: larger images"
    given = [Trial("f", f"k{k}", "default", None, "error", message=trace) for k in range(3)]
    given += [Trial("f", "k", "autoinit", None, "crashed"), Trial("g", "g", "autoinit", None, "time", message="slow")]
    head, lines = tables.defects(given)
    assert "may be defects" in head
    assert lines.split("\n") == ["- 3 × exception: RuntimeError: kernel too large", "- 1 × process died"]
    assert tables.defects(given[-1:]) == []
    assert lines in tables.markdown(given, compared(given))


def test_the_tests_stand_beside_the_papers() -> None:
    comparison = compared(trials(default=75, autoinit=60, plus=50))
    text = tables.tests(comparison)
    rows = {row[0]: row[1:] for row in cells(text.split("\n\n")[0])}
    assert rows["Kolmogorov-Smirnov D"] == ["0.150", "0.250", "0.100"]
    assert rows["failures avoided by the second, 95 % interval"][0].endswith("15 avoided, 0 added")
    assert rows["second at least as good at every level"] == ["yes"] * 3
    assert ["0.105", "0.191", "0.122"] in [row[1:] for row in cells(text.split("\n\n")[0])]
    assert "Wilcoxon's and McNemar's tests" in text


def test_the_papers_gaps_have_these_p_values() -> None:
    """2 Σ (−1)^(k−1) exp(−2 k² λ²) with λ = 10 D."""
    for test in tables.PAPER_TESTS.values():
        series = 2 * sum((-1) ** (k - 1) * np.exp(-2 * (k * 10 * test.gap) ** 2) for k in range(1, 30))
        assert test.gap_p == pytest.approx(series, rel=1e-9)
    assert tables.PAPER_TESTS["default", "autoinit"].gap_p > 0.2


def test_words_of_agreement() -> None:
    words = tables.in_words(compared(trials(default=75, autoinit=60, plus=50)))
    assert words[0].startswith("15 fewer failures with AutoInit than with default, as in the paper;")
    assert words[0].endswith("more than chance explains.")
    assert any("Accuracies are higher with AutoInit++ than with default, as in the paper" in line for line in words)
    assert "75, 60, 50 here, 149, 130, 117 in the paper: the same order as in the paper." in words[-2]
    assert words[-1].endswith("19, 19, 19 here, 22, 26, 50 in the paper: no difference, unlike the paper.")
    words = tables.in_words(compared(trials(default=75, autoinit=60, plus=60)))
    assert words[-2].endswith("the paper's order, but with ties.")


def test_words_of_disagreement() -> None:
    words = tables.in_words(compared(trials(default=50, autoinit=60, plus=59)))
    assert words[0].startswith("10 MORE failures with AutoInit than with default, against the paper; ")
    assert "Accuracies are LOWER with AutoInit than with default, against the paper" in words[1]
    assert words[4].startswith("1 fewer failures with AutoInit++ than with AutoInit") and words[4].endswith(
        "this may be chance."
    )
    assert words[-2].endswith("not the paper's order.")


def test_unequal_numbers_are_compared_as_fractions() -> None:
    given = [
        t for t in trials(default=75, autoinit=60, plus=50) if t.initialization != "default" or int(t.key[1:]) < 80
    ]
    words = tables.in_words(compared(given))  # 75 of 80, 60 of 100, 50 of 100; above: 0 of 80 and 19 of 100
    assert words[-3] == "The initializations were tried with 80, 100, 100 functions: the order is that of fractions."
    assert words[-2].endswith("the same order as in the paper.") and words[-1].endswith("but with ties.")
    given = [
        t for t in trials(default=55, autoinit=60, plus=50) if t.initialization != "default" or int(t.key[1:]) < 80
    ]
    assert tables.in_words(compared(given))[-2].endswith("the same order as in the paper.")


def test_words_of_no_difference() -> None:
    words = tables.in_words(compared(trials(default=50, plus=50)))
    assert words[0] == "AutoInit++ and default fail equally often; the paper finds fewer failures with AutoInit++."
    assert "cannot be compared: every shared function has the same accuracy with both" in words[1]
    assert words[-1].startswith("Not all three initializations were tried")


def test_the_best_functions_with_what_they_reach_elsewhere() -> None:
    given = [*trials(default=75, plus=50), Trial("tanh(x)", "only", "default", 0.9)]
    head, _, *rows = cells(tables.best(given, compared(given), "default", 3).split("\n\n")[1])
    assert head == ["", "default", "with AutoInit++", "function"]
    assert rows[0] == ["1", "90.0 %", "", "`tanh(x)`"]
    assert rows[1][:3] == ["2", "79.5 %", "79.5 %"] and rows[1][3] == "`abs(x) \\| 99`"
    assert len(rows) == 3
