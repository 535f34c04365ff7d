"""The networks of the contest: size, task, optimizer, learning rates, and the names of what ends their branches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from autoinit.labs.training import Recipe

from .models import GPT2
from .tasks import Task


@dataclass(frozen=True)
class Network:
    """endings: a pattern of the names of the weights that end residual branches, empty where there are none."""

    name: str
    task: Task
    model: str
    recipe: Recipe
    rates: tuple[float, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    endings: str = ""

    def recipe_at(self, rate: float) -> Recipe:
        return replace(self.recipe, learning_rate=rate)


LADDER = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)


def five(smallest: float) -> tuple[float, ...]:
    """Five rates of the ladder."""
    first = LADDER.index(smallest)
    return LADDER[first : first + 5]


IMAGES = Task("cifar10", 20_000, 1_000, 1_000, side=16)
HANDWRITTEN = Task("mnist", 20_000, 1_000, 1_000, side=7)
LARGER = Task("cifar10", 10_000, 1_000, 1_000, side=32)
NOISY = Task("denoising", 10_000, 1_000, 1_000, side=16, noise=1.0)
COMMENTS = Task("toxicity", 16_000, 1_000, 1_000, length=32, vocabulary=1_000)
CHARACTERS = Task("characters", 20_000, 400, 400, length=48, vocabulary=64)
PEOPLE = Task("adult", 28_000, 5_000, 5_000)

ADAMW = Recipe(batch_size=32, steps=220, optimizer="adamw", weight_decay=0.05, schedule="cosine", warmup=0.1)
ADAM = replace(ADAMW, weight_decay=0.0)
SGD = replace(ADAMW, optimizer="sgd", momentum=0.9, weight_decay=1e-4)

ENCODER = r"layers\.\d+\.(self_attn\.out_proj|linear2)\.weight"
DECODER = r"blocks\.\d+\.(attention\.project|mlp\.down)\.weight"
SMALL_ENCODER = {"width": 64, "depth": 4, "heads": 4}
SMALL_GPT = {"width": 48, "depth": 4, "heads": 4}
TEXT = replace(ADAMW, batch_size=24)
NEXT = replace(ADAMW, batch_size=16, steps=250)

NETWORKS = (
    Network("Pre-norm encoder", COMMENTS, "TextEncoder", TEXT, five(3e-4), SMALL_ENCODER, ENCODER),
    Network("Post-norm encoder", COMMENTS, "TextEncoder", TEXT, five(3e-4),
            {**SMALL_ENCODER, "norm_first": False}, ENCODER),
    Network("ViT", IMAGES, "VisionTransformer", ADAMW, five(3e-4),
            {"size": 16, "patch": 4, "width": 64, "depth": 6, "heads": 4},
            r"blocks\.\d+\.(attention\.project|mlp\.2)\.weight"),
    Network("CoAtNet", LARGER, "coatnet", replace(ADAMW, batch_size=24, steps=180), five(3e-4),
            {"image_size": 32, "width": 0.25, "depth": 0.34},
            r"\d+\.(branch\.8|attention\.output|dense\.3)\.weight"),
    Network("Tied GPT with rotary positions", CHARACTERS, "GPT", NEXT, five(1e-3), SMALL_GPT, DECODER),
    Network("Untied GPT with learned positions", CHARACTERS, "GPT", NEXT, five(1e-3),
            {**SMALL_GPT, "tied": False, "rotary": False}, DECODER),
    Network("GPT-2 of transformers", CHARACTERS, GPT2, NEXT, five(1e-3), SMALL_GPT,
            r"model\.transformer\.h\.\d+\.(attn|mlp)\.c_proj\.weight"),
    Network("LSTM", CHARACTERS, "RecurrentLanguageModel", replace(ADAM, steps=250), five(1e-3),
            {"width": 96, "depth": 2}),
    Network("ConvNeXt", LARGER, "convnext", replace(ADAMW, batch_size=24), five(1e-3),
            {"depths": (2, 2, 2), "widths": (24, 48, 96)},
            r"\d+\.project\.weight"),
    Network("MLP-Mixer", IMAGES, "MlpMixer", ADAMW, five(3e-4),
            {"size": 16, "patch": 4, "width": 64, "depth": 6}, r"blocks\.\d+\.mix_(tokens|channels)\.2\.weight"),
    Network("U-Net", NOISY, "UNet", ADAMW, five(1e-3), {"norm": False, "widths": (12, 24, 48)}),
    Network("ResNet-29 with batch norm", IMAGES, "preactivation_resnet", replace(SGD, steps=180), five(1e-2),
            {"depth": 29, "width": 8},
            r"\d+\.branch\.6\.weight"),
    Network("ResNet-50 without norm", HANDWRITTEN, "preactivation_resnet", replace(SGD, batch_size=64, steps=180),
            five(1e-3),
            {"depth": 50, "width": 8, "norm": False, "bottleneck": False}, r"\d+\.branch\.2\.weight"),
    Network("Plain CNN of 20 layers", HANDWRITTEN, "plain_cnn", replace(SGD, batch_size=64), five(3e-3),
            {"activation": "gelu", "depth": 20, "width": 16}),
    Network("All-CNN-C", IMAGES, "all_cnn_c", replace(SGD, steps=350), five(1e-3),
            {"width": 24, "dropout": 0.0, "input_dropout": None}),
    Network("MLP of 20 layers", PEOPLE, "mlp", replace(SGD, batch_size=64, steps=1_200), five(3e-3),
            {"width": 64, "depth": 20}),
)  # fmt: skip
"""A training takes 6 to 13 core-seconds. Rates were chosen so that the best one of most initializations lies inside, by
a few trainings of each network with seed 0 under some of the default, Glorot uniform and LSUV. Two networks without
norm learn small handwritten digits: on CIFAR-10 the residual one stayed at guessing under LSUV and LeCun uniform.
"""
