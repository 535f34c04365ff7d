"""The results of activation discovery as Markdown, beside the paper's numbers, and in plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scipy.special import kolmogorov

from ..significance import Significance
from .figure_data import best_trials
from .statistics import Comparison, Contrast
from .trials import CAUSES, NAMES, Trial, by_initialization, last_words

SIGNIFICANT = 0.05
BEST = 10


@dataclass(frozen=True)
class PaperCounts:
    """Of 200 functions."""

    failures: int
    above_baseline: int


@dataclass(frozen=True)
class PaperTests:
    """D, and the bounds that the paper gives for p; "" where it gives none."""

    gap: float
    epps_singleton: str
    mann_whitney: str

    @property
    def gap_p(self) -> float:
        """The p value of D for two independent samples of n = 200: the limit law of √(n/2) D."""
        return float(kolmogorov(self.gap * (PAPER_FUNCTIONS / 2) ** 0.5))


PAPER_FUNCTIONS = 200
PAPER_COUNTS = {"default": PaperCounts(149, 22), "autoinit": PaperCounts(130, 26), "autoinit++": PaperCounts(117, 50)}
PAPER_TESTS = {
    ("default", "autoinit"): PaperTests(0.105, "< 0.05", ""),
    ("default", "autoinit++"): PaperTests(0.191, "< 0.001", "< 0.01"),
    ("autoinit", "autoinit++"): PaperTests(0.122, "", "< 0.05"),
}


def markdown(
    trials: Sequence[Trial], comparison: Comparison, title: str = "Activation functions at random", made_by: str = ""
) -> str:
    """The whole page."""
    parts = [
        f"# {title}",
        *([made_by] if made_by else []),
        _setting(comparison),
        "## In words",
        "\n".join(f"- {line}" for line in in_words(comparison)),
        "## Counts",
        counts(comparison),
        "## How functions failed",
        failures(comparison),
        *defects(trials),
        "## Tests",
        tests(comparison),
        "## The best functions",
        *(best(trials, comparison, name) for name in by_initialization(trials)),
    ]
    return "\n\n".join(parts) + "\n"


def _setting(comparison: Comparison) -> str:
    chance = comparison.chance
    return (
        f"{chance.classes} classes, accuracies on {chance.validation_size:,} validation images. A function failed if "
        "its training did not come to its end, or if guessing would reach its accuracy with a probability of more than "
        f"0.001: below {_percent(comparison.threshold)}. Failures count as chance ({_percent(chance.accuracy)}). "
        f"Baseline: ReLU with the default initialization, {_percent(comparison.baseline)} on the same images. (The "
        "paper compares validation accuracies of new functions with ReLU's test accuracy, 89.10 %.)"
    )


def counts(comparison: Comparison) -> str:
    head = ["initialization", "functions", "failed", "failed, paper", "exactly chance or below", "above ReLU",
            "above ReLU, paper", "median", "best"]  # fmt: skip
    rows = []
    for s in comparison.summaries:
        paper = PAPER_COUNTS[s.initialization]
        rows.append([
            NAMES[s.initialization], str(s.functions), _part(s.failures, s.functions),
            _part(paper.failures, PAPER_FUNCTIONS), _part(s.at_chance, s.functions),
            _part(s.above_baseline, s.functions), _part(paper.above_baseline, PAPER_FUNCTIONS),
            _percent(s.median), _percent(s.best),
        ])  # fmt: skip
    return _table(head, rows)


def failures(comparison: Comparison) -> str:
    head = ["cause", *(NAMES[s.initialization] for s in comparison.summaries)]
    rows = [[text, *(str(s.causes.get(cause, 0)) for s in comparison.summaries)] for cause, text in CAUSES.items()]
    return _table(head, [*rows, ["all", *(str(s.failures) for s in comparison.summaries)]])


def defects(trials: Iterable[Trial]) -> list[str]:
    """Exceptions and crashes say less about a function than about the software: each is shown, with its count."""
    found = Counter(
        f"{CAUSES[t.status]}: {last_words(t.message)}".strip(": ") for t in trials if t.status in ("crashed", "error")
    )
    if not found:
        return []
    head = "Exceptions and dead processes count as failures here, but may be defects of the software:"
    return [head, "\n".join(f"- {count} × {text}" for text, count in found.most_common(BEST))]


def tests(comparison: Comparison) -> str:
    """One column for each pair of initializations; notes below."""
    pairs = comparison.contrasts
    if not pairs:
        return "There is one initialization only: nothing to compare."
    papers = [PAPER_TESTS[c.first, c.second] for c in pairs]
    rows = [
        ["Kolmogorov-Smirnov D", *(f"{c.gap.size:.3f}" for c in pairs)],
        ["… paper", *(f"{t.gap:.3f}" for t in papers)],
        ["… p, two-sided", *(_p(c.kolmogorov_smirnov) for c in pairs)],
        ["… p of the paper's D with 200 and 200 functions", *(_number(t.gap_p) for t in papers)],
        ["Epps-Singleton p, two-sided", *(_p(c.epps_singleton) for c in pairs)],
        ["… paper", *(t.epps_singleton or "not given" for t in papers)],
        ["Mann-Whitney U p, one-sided", *(_p(c.mann_whitney) for c in pairs)],
        ["… paper", *(t.mann_whitney or "not given" for t in papers)],
        ["probability that the second is better", *(f"{c.better:.3f}" for c in pairs)],
        ["second at least as good at every level", *("yes" if c.dominates else "no" for c in pairs)],
        ["Wilcoxon p, same functions, one-sided", *(_p(c.wilcoxon) for c in pairs)],
        ["failures avoided by the second, 95 % interval", *(_change(c) for c in pairs)],
        ["McNemar p, same functions, two-sided", *(_p(c.failures.mcnemar) for c in pairs)],
    ]
    head = ["", *(f"{NAMES[c.first]} → {NAMES[c.second]}" for c in pairs)]
    return "\n\n".join([_table(head, rows), *_notes(comparison)])


def _notes(comparison: Comparison) -> list[str]:
    shared = all(c.failures.shared for c in comparison.contrasts)
    notes = [
        "One-sided tests ask whether the second initialization is better. "
        + ("The same functions were trained with each initialization: Wilcoxon's and McNemar's tests compare every "
           "function with itself, and are the ones to look at; the others take the samples for independent and are "
           "too cautious here." if shared else
           "The functions differ between initializations: the tests of independent samples are the ones to look at."),
        "The paper takes the Mann-Whitney test to show that the second is better at every level of accuracy. It does "
        "not: that row is read from the distributions directly. With 200 and 200 functions D is a multiple of 0.005, "
        "so not all functions can have entered the paper's 0.191 and 0.122.",
    ]  # fmt: skip
    remarks = {
        f"{NAMES[c.first]} → {NAMES[c.second]}, {test.test}: {test.note.rstrip('.')}."
        for c in comparison.contrasts
        for test in (c.kolmogorov_smirnov, c.epps_singleton, c.mann_whitney, c.wilcoxon, c.failures.mcnemar)
        if test.note
    }
    return [*notes, "\n".join(f"- {remark}" for remark in sorted(remarks))] if remarks else notes


def best(trials: Sequence[Trial], comparison: Comparison, initialization: str, count: int = BEST) -> str:
    """The best functions of one initialization, with what they reach under the others."""
    groups = by_initialization(trials)
    chance, found = comparison.chance, best_trials(groups[initialization], comparison.chance, count)
    others = [name for name in groups if name != initialization]
    known = {name: {t.key: chance.counted(t) for t in groups[name]} for name in others}
    rows = []
    for k, trial in enumerate(found):
        elsewhere = [_percent(known[name][trial.key]) if trial.key in known[name] else "" for name in others]
        formula = trial.function_formula.replace("|", "\\|")
        rows.append([str(k + 1), _percent(chance.counted(trial)), *elsewhere, f"`{formula}`"])
    head = ["", NAMES[initialization], *(f"with {NAMES[name]}" for name in others), "function"]
    return f"### {NAMES[initialization]}\n\n" + (_table(head, rows) if rows else "Every function failed.")


def in_words(comparison: Comparison) -> list[str]:
    """Whether the paper's ordering is found again, pair by pair; computed from the numbers."""
    lines = [line for c in comparison.contrasts for line in (_failures_in_words(c), _ranks_in_words(c))]
    summaries = comparison.summaries
    if len(summaries) < len(PAPER_COUNTS):
        return [*lines, "Not all three initializations were tried: the paper's ordering cannot be judged as a whole."]
    sizes = [s.functions for s in summaries]
    if len(set(sizes)) > 1:
        lines.append(f"The initializations were tried with {_list(sizes)} functions: the order is that of fractions.")
    papers = [PAPER_COUNTS[s.initialization] for s in summaries]
    failed, above = [s.failures for s in summaries], [s.above_baseline for s in summaries]
    lines.append(_ordering("failures", failed, sizes, [p.failures for p in papers]))
    lines.append(_ordering("functions above ReLU", above, sizes, [p.above_baseline for p in papers]))
    return lines


