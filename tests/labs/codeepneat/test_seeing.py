"""From the folders of runs to courses, figures, pages and the commands that make them."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autoinit.errors import OptionError
from autoinit.labs.codeepneat import TaskError, run
from autoinit.labs.codeepneat.command import app
from autoinit.labs.codeepneat.drawings import figures
from autoinit.labs.codeepneat.page import page
from autoinit.labs.codeepneat.page.charts import of_errors, ticks
from autoinit.labs.codeepneat.report import report
from autoinit.labs.codeepneat.results import Course, courses, folders_in
from tests.labs.codeepneat.made_up import course
from tests.labs.codeepneat.toy_tasks import Quiet


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two arms, two seeds."""
    folder = tmp_path_factory.mktemp("runs")
    for arm in ("evolved", "autoinit"):
        for seed in range(2):
            run(Quiet, folder / f"{arm}-{seed}", preset="smoke", initialization=arm, seed=seed, engine="serial",
                progress=False)  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def one(runs: Path) -> Course:
    return Course.read(runs / "autoinit-0")


def test_a_course_is_what_the_folder_says(runs: Path, one: Course) -> None:
    told = report(runs / "autoinit-0")
    rows = told["generations"]
    assert [stage.best for stage in one.stages] == [row["best"] for row in rows]
    assert one.best_so_far == tuple(row["best_so_far"] for row in rows)
    assert one.means == pytest.approx([row["mean"] for row in rows])
    assert [[size for _, size in stage.module_species] for stage in one.stages] == [r["module_species"] for r in rows]
    assert one.test == (("accuracy", 0.5),) and one.tested == 0.5 and len(one.networks) == 3
    assert one.trainings == told["times"]["trainings"]
    history = json.loads((runs / "autoinit-0" / "history.jsonl").read_text().splitlines()[0])
    nodes = [node for member in history["modules"]["members"] for node in member["genome"]["nodes"]]
    relu = sum(node.get("activation") == "relu" for node in nodes)
    assert dict(one.stages[0].activations).get("relu", 0) == relu
    assert sum(count for _, count in one.stages[0].schemes) == sum("initialization" in node for node in nodes)


def test_courses_are_plain_data(one: Course) -> None:
    assert Course.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    with pytest.raises(TaskError, match="not the course of a search"):
        Course.from_dict({"task": "adult"})


def test_folders(runs: Path, tmp_path: Path) -> None:
    assert len(folders_in([runs, runs / "evolved-0"])) == 4
    with pytest.raises(TaskError, match="there is no search here"):
        folders_in([tmp_path])


def test_a_search_that_goes_on(tmp_path: Path) -> None:
    run(Quiet, tmp_path, preset="smoke", generations=2, engine="serial", progress=False)
    (tmp_path / "result.json").unlink()
    found = Course.read(tmp_path)
    assert found.test is None and found.tested is None and "not yet" in page(found)


def test_figures(runs: Path, tmp_path: Path) -> None:
    found = courses([runs])
    names = figures.write(found, tmp_path / "deep" / "folder")
    assert names == [f"{name}.png" for name in ("performance", "population", "species", "choices", "networks")]
    assert all((tmp_path / "deep" / "folder" / name).stat().st_size > 5_000 for name in names)
    drawn = figures.performance(found).axes[0]
    lines = {line.get_label(): list(line.get_ydata()) for line in drawn.lines}
    middle = [sum(c.best_so_far[k] for c in found if c.initialization == "autoinit") / 2 for k in range(4)]
    assert set(lines) == {"evolved", "AutoInit"} and lines["AutoInit"] == pytest.approx(middle)
    with pytest.raises(OptionError, match="no run to draw"):
        figures.performance([])


def test_ranges_over_seeds() -> None:
    three = [course("autoinit", seed, [[0.1 * seed], [0.5 + 0.1 * seed]]) for seed in range(3)]
    found = figures.spread(three, lambda c: c.means)
    assert found == [pytest.approx((0.0, 0.1, 0.2)), pytest.approx((0.5, 0.6, 0.7))]
    drawn = figures.population([*three, course("evolved", 0, [[0.5], [0.3]])])
    bars = [patch.get_width() for patch in drawn.axes[1].patches]
    assert bars == pytest.approx([0.0, 20.0]), "AutoInit below, and twenty points for the one that falls"


