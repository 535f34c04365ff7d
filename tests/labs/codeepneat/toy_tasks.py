"""Tasks that need no training; workers import this module by its name."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from autoinit.labs.codeepneat import Evolution, Input, NetworkGenome, Output, Preset, Space, Task, Training
from tests.labs.codeepneat.small_spaces import SETTINGS

EVOLUTION = Evolution(generations=4, blueprints=4, modules=8, evaluations=2, module_species=2, preserved=3)


class Landscape(Task):
    """The nearer to 5,000 parameters the better. A few networks fail, each in its own way, but the same each time."""

    title = "a made-up landscape"
    pause = 0.03

    @classmethod
    def presets(cls) -> Mapping[str, Preset]:
        return {"smoke": Preset("smoke", EVOLUTION, Training())}

    @property
    def input(self) -> Input:
        return SETTINGS["images"].input

    @property
    def outputs(self) -> tuple[Output, ...]:
        return SETTINGS["images"].outputs

    def space(self) -> Space:
        return SETTINGS["images"].space

    def train(
        self, genome: NetworkGenome, initialization: str, *, seed: int, test: bool = False, device: str = "cpu"
    ) -> Mapping[str, Any]:
        time.sleep(self.pause)
        way = int(genome.key[:2], 16)
        if not test and way < 10:
            raise ValueError("cannot be built")
        if not test and way < 20:
            return {"fitness": 0.0, "diverged": True}
        if not test and way < 26:
            os._exit(9)
        score = 1 / (1 + abs(genome.parameters - 5000) / 1000) + (seed % 100) * 1e-6
        return {"fitness": score, "seed": seed, **({"test": {"accuracy": score}} if test else {})}


class Quiet(Landscape):
    """Nothing fails, so that any engine can run it."""

    pause = 0.0

    def train(
        self, genome: NetworkGenome, initialization: str, *, seed: int, test: bool = False, device: str = "cpu"
    ) -> Mapping[str, Any]:
        return {"fitness": 1 / (1 + abs(genome.parameters - 5000) / 1000), "test": {"accuracy": 0.5}}


class Broken(Quiet):
    def train(
        self, genome: NetworkGenome, initialization: str, *, seed: int, test: bool = False, device: str = "cpu"
    ) -> Mapping[str, Any]:
        raise FileNotFoundError("there is no data")


class Slow(Quiet):
    """Networks with an odd number of parameters take longer than they may."""

    @classmethod
    def presets(cls) -> Mapping[str, Preset]:
        return {"smoke": Preset("smoke", EVOLUTION.changed(blueprints=2), seconds=0.5)}

    def train(
        self, genome: NetworkGenome, initialization: str, *, seed: int, test: bool = False, device: str = "cpu"
    ) -> Mapping[str, Any]:
        time.sleep(60 if genome.parameters % 2 and not test else 0)
        return {"fitness": 0.5}


NOT_A_TASK = 3
