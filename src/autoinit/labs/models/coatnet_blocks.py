"""The blocks of CoAtNet."""

from __future__ import annotations

from collections import OrderedDict

from torch import Tensor, nn

from .activations import MakeActivation, activation_maker
from .channel_norm import ChannelNorm
from .coatnet_layout import Layout
from .relative_attention import PackedRelativeAttention, RelativeAttention
from .squeeze_excitation import Average, SqueezeAndExcitation
from .transformer_block import feed_forward

HEAD = 32
EXPANSION = 4


def _shortcut(inputs: int, outputs: int, stride: int, layout: Layout) -> nn.Module:
    if stride == 1:
        return nn.Identity()
    parts: OrderedDict[str, nn.Module] = OrderedDict(pool=nn.MaxPool2d(stride))
    if inputs != outputs or not layout.lean_shortcut:
        parts["project"] = nn.Conv2d(inputs, outputs, 1)
    return nn.Sequential(parts) if layout.lean_shortcut else nn.Sequential(*parts.values())


def _gate(channels: int, outputs: int, make: MakeActivation, layout: Layout) -> nn.Module:
    inner = outputs // layout.squeeze
    if layout.gate_activation is None:
        return SqueezeAndExcitation(channels, inner, make, numbered=True)
    return SqueezeAndExcitation(channels, inner, activation_maker(layout.gate_activation), average=Average(keep=True))


class ConvolutionBlock(nn.Module):
    """Inverted bottleneck: widen by 1 × 1, mix places by a 3 × 3 for each channel, weigh channels, narrow by 1 × 1."""

    def __init__(
        self, inputs: int, outputs: int, stride: int, make: MakeActivation, norm: bool, layout: Layout
    ) -> None:
        super().__init__()
        inner = EXPANSION * outputs
        first, second = (1, stride) if layout.late_stride else (stride, 1)

        def normalized(channels: int) -> list[nn.Module]:
            return [nn.BatchNorm2d(channels)] if norm else []

        self.shortcut = _shortcut(inputs, outputs, stride, layout)
        self.branch = nn.Sequential(
            *normalized(inputs),
            nn.Conv2d(inputs, inner, 1, first, bias=not norm),
            *normalized(inner),
            make(inner),
            nn.Conv2d(inner, inner, 3, second, padding=1, groups=inner, bias=not norm),
            *normalized(inner),
            make(inner),
            _gate(inner, outputs, make, layout),
            nn.Conv2d(inner, outputs, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.shortcut(x) + self.branch(x)
        return out


class AttentionBlock(nn.Module):
    """Relative attention, then a dense network on each place; both beside a shortcut."""

    def __init__(
        self, inputs: int, outputs: int, stride: int, side: int, make: MakeActivation, norm: bool, layout: Layout
    ) -> None:
        super().__init__()
        heads, hidden = max(1, outputs // HEAD), EXPANSION * outputs
        self.shortcut = _shortcut(inputs, outputs, stride, layout)
        self.on_maps = layout.norm_on_maps
        before = (ChannelNorm if self.on_maps else nn.LayerNorm)(inputs) if norm else nn.Identity()
        self.add_module("norm_attention" if layout.packed else "before", before)
        self.pool = nn.MaxPool2d(stride) if stride > 1 else nn.Identity()
        attention = PackedRelativeAttention if layout.packed else RelativeAttention
        self.attention = attention(inputs, outputs, heads, side, side)
        after: nn.Module = nn.LayerNorm(outputs) if norm else nn.Identity()
        dense = feed_forward(outputs, hidden, lambda n: TokenActivation(make(n)) if layout.per_channel else make(n))
        if layout.packed:
            self.norm_mlp, self.mlp = after, dense
        else:
            self.dense = nn.Sequential(after, *dense)

    def forward(self, x: Tensor) -> Tensor:
        shortcut, before, pool, attention, *dense = self.children()
        skip = shortcut(x)
        seen = pool(before(x) if self.on_maps else _places(before(_tokens(x)), x.shape[-1]))
        kept, new = _tokens(skip), attention(_tokens(seen))
        y = mixed = new + kept if self.on_maps else kept + new  # a sum has the memory layout of its first term
        for part in dense:
            y = part(y)
        return _places(mixed + y, skip.shape[-1])


class TokenActivation(nn.Module):
    """An activation that may have parameters per channel, on tokens: channels go to the axis where maps have them."""

    def __init__(self, function: nn.Module) -> None:
        super().__init__()
        self.function = function

    def forward(self, tokens: Tensor) -> Tensor:
        out: Tensor = self.function(tokens.transpose(1, 2).unsqueeze(-1)).squeeze(-1).transpose(1, 2)
        return out


def _tokens(maps: Tensor) -> Tensor:
    return maps.flatten(2).transpose(1, 2)


def _places(tokens: Tensor, side: int) -> Tensor:
    maps: Tensor = tokens.transpose(1, 2).unflatten(2, (-1, side))
    return maps
