"""The block of the MobileNets (Sandler et al., 2018) and EfficientNets: wide inside, narrow at both ends."""

from __future__ import annotations

from collections import OrderedDict

from torch import Tensor, nn

from .activations import MakeActivation
from .same_padding import SameConv2d


class InvertedResidual(nn.Sequential):
    """Wider by 1 × 1, each channel by itself k × k, narrower by 1 × 1; added to its input where the shape stays.

    gate: makes what weighs the channels of the inner maps.
    epsilon: of batch normalization.
    same: the k × k convolution is padded as in TensorFlow.
    named: the layers are named as in EfficientNet's files, else "branch.0", "branch.1" and so on.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        stride: int,
        expansion: int,
        make: MakeActivation,
        *,
        gate: MakeActivation | None = None,
        epsilon: float = 1e-5,
        same: bool = False,
        named: bool = False,
    ) -> None:
        inner = inputs * expansion
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        if expansion > 1:
            layers["expand_conv"] = nn.Conv2d(inputs, inner, 1, bias=False)
            layers["bn0"] = nn.BatchNorm2d(inner, epsilon)
            layers["activation0"] = make(inner)
        if same:
            layers["depthwise_conv"] = SameConv2d(inner, inner, kernel, stride, groups=inner, bias=False)
        else:
            layers["depthwise_conv"] = nn.Conv2d(inner, inner, kernel, stride, kernel // 2, groups=inner, bias=False)
        layers["bn1"] = nn.BatchNorm2d(inner, epsilon)
        layers["activation1"] = make(inner)
        if gate is not None:
            layers["gate"] = gate(inner)
        layers["project_conv"] = nn.Conv2d(inner, outputs, 1, bias=False)
        layers["bn2"] = nn.BatchNorm2d(outputs, epsilon)
        super().__init__(layers if named else OrderedDict(branch=nn.Sequential(*layers.values())))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = super().forward(x)  # type: ignore[no-untyped-call]
        return x + y if self.adds else y
