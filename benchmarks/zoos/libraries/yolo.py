"""ultralytics: every family of its model files, at scale n where there are scales."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import Tensor, nn

from autoinit import Input

from ..entry import Entry
from .declare import entry

SIZE, LARGER, BATCH = 160, 192, 4
"""Models with strides up to 64 take the larger images."""
KINDS = {
    "DetectionModel": (
        "yolov3", "yolov3-spp", "yolov3-tiny", "yolov5n", "yolov5n-p6", "yolov6n", "yolov8n", "yolov8n-p2",
        "yolov8n-p6", "yolov8n-ghost", "yolov8n-ghost-p2", "yolov8n-ghost-p6", "yolov9t", "yolov9s", "yolov9m",
        "yolov9c", "yolov10n", "yolov10s", "yolov10m", "yolov10b", "yolo11n", "yolo12n", "yolo26n", "yolo26n-p2",
        "yolo26n-p6",
    ),
    "SegmentationModel": ("yolov8n-seg", "yolov8n-seg-p6", "yolov9c-seg", "yolo11n-seg", "yolo12n-seg", "yolo26n-seg"),
    "PoseModel": ("yolov8n-pose", "yolov8n-pose-p6", "yolo11n-pose", "yolo12n-pose", "yolo26n-pose"),
    "OBBModel": ("yolov8n-obb", "yolo11n-obb", "yolo12n-obb", "yolo26n-obb"),
    "ClassificationModel": ("yolov8n-cls", "yolo11n-cls", "yolov8-cls-resnet50", "yolo12n-cls",
                            "yolo26n-cls"),
    "SemanticSegmentationModel": ("yolo26n-sem",),
    "DepthModel": ("yolo26n-depth",),
    "RTDETRDetectionModel": ("rtdetr-l", "rtdetr-resnet50", "yolov8n-rtdetr"),
    "WorldModel": ("yolov8n-world", "yolov8n-worldv2"),
    "YOLOEModel": ("yoloe-v8n", "yoloe-11n", "yoloe-26n"),
    "YOLOESegModel": ("yoloe-v8n-seg", "yoloe-11n-seg", "yoloe-26n-seg"),
}  # fmt: skip
"""Class of `ultralytics.nn.tasks` -> its model files."""
CLASSES = 80


class Prompted(nn.Module):
    """A model that is asked for classes by their embeddings."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor, prompts: Tensor) -> Any:
        return self.model.predict(images, tpe=prompts)  # type: ignore[operator]


def make(kind: str, file: str, tasks: Any) -> nn.Module:
    model: nn.Module = getattr(tasks, kind)(f"{file}.yaml", ch=3, verbose=False).train()
    return Prompted(model) if kind.startswith("YOLOE") else model


def declared(kind: str, file: str) -> Entry:
    size = LARGER if file.endswith("p6") else SIZE
    images: Any = (BATCH, 3, size, size)
    inputs = (images, Input((BATCH, CLASSES, 512))) if kind.startswith("YOLOE") else images
    return entry("ultralytics", "ultralytics.nn.tasks", file, kind, partial(make, kind, file), inputs)


ENTRIES = [declared(kind, file) for kind, files in KINDS.items() for file in files]
