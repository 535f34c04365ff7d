"""torchvision's compiled operators, declared and (the two that detection uses) written in PyTorch.

torchvision's wheels are built against one build of PyTorch. Beside another one the compiled library is refused, and
``import torchvision`` (hence timm, transformers and Lightning) ends with "operator torchvision::nms does not exist".
`mend.py` puts this file beside torchvision's own where that is so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

_BOXES = "Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_BACKWARD = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_SIZES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_DEFORMED = (
    "Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, "
    "SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask"
)
SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align({_BOXES}, int sampling_ratio, bool aligned) -> Tensor",
    "qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale, "
    "int rois_zero_point, float spatial_scale, int pooled_height, int pooled_width, int sampling_ratio, bool aligned) "
    "-> Tensor",
    f"_roi_align_backward(Tensor grad, Tensor rois, {_BACKWARD}, {_SIZES}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool({_BOXES}) -> (Tensor, Tensor)",
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_BACKWARD}, {_SIZES}) -> Tensor",
    f"ps_roi_align({_BOXES}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_BACKWARD}, int sampling_ratio, "
    f"{_SIZES}) -> Tensor",
    f"ps_roi_pool({_BOXES}) -> (Tensor, Tensor)",
    f"_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_BACKWARD}, {_SIZES}) -> Tensor",
    f"deform_conv2d(Tensor input, {_DEFORMED}) -> Tensor",
    "_cuda_version() -> int",
    f"_deform_conv2d_backward(Tensor grad, Tensor input, {_DEFORMED}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)


def declare() -> torch.library.Library:
    """The operators; they live as long as the object that is returned."""
    library = torch.library.Library("torchvision", "DEF")
    for schema in SCHEMAS:
        library.define(schema)
    library.impl("nms", nms, "CPU")
    library.impl("roi_align", roi_align, "CPU")
    library.impl("_cuda_version", lambda: -1, "CompositeImplicitAutograd")
    return library


def roi_align(*arguments: Any) -> torch.Tensor:
    """The version in Python that torchvision has of it, not compiled."""
    align: Any = sys.modules["torchvision.ops.roi_align"]._roi_align
    return with_one_sampling(getattr(align, "__wrapped__", align))(*arguments)


def with_one_sampling(roi_align: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Where every box may choose its own number of samples, the version in Python takes all pixels for each: too many.

    Here the largest box chooses for all.
    """

    def aligned_boxes(
        image: torch.Tensor, rois: torch.Tensor, scale: float, height: int, width: int, ratio: int, aligned: bool
    ) -> torch.Tensor:
        if ratio <= 0 and len(rois):
            sides = (rois[:, 3:] - rois[:, 1:3]) * scale / torch.tensor([float(width), float(height)])
            ratio = int(sides.max().clamp(min=1.0).ceil())
        return roi_align(image, rois, scale, height, width, ratio, aligned)

    return aligned_boxes


def nms(dets: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Greedy non-maximum suppression: indices of the boxes that stay, the best first."""
    order = scores.argsort(descending=True, stable=True)
    x1, y1, x2, y2 = dets[order].detach().double().numpy().T
    areas = (x2 - x1) * (y2 - y1)
    stays = np.ones(len(order), bool)
    for k in range(len(order)):
        if stays[k]:
            width = np.minimum(x2[k], x2[k + 1 :]) - np.maximum(x1[k], x1[k + 1 :])
            height = np.minimum(y2[k], y2[k + 1 :]) - np.maximum(y1[k], y1[k + 1 :])
            shared = np.maximum(width, 0) * np.maximum(height, 0)
            stays[k + 1 :] &= shared <= iou_threshold * (areas[k] + areas[k + 1 :] - shared)
    return order[torch.from_numpy(stays)]
