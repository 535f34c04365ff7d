"""torchvision: classification, segmentation, detection, video and optical flow."""

from __future__ import annotations

import inspect
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from .entry import Entry

BATCH = 4
DETECTED = 160
"""Size of the images for detection."""
FEW_BOXES = {"box_batch_size_per_image": 64, "rpn_pre_nms_top_n_train": 200, "rpn_post_nms_top_n_train": 100}
FAMILIES = {
    "segmentation": "segmentation",
    "detection": "detection",
    "video": "video",
    "optical_flow": "optical flow",
    "quantization": "quantizable",
}
SMALL = (
    "alexnet", "convnext_tiny", "deeplabv3_mobilenet_v3_large", "densenet121", "efficientnet_b0", "efficientnet_v2_s",
    "fasterrcnn_mobilenet_v3_large_320_fpn", "fcn_resnet50", "fcos_resnet50_fpn", "googlenet", "inception_v3",
    "keypointrcnn_resnet50_fpn", "lraspp_mobilenet_v3_large", "maskrcnn_resnet50_fpn", "maxvit_t", "mc3_18",
    "mnasnet0_5", "mobilenet_v2", "mobilenet_v3_small", "mvit_v1_b", "mvit_v2_s", "r2plus1d_18", "r3d_18", "raft_small",
    "regnet_x_400mf", "regnet_y_400mf", "resnet18", "resnet50", "resnext50_32x4d", "retinanet_resnet50_fpn", "s3d",
    "shufflenet_v2_x0_5", "squeezenet1_1", "ssd300_vgg16", "ssdlite320_mobilenet_v3_large", "swin3d_t", "swin_t",
    "swin_v2_t", "vgg11", "vgg11_bn", "vit_b_32", "wide_resnet50_2",
)  # fmt: skip
"""A small member of every family."""
CLIPS = {"s3d": (2, 3, 14, 224, 224), "mvit": (1, 3, 16, 224, 224), "swin3d": (2, 3, 8, 112, 112)}
"""Video models that need other clips than (2, 3, 8, 112, 112)."""


@cache
def library() -> Any:
    import torchvision

    return torchvision


def entries(everything: bool) -> list[Entry]:
    names = library().models.list_models()
    return [entry(name) for name in names if everything or name in SMALL]


def entry(name: str) -> Entry:
    family = family_of(name)
    return Entry(f"torchvision:{name}", family, build=partial(build, name), inputs=inputs_of(name, family))


def family_of(name: str) -> str:
    module = library().models.get_model_builder(name).__module__.split(".")
    return FAMILIES.get(module[2], module[-1])


def inputs_of(name: str, family: str) -> Any:
    if family == "video":
        return next((clip for start, clip in CLIPS.items() if name.startswith(start)), (2, 3, 8, 112, 112))
    if family == "optical flow":
        return ((2, 3, 128, 128), (2, 3, 128, 128))
    if family == "segmentation":
        return (BATCH, 3, 128, 128)
    if family == "detection":
        return (2, 3, DETECTED, DETECTED)
    return (BATCH, 3, 299, 299) if "inception" in name else (BATCH, 3, 224, 224)


def build(name: str) -> nn.Module:
    """The model without any pretrained part."""
    builder = library().models.get_model_builder(name)
    options: dict[str, Any] = {"weights": None}
    for option, value in (("weights_backbone", None), ("init_weights", True)):
        if option in inspect.signature(builder).parameters:
            options[option] = value
    if family_of(name) == "detection":
        if not name.startswith("ssd"):  # which have a size of their own
            options["min_size"] = options["max_size"] = DETECTED
        if "rcnn" in name:
            options |= FEW_BOXES
        return Detector(builder(**options))
    made: nn.Module = builder(**options)
    return made


class Detector(nn.Module):
    """A detection model that is given a batch instead of a list of images, with the same two boxes in every image.

    In training mode detection models need boxes, and return their losses.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Any:
        return self.model(list(images), [self.target(images) for _ in images] if self.training else None)

    def target(self, images: Tensor) -> dict[str, Tensor]:
        size = images.shape[-1]
        boxes = torch.tensor([[0.1, 0.1, 0.5, 0.6], [0.4, 0.3, 0.9, 0.9]]) * size
        masks = torch.zeros(2, size, size, dtype=torch.uint8)
        masks[:, size // 4 : size // 2] = 1
        keypoints = torch.cat([boxes[:, None, :2].expand(2, 17, 2) + 10.0, torch.ones(2, 17, 1)], dim=2)
        return {"boxes": boxes, "labels": torch.ones(2, dtype=torch.int64), "masks": masks, "keypoints": keypoints}