def _ordering(what: str, ours: Sequence[int], sizes: Sequence[int], papers: Sequence[int]) -> str:
    """Of every two initializations: +1 if they are ordered as in the paper, −1 if the other way round, 0 if equal."""
    signs = [
        _sign(ours[a] * sizes[b] - ours[b] * sizes[a]) * _sign(papers[a] - papers[b])
        for a in range(len(ours))
        for b in range(a)
    ]
    verdict = (
        "the same order as in the paper" if min(signs) > 0
        else "not the paper's order" if min(signs) < 0
        else "the paper's order, but with ties" if max(signs) > 0
        else "no difference, unlike the paper"
    )  # fmt: skip
    order = ", ".join(NAMES[name] for name in PAPER_COUNTS)
    return f"Number of {what} ({order}): {_list(ours)} here, {_list(papers)} in the paper: {verdict}."


def _failures_in_words(c: Contrast) -> str:
    change, second, first = c.failures, NAMES[c.second], NAMES[c.first]
    if change.difference == 0:
        return f"{second} and {first} fail equally often; the paper finds fewer failures with {second}."
    how = f"{change.difference} fewer failures with {second} than with {first}, as in the paper"
    if change.difference < 0:
        how = f"{-change.difference} MORE failures with {second} than with {first}, against the paper"
    chance = "this may be chance" if change.low <= 0 <= change.high else "more than chance explains"
    return f"{how}; 95 % interval of the difference {_interval(c)}: {chance}."


