"""Put the parts of a run's page together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path

from ....core.files import replace_text
from ...evolution.progress import duration
from ..drawings.labels import word
from ..initialization import EVOLVED
from ..results.course import Counts, Course, Shown, Stage
from . import charts
from .markup import legend, safe, table
from .network import drawing, layers

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
BLUEPRINTS = "Species of blueprints"
"""Most searches want a single one: then there is nothing to show."""
Told = Callable[[float], str]


def write(course: Course, path: str | Path) -> None:
    """The page as a file."""
    replace_text(path, page(course))


def page(course: Course) -> str:
    """The page as text."""
    told = _percent if course.score == "accuracy" else _plain
    css = files(__package__).joinpath("page.css").read_text("utf-8")
    arm = "evolved initializations" if course.initialization == EVOLVED else word(course.initialization)
    title = f"{course.task}: architecture search with {arm}"
    subtitle = f"preset {course.preset}, seed {course.seed}, {len(course.stages)} generations"
    body = "".join((_facts(course, told), _fitness(course, told), _choices(course), _networks(course, told),
                    _generations(course, told)))  # fmt: skip
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{safe(title)}</title>\n<style>\n{css}</style>\n</head>\n<body>\n"
        f"<header><h1>{safe(title)}</h1><p>{safe(subtitle)}</p></header>\n<main>\n{body}</main>\n"
        f"<footer>{_command(course)}</footer>\n</body>\n</html>\n"
    )


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _plain(value: float) -> str:
    return f"{value:.4g}"


def _change(value: float, course: Course) -> str:
    """A difference: of accuracies in points of a hundred."""
    return f"{100 * value:.1f} points" if course.score == "accuracy" else _plain(value)


def _facts(course: Course, told: Told) -> str:
    count = sum(len(stage.networks) for stage in course.stages)
    failed = sum(stage.failed for stage in course.stages)
    drops = course.drops
    fell = sum(drop > 0 for drop in drops)
    test = "not yet" if course.test is None else "failed" if course.tested is None else told(course.tested)
    again = ", ".join(f"{name} {value:.4g}" for name, value in course.test or () if name != course.score)
    facts = [
        ("best network", told(course.best_so_far[-1]), f"{course.score} on validation data"),
        ("tested once", test, "trained again from scratch" + (f"; {again}" if again else "")),
        ("networks", f"{count}", f"{failed} failed" if failed else "none failed"),
        ("mean at the end", told(course.means[-1]), f"of the first generation {told(course.means[0])}"),
        ("largest fall of the mean", _change(max(drops, default=0.0), course),
         f"it fell after {fell} of {len(drops)} generations" if drops else "one generation only"),
        ("time of one worker", duration(course.seconds),
         f"{course.trainings} trainings, {100 * course.initialization_share:.1f} % of it to initialize"),
    ]  # fmt: skip
    cards = "".join(
        f'<div class="fact"><span>{safe(name)}</span><b>{safe(value)}</b><span>{safe(more)}</span></div>'
        for name, value, more in facts
    )
    return f'<section class="facts" aria-label="Overview">{cards}</section>\n'


def _fitness(course: Course, told: Told) -> str:
    values = [value for stage in course.stages for value in stage.fitness]
    errors = course.score == "accuracy" and min(values) >= 0 and max(values) <= 1
    wide, narrow = (charts.fitness(course, *size, told, errors=errors) for size in ((1080, 340), (340, 280)))
    marks = [("m-best", "best so far"), ("m-mean", "mean"), ("m-fall", "fall of the mean"), ("m-half", "middle half"),
             ("m-dot", "a network")]  # fmt: skip
    hint = "upwards, each halving of the error is as long" if errors else "higher is better"
    told_so = f'<p class="hint">{safe(course.score)} on validation data; {hint}</p>'
    both = f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>'
    return _section("Fitness", told_so + legend(marks) + both)


def _choices(course: Course) -> str:
    """Species, and what evolution chose."""
    kinds: list[tuple[str, str, Callable[[Stage], Counts], bool, Callable[[str], str]]] = [
        ("Species of modules", "modules in each species", lambda stage: stage.module_species, False, _species),
        (BLUEPRINTS, "blueprints in each species", lambda stage: stage.blueprint_species, False, _species),
        ("Activations", "share of the modules' layers", lambda stage: stage.activations, True, word),
    ]
    if course.initialization == EVOLVED:
        hint = "share of the modules' layers; they decide how layers begin"
        kinds.append(("Initialization genes", hint, lambda stage: stage.schemes, True, word))
    panels = []
    for title, hint, of, share, name_of in kinds:
        names = _names(course.stages, of)
        if names and (title != BLUEPRINTS or len(names) > 1):
            classes = {name: k for k, name in enumerate(names)}
            drawn = charts.stacked(course.stages, of, classes, title, share=share, word=name_of)
            shown = list(classes.items())[: charts.COLOURS]
            keys = legend([(f"s{k % charts.COLOURS}", name_of(name)) for name, k in shown])
            panels.append(_section(title, f'<p class="hint">{safe(hint)}</p>{drawn}{keys}'))
    return f'<div class="grid">{"".join(panels)}</div>\n'


def _species(number: str) -> str:
    return f"species {number}"


def _names(stages: Sequence[Stage], of: Callable[[Stage], Counts]) -> list[str]:
    found = {name for stage in stages for name, _ in of(stage)}
    return sorted(found, key=lambda name: (int(name) if name.isdecimal() else 0, name))


def _networks(course: Course, told: Told) -> str:
    if not course.networks:
        return ""
    cards = "".join(_network(k, one, course, told) for k, one in enumerate(course.networks, 1))
    return f'<section><h2>The best networks</h2><div class="networks">{cards}</div></section>\n'


def _network(rank: int, one: Shown, course: Course, told: Told) -> str:
    settings = ", ".join(
        f"{name.replace('_', ' ')} {value:.3g}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
        for name, value in one.network.settings
        if name != "initialization" or course.initialization == EVOLVED
    )
    facts = f"{told(one.fitness)}, {one.network.parameters:,} parameters, from generation {one.generation}"
    return (
        f'<article><h3>{rank}. {safe(facts)}</h3><p class="hint">{safe(settings)}</p>'
        f"{drawing(one.network, course.initialization)}"
        f"<details><summary>all layers</summary>{layers(one.network)}</details></article>"
    )


def _generations(course: Course, told: Told) -> str:
    head = ("generation", "networks", "best", "mean", "best so far", "change of the mean", "species (B, M)", "failed")
    before = [None, *course.means]
    rows = [
        (stage.number, len(stage.networks), told(stage.best), told(stage.mean), told(so_far),
         "" if last is None else f"{'+' if stage.mean >= last else '−'}{_change(abs(stage.mean - last), course)}",
         f"{len(stage.blueprint_species)}, {len(stage.module_species)}",
         ", ".join(f"{count} {status}" for status, count in stage.failures) or "none")
        for stage, so_far, last in zip(course.stages, course.best_so_far, before, strict=False)
    ]  # fmt: skip
    return _section("Generations", table(head, rows))


def _command(course: Course) -> str:
    command = (
        f"python -m autoinit.labs.codeepneat run FOLDER --task {course.task} --preset {course.preset} "
        f"--initialization {course.initialization} --seed {course.seed} --generations {len(course.stages)}"
    )
    return f"<p>The same search again:</p><code>{safe(command)}</code>"


def _section(title: str, content: str) -> str:
    return f"<section><h2>{safe(title)}</h2>{content}</section>\n"
