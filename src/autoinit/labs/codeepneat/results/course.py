"""The course of one search: what figures, pages and statistics need of its folder, and nothing else.

Plain data there and back, so that it can be kept where the folder is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from ...evolution import Journal
from .. import history
from ..evaluation import DONE, TEST
from ..network import NetworkGenome
from ..problems import TaskError
from ..report import networks, report

SHOWN = 3
"""How many of the preserved networks a course keeps."""

ROUNDING = 1e-9

Counts = tuple[tuple[str, int], ...]
"""Names and how often each was there."""


@dataclass(frozen=True)
class Stage:
    """One generation.

    networks: key and fitness of each assembled network.
    failures: how networks ended that did not come to their end.
    blueprint_species, module_species: number and size of each.
    activations, schemes: genes of the modules' layers, by their value.
    """

    number: int
    networks: tuple[tuple[str, float], ...]
    failures: Counts = ()
    blueprint_species: Counts = ()
    module_species: Counts = ()
    activations: Counts = ()
    schemes: Counts = ()

    @property
    def fitness(self) -> tuple[float, ...]:
        return tuple(value for _, value in self.networks)

    @property
    def best(self) -> float:
        return max(self.fitness)

    @property
    def mean(self) -> float:
        return fmean(self.fitness)

    @property
    def failed(self) -> int:
        return sum(count for _, count in self.failures)

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.number, "networks": [list(pair) for pair in self.networks],
            **{name: [list(pair) for pair in getattr(self, name)] for name in COUNTED},
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Stage:
        pairs = {name: tuple((str(key), int(count)) for key, count in data[name]) for name in COUNTED}
        return cls(int(data["number"]), tuple((str(key), float(f)) for key, f in data["networks"]), **pairs)


COUNTED = ("failures", "blueprint_species", "module_species", "activations", "schemes")


@dataclass(frozen=True)
class Shown:
    """A preserved network, its fitness, and the generation that it comes from."""

    network: NetworkGenome
    fitness: float
    generation: int

    def to_dict(self) -> dict[str, Any]:
        return {"network": self.network.to_dict(), "fitness": self.fitness, "generation": self.generation}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Shown:
        return cls(NetworkGenome.from_dict(data["network"]), float(data["fitness"]), int(data["generation"]))


@dataclass(frozen=True)
class Course:
    """networks: the best preserved ones, best first.
    test: scores of the best after it was trained again; None while the search goes on.
    score: which of them is the fitness of the task.
    seconds, trainings, initialization_share: what it took, in seconds of one worker.
    """

    task: str
    preset: str
    initialization: str
    seed: int
    stages: tuple[Stage, ...]
    networks: tuple[Shown, ...] = ()
    test: tuple[tuple[str, float], ...] | None = None
    score: str = "accuracy"
    seconds: float = 0.0
    trainings: int = 0
    initialization_share: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.task} ({self.preset}), {self.initialization}, seed {self.seed}"

    @property
    def best_so_far(self) -> tuple[float, ...]:
        """The highest fitness of each generation and all before it."""
        return tuple(accumulate((stage.best for stage in self.stages), max))

    @property
    def means(self) -> tuple[float, ...]:
        """The mean fitness of each generation."""
        return tuple(stage.mean for stage in self.stages)

    @property
    def drops(self) -> tuple[float, ...]:
        """How far the mean fitness fell from each generation to the next; 0 where it did not (but for rounding)."""
        falls = (before - after for before, after in pairwise(self.means))
        return tuple(fall if fall > ROUNDING else 0.0 for fall in falls)

    @property
    def mean_drop(self) -> float | None:
        """None for a single generation."""
        return fmean(self.drops) if self.drops else None

    @property
    def tested(self) -> float | None:
        """The score of the test that is the task's fitness."""
        return dict(self.test or ()).get(self.score)

    def upto(self, generations: int) -> Course:
        """Its first generations; the test belongs to the whole."""
        return self if generations >= len(self.stages) else replace(self, stages=self.stages[:generations], test=None)

    def to_dict(self) -> dict[str, Any]:
        return {
            "task": self.task, "preset": self.preset, "initialization": self.initialization, "seed": self.seed,
            "stages": [stage.to_dict() for stage in self.stages], "networks": [one.to_dict() for one in self.networks],
            "test": None if self.test is None else dict(self.test), "score": self.score, "seconds": self.seconds,
            "trainings": self.trainings, "initialization_share": self.initialization_share,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Course:
        try:
            return cls(
                str(data["task"]), str(data["preset"]), str(data["initialization"]), int(data["seed"]),
                tuple(map(Stage.from_dict, data["stages"])), tuple(map(Shown.from_dict, data["networks"])),
                None if data["test"] is None else tuple(data["test"].items()), str(data["score"]),
                float(data["seconds"]), int(data["trainings"]), float(data["initialization_share"]),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise TaskError("this is not the course of a search", where="Course.from_dict", received=repr(data)[:120],
                            fix="what Course.to_dict() gave") from error  # fmt: skip

    @classmethod
    def read(cls, folder: Path | str) -> Course:
        """Of the folder of a run, which may be going on."""
        place = Path(folder)
        told, generations = report(place), history.read(place)
        result, times = told["result"], told["times"]
        return cls(
            str(told["task"]), str(told["preset"]), str(told["initialization"]), int(told["seed"] or 0),
            tuple(map(_stage, generations)),
            tuple(Shown(*found) for found in networks(place, SHOWN)),
            None if result is None else tuple(result["test"].items()),
            _score(place), times["seconds"], times["trainings"], times["initialization_share"],
        )  # fmt: skip


def _stage(told: Mapping[str, Any]) -> Stage:
    layers = [node for member in told["modules"]["members"] for node in member["genome"]["nodes"]]
    return Stage(
        told["generation"],
        tuple((one["key"], one["fitness"]) for one in told["networks"]),
        _counts(one["status"] for one in told["networks"] if one["status"] != DONE),
        _sizes(told["blueprints"]["species"]),
        _sizes(told["modules"]["species"]),
        _counts(node["activation"] for node in layers if "activation" in node),
        _counts(node["initialization"] for node in layers if "initialization" in node),
    )


def _counts(names: Iterable[str]) -> Counts:
    return tuple(sorted(Counter(names).items()))


def _sizes(species: Sequence[Mapping[str, Any]]) -> Counts:
    return tuple((str(one["number"]), len(one["members"])) for one in species)


def _score(folder: Path) -> str:
    """The first score of a training that equals its fitness; "accuracy" if there is none."""
    for key, record in Journal.read(folder / history.JOURNAL).records.items():
        value = record.outcome.value or {}
        found = [name for name, one in value.get("validation", {}).items() if one == value.get("fitness")]
        if found and not key.startswith(TEST):
            return str(found[0])
    return "accuracy"
