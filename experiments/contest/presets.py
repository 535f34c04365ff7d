"""Sizes of the contest, and its jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autoinit.labs.evolution import Job

from .job import Run
from .networks import ADAMW, DECODER, NETWORKS, SGD, Network
from .schemes import OURS, SCHEMES
from .tasks import Task


@dataclass(frozen=True)
class Preset:
    networks: tuple[Network, ...]
    schemes: tuple[str, ...] = tuple(SCHEMES)
    seeds: tuple[int, ...] = (10, 11, 12)


DIGITS = Task("digits", 200, 50, 50)
WORDS = Task("made-up characters", 60, 10, 10, length=16, vocabulary=24)
BRIEF = {"steps": 25, "batch_size": 16}
SMALLEST = (
    Network("ViT", DIGITS, "VisionTransformer", replace(ADAMW, **BRIEF), (1e-3, 1e-2),
            {"size": 8, "patch": 4, "width": 8, "depth": 1, "heads": 2},
            r"blocks\.\d+\.(attention\.project|mlp\.2)\.weight"),
    Network("GPT", WORDS, "GPT", replace(ADAMW, **BRIEF), (1e-3, 1e-2), {"width": 8, "depth": 1, "heads": 2}, DECODER),
    Network("ResNet-11 without norm", DIGITS, "preactivation_resnet", replace(SGD, **BRIEF), (0.01, 1e30),
            {"depth": 11, "width": 2, "norm": False}, r"\d+\.branch\.4\.weight"),
)  # fmt: skip
PRESETS = {
    "cpu": Preset(NETWORKS),
    "smoke": Preset(SMALLEST, ("default", "small_normal", OURS), (0,)),
}
"""cpu: seeds 0 to 9 were for choosing sizes and rates, and decide on nothing here.

smoke: the largest rate of the residual network makes it diverge.
"""


def jobs(preset: Preset) -> list[Job]:
    """Seed by seed, so that a third of the run has every network with every initialization and rate once."""
    return [
        Run(
            at={"network": network.name, "scheme": scheme, "rate": network.rates[place], "seed": seed},
            task=network.task,
            model=network.model,
            model_options=network.options,
            endings=network.endings,
            scheme=scheme,
            recipe=network.recipe_at(network.rates[place]),
            seed=seed,
        ).job
        for seed in preset.seeds
        for place in range(max(len(network.rates) for network in preset.networks))
        for scheme in preset.schemes
        for network in preset.networks
        if place < len(network.rates)
    ]
