"""An activation of your own: no rule is needed, its moments are integrated.

    python examples/custom_activation.py

The function is made of operations of PyTorch, which AutoInit joins into one function of its Gaussian input. He's
initialization, which is meant for ReLU, lets the signal of this one grow or fade from layer to layer.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for examples.curves

import autoinit
from autoinit import baselines
from examples.curves import draw_signals

DEPTH, WIDTH, INPUT = 20, 256, (512, 64)


class Ripple(nn.Module):
    """x sigmoid(x) with a ripple."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(x) + 0.3 * torch.sin(3 * x)


def model() -> nn.Sequential:
    torch.manual_seed(0)
    blocks = [nn.Sequential(nn.Linear(WIDTH, WIDTH), Ripple()) for _ in range(DEPTH)]
    return nn.Sequential(nn.Linear(INPUT[1], WIDTH), *blocks, nn.Linear(WIDTH, 10))


def main(picture: Path) -> dict[str, list[float]]:
    networks = {"PyTorch's default": model(), "He": model(), "AutoInit": model()}
    baselines.classical(networks["He"], "he_normal", seed=0)
    print(autoinit.initialize(networks["AutoInit"], INPUT))
    found = {name: [r.variance for r in autoinit.measure(net, INPUT).weight_layers] for name, net in networks.items()}
    draw_signals(found, picture, "A 20-layer network with an activation of its own, one draw")
    for name, variances in found.items():
        print(f"{name:<20} variance {variances[0]:.3g} after the first layer, {variances[-1]:.3g} after the last")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, default=Path("custom_activation.png"))
    main(**vars(parser.parse_args()))
