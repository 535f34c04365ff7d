"""Haiku: the networks that come with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..zoos.entry import Entry
from .declare import CLASSES, IMAGES, entry


def build(name: str, options: dict[str, Any], training: bool) -> Any:
    import haiku as hk

    def call(x: Any, is_training: bool = True) -> Any:
        net = getattr(hk.nets, name)(**options)
        return net(x, is_training=is_training) if training else net(x)

    plain: Callable[..., Any] = call if training else lambda x: call(x)
    return hk.transform_with_state(plain) if training else hk.transform(plain)


def model(called: str, name: str, family: str, inputs: Any = IMAGES, training: bool = True, **options: Any) -> Entry:
    return entry("haiku", called, family, partial(build, name, options, training), inputs)


ENTRIES: list[Entry] = [
    model("resnet18", "ResNet18", "ResNet", num_classes=CLASSES),
    model("resnet18-v2", "ResNet18", "ResNet v2", num_classes=CLASSES, resnet_v2=True),
    model("mobilenet-v1", "MobileNetV1", "MobileNet", num_classes=CLASSES),
    model("mlp", "MLP", "MLP", (64, 100), False, output_sizes=[300, 100, 10]),
]
