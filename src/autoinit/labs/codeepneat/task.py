"""A task: what networks read and answer, what they may be made of, and how good one of them is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from ...errors import OptionError
from .network import Input, NetworkGenome, Output
from .presets import Preset
from .space import Space


class Task(ABC):
    """The base of tasks of one's own; for labelled arrays `Supervised` does most of it.

    worst: the fitness of a network that cannot be built, diverges or exceeds its limits. Higher fitness is better, and
        no network has less.
    needs: names of the data sets (of `autoinit.labs.data`) that it reads, to be listed.
    """

    title: ClassVar[str] = ""
    worst: ClassVar[float] = 0.0
    needs: ClassVar[tuple[str, ...]] = ()

    def __init__(self, preset: Preset) -> None:
        self.preset = preset

    @classmethod
    @abstractmethod
    def presets(cls) -> Mapping[str, Preset]:
        """The sizes in which the task can be searched, by name."""

    @property
    @abstractmethod
    def input(self) -> Input:
        """What networks read."""

    @property
    @abstractmethod
    def outputs(self) -> tuple[Output, ...]:
        """What networks answer."""

    @abstractmethod
    def space(self) -> Space:
        """What networks are made of."""

    @abstractmethod
    def train(
        self, genome: NetworkGenome, initialization: str, *, seed: int, test: bool = False, device: str = "cpu"
    ) -> Mapping[str, Any]:
        """Build, initialize and train one network, and judge it.

        Returns plain data with "fitness", judged on what is not trained on; with "diverged": True if it did. `test`
        asks for scores on the test part as well, under "test". All randomness comes from `seed`.
        """

    @classmethod
    def settled(cls, preset: Preset, seed: int) -> Preset:
        """The preset as a search with this seed uses and records it: for data that depends on the seed."""
        return preset

    @classmethod
    def preset_of(cls, name: str) -> Preset:
        presets = cls.presets()
        if name not in presets:
            raise OptionError(f"unknown preset '{name}'", where=f"task {cls.__name__}", received=repr(name),
                              fix=f"one of {', '.join(presets)}")  # fmt: skip
        return presets[name]