def _ranks_in_words(c: Contrast) -> str:
    """Both directions of the one-sided test are judged: p near one means that the first is better."""
    test = c.wilcoxon if c.failures.shared else c.mann_whitney
    second, first = NAMES[c.second], NAMES[c.first]
    if test.p is None:
        return f"Accuracies with {second} and {first} cannot be compared: {test.note}."
    name = test.test.split(",")[0]
    if test.p < SIGNIFICANT:
        return f"Accuracies are higher with {second} than with {first}, as in the paper ({name} p {_equals(test.p)})."
    if test.p > 1 - SIGNIFICANT:
        return f"Accuracies are LOWER with {second} than with {first}, against the paper ({name} p {_equals(test.p)})."
    return f"Accuracies with {second} and {first} do not differ significantly ({name} p {_equals(test.p)})."


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _list(values: Iterable[int]) -> str:
    return ", ".join(map(str, values))


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _part(count: int, whole: int) -> str:
    return f"{count} ({100 * count / whole:.1f} %)"


def _number(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else "> 0.999" if p > 0.999 else f"{p:.2g}"


def _equals(p: float) -> str:
    return text if (text := _number(p))[0] in "<>" else f"= {text}"


def _p(test: Significance) -> str:
    return "not computable" if test.p is None else _number(test.p)


def _interval(c: Contrast) -> str:
    return f"{c.failures.low:.0f} to {c.failures.high:.0f}"


def _change(c: Contrast) -> str:
    text = f"{c.failures.difference} ({_interval(c)})"
    return f"{text}: {c.failures.avoided} avoided, {c.failures.added} added" if c.failures.shared else text


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
