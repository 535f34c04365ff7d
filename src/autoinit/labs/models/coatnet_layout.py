"""In what two editions of CoAtNet differ beside their sizes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """Where a stage is halved, how channels are gated, and how parts are written and named.

    late_stride: a convolutional stage is halved by its depthwise convolution, else by the 1 × 1 in front of it.
    lean_shortcut: the shortcut has a projection where the number of channels changes, else wherever a stage begins.
    squeeze: so many times narrower than a block's outputs is the inside of its gates.
    gate_activation: inside of the gates; None: that of the network.
    norm_on_maps: layer normalization in front of attention sees maps, else tokens; a plan tells the two apart.
    packed: queries, keys and values come from one layer.
    per_channel: activations on tokens see channels where maps have them, for those with parameters per channel.
    """

    late_stride: bool = False
    lean_shortcut: bool = False
    squeeze: int = 4
    gate_activation: str | None = None
    norm_on_maps: bool = False
    packed: bool = False
    per_channel: bool = True


PAPER = Layout()
"""As the AutoInit paper's experiments have it."""
COMPACT = Layout(True, True, 1, "swish", norm_on_maps=True, packed=True, per_channel=False)
"""As the benchmarks have it; its layers are named by what they do."""