def test_genes_are_shown_where_they_decide(runs: Path) -> None:
    """Every arm has genes of initialization; only in one of them do layers begin as they say."""

    def titles(found: list[Course]) -> list[str]:
        return [axis.get_title() for axis in figures.choices(found).axes if axis.get_visible()]

    found = courses([runs])
    assert sum(": activations" in title for title in titles(found)) == 2
    told = [title for title in titles(found) if "initializations" in title]
    assert [title.rpartition(", ")[2] for title in told] == ["evolved: initializations"]
    assert not any("initializations" in title for title in titles([c for c in found if c.initialization != "evolved"]))
    for one in found:
        assert ("Initialization genes" in page(one)) == (one.initialization == "evolved")


def test_shares_over_time() -> None:
    made = [course("autoinit", 0, [[0.1], [0.2], [0.3]])]
    x, shares = figures.shares_over_time(made, lambda stage: stage.activations, ["elu", "relu"])
    assert x == [0, 1, 2]
    assert shares["elu"] == pytest.approx([1 / 2, 1 / 3, 1 / 4])
    assert shares["relu"] == pytest.approx([1 / 2, 2 / 3, 3 / 4])


class Tags(HTMLParser):
    """Every tag is closed, and no script or address is there."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name == "src"]
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_one_small_file(one: Course) -> None:
    text = page(one)
    tags = Tags()
    tags.feed(text)
    assert tags.open == [] and "script" not in tags.seen and {"svg", "table", "details"} <= tags.seen
    assert "http" not in text.replace("http-equiv", "") and len(text) < 200_000
    assert "--seed 0 --generations 4" in text and text.count("<article>") == 3
    assert page(one) == text


def test_names_on_the_page_are_escaped(one: Course) -> None:
    evil = "<script>alert(1)</script>\u202e"
    stage = replace(one.stages[0], activations=((evil, 3),), failures=((evil, 1),))
    text = page(replace(one, task=evil, preset=evil, initialization=evil, score=evil, stages=(stage, *one.stages[1:])))
    assert "<script" not in text and "\u202e" not in text and "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e" in text


@pytest.mark.parametrize(
    "values", [[[0.0, 0.0]], [[1.0], [1.0]], [[0.5, 0.5], [0.5, 0.5]], [[0.1, 1.0]], [[-3.0, -1.0], [2.0, 7.5]]]
)
def test_pages_of_odd_fitness(values: list[list[float]]) -> None:
    text = page(course("autoinit", 0, values))
    body = text.partition("<body>")[2]
    assert "nan" not in body and "inf" not in body and '<path class="dot" d="M' in body


def test_axes() -> None:
    assert ticks(0, 1) == [0, 0.5, 1] and ticks(0, 100) == [0, 50, 100] and ticks(0.87, 0.93) == [0.88, 0.9, 0.92]
    scale = of_errors(0.1, 0.99)
    assert scale.of(0.9) - scale.of(0.8) == pytest.approx(1) and scale.of(0.98) - scale.of(0.96) == pytest.approx(1)
    assert scale.low < scale.of(0.1) and scale.of(0.99) < scale.high and 2 <= len(scale.marks) <= 7


def test_commands(runs: Path, tmp_path: Path) -> None:
    def told(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, list(words))
        assert result.exit_code == code, result.output
        return result.output

    assert "best fitness" in told("compare", str(runs)) and "seeds: 2 and 2" in told("compare", str(runs))
    assert json.loads(told("compare", str(runs), "--json", "-"))["contrasts"][0]["second"] == "autoinit"
    told("page", str(runs / "evolved-1"), "-o", str(tmp_path / "a.html"))
    assert "evolved initializations" in (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "page.html" in told("page", str(runs / "evolved-1")) and (runs / "evolved-1" / "page.html").is_file()
    assert "networks.png" in told("figures", str(runs / "evolved-1"), "--out", str(tmp_path / "figures"))
    assert "there is no search here" in told("figures", str(tmp_path / "none"), code=2)
    assert "compared within a task" in told("compare", str(runs / "evolved-0"), code=2)
