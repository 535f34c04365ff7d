"""A search with its evaluations in parallel, its journal, and its end.

A generation begins when all networks of the one before have ended, so that nothing depends on who was first. Every
finished training is a line of the journal at once. A run that is begun again repeats the search from the seed, takes
from the journal what was trained already, and trains the rest: it is the same search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from ...core.files import replace_text
from ...errors import OptionError
from ..evolution import Engine, Job, Journal, Outcome
from ..evolution.encoding import encode
from ..evolution.progress import Silent, watcher
from ..evolution.running import keep_busy, starter
from . import history
from .archive import Preserved
from .evaluation import WORK, fitness_of, job, status_of
from .finding import check_importable, loaded, name_of, task_class
from .initialization import known_initialization
from .network import NetworkGenome
from .presets import Preset
from .problems import TaskError
from .search import Generation, Search, checked_seed
from .task import Task


@dataclass(frozen=True)
class Result:
    """best: the preserved network of the highest fitness; test: its scores after it was trained again from scratch."""

    folder: Path
    generations: tuple[Generation, ...]
    preserved: tuple[Preserved, ...]
    test: Mapping[str, Any]

    @property
    def best(self) -> Preserved:
        return self.preserved[0]


def run(
    task: str | type[Task],
    folder: Path | str,
    *,
    preset: str | Preset = "cpu",
    initialization: str = "autoinit",
    seed: int = 0,
    generations: int | None = None,
    engine: str | type[Engine] = "processes",
    workers: int = 2,
    device: str = "cpu",
    progress: bool = True,
) -> Result:
    """Search for networks, and test the best of them; goes on where the folder's journal ends.

    task: a name, "package.module:Class", or the class itself.
    initialization: "evolved", "autoinit", "autoinit-paper", or any other name of `autoinit.baselines`.
    generations: instead of the preset's number; a search that has ended goes on with more.
    """
    name = name_of(task)
    check_importable(name, engine if isinstance(engine, str) else "")
    size = preset if isinstance(preset, Preset) else task_class(name).preset_of(preset)
    known_initialization(initialization)
    number = size.evolution.generations if generations is None else generations
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise OptionError("'generations' takes a positive integer", where="run", received=repr(number),
                          fix="generations=10")  # fmt: skip
    size = task_class(name).settled(size, checked_seed(seed))
    start = starter(engine, WORK, workers, size.limits, 1)
    chosen = loaded(name, size)
    search = Search(
        chosen.space(), size.evolution, chosen.input, chosen.outputs, seed=seed, worst=chosen.worst
    )  # fmt: skip
    target = Path(folder)
    config = _config(name, size, initialization, seed, device, search)
    title = f"{name} {initialization}"
    with Journal(target / history.JOURNAL, config) as book, watcher(progress, title, None) as show, Lazily(start) as at:
        work = Work(book, show, at)

        def trained(genome: NetworkGenome, after: int | None = None) -> Job:
            return job(genome, name, size, initialization, seed=seed, device=device, after=after)

        done: list[Generation] = []
        lines: list[str] = []
        for _ in range(number):
            show.title = _told(title, search, number, done)
            networks = search.networks
            more = (number - search.number - 1) * size.evolution.networks + 1
            outcomes = work.outcomes({key: trained(one) for key, one in networks.items()}, more)
            statuses = {key: status_of(outcome) for key, outcome in outcomes.items()}
            _refuse_if_nothing_works(search.number, statuses, outcomes, target)
            done.append(search.tell({key: fitness_of(o, chosen.worst) for key, o in outcomes.items()}))
            lines.append(history.line(done[-1], statuses, search.archive))
            replace_text(target / history.HISTORY, "".join(lines))
        preserved = search.archive.networks
        show.title = f"{title}, test of the best"
        last = work.outcomes({"test": trained(preserved[0].network, after=number)}, 0)["test"]
        test = _scores(last)
        replace_text(target / history.RESULT, _result(preserved[0], number, status_of(last), test))
    return Result(target, tuple(done), preserved, test)


class Lazily:
    """An engine that starts with its first job, and serves all generations."""

    def __init__(self, start: Callable[[], Engine]) -> None:
        self._start = start
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        self._engine = self._engine or self._start()
        return self._engine

    def __enter__(self) -> Lazily:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._engine is not None:
            self._engine.close()


class Work:
    """Evaluations through a journal: each of them once, in this run or in an earlier one."""

    def __init__(self, book: Journal, show: Silent, at: Lazily) -> None:
        self.book, self.show, self._at = book, show, at

    def outcomes(self, jobs: Mapping[str, Job], more: int) -> dict[str, Outcome]:
        """How the jobs ended, those that the journal has and the others; `more` are expected after them."""
        missing = {one.key: one for one in jobs.values() if one.key not in self.book.records}
        tally = self.show.tally
        tally.total = tally.done + len(jobs) + more
        for one in jobs.values():
            if one.key not in missing:
                self.show.add(self.book.records[one.key].outcome, fresh=False)

        def finished(outcome: Outcome) -> None:
            self.book.append(outcome, missing[outcome.key].payload)
            self.show.add(outcome)

        if missing:
            waiting: Iterator[Job] = iter(missing.values())
            keep_busy(self._at.engine, waiting, finished, self.show)
        return {key: self.book.records[one.key].outcome for key, one in jobs.items()}


def _config(
    name: str, preset: Preset, initialization: str, seed: int, device: str, search: Search
) -> dict[str, Any]:  # fmt: skip
    """What makes a search what it is; the number of generations is not part of it."""
    size = preset.to_dict()
    del size["evolution"]["generations"]
    return {
        "work": WORK, "task": name, "preset": size, "initialization": initialization, "seed": seed, "device": device,
        "space": search.space.to_dict(), "worst": search.worst,
    }  # fmt: skip


def _told(title: str, search: Search, number: int, done: list[Generation]) -> str:
    told = f"{title}, generation {search.number + 1}/{number}"
    best = search.archive.best
    if not done or best is None:
        return told
    values = done[-1].fitness.values()
    return f"{told}, best {best.fitness:.4f}, mean {sum(values) / len(values):.4f}"


def _refuse_if_nothing_works(
    generation: int, statuses: Mapping[str, str], outcomes: Mapping[str, Outcome], folder: Path
) -> None:
    """That every single network raises an exception is no matter of fitness: the task itself does not work."""
    if generation == 0 and set(statuses.values()) == {"error"}:
        raise TaskError("every network of the first generation raised an exception", where=str(folder),
                        received=next(iter(outcomes.values())).message,
                        fix="mend the task, and begin again in an empty folder")  # fmt: skip


def _scores(outcome: Outcome) -> dict[str, Any]:
    return dict((outcome.value or {}).get("test", {}))


def _result(best: Preserved, generations: int, status: str, test: Mapping[str, Any]) -> str:
    told = {
        "generations": generations, "best": best.network.key, "fitness": best.fitness, "generation": best.generation,
        "test_status": status, "test": test, "network": best.network.to_dict(),
    }  # fmt: skip
    return encode(told) + "\n"
