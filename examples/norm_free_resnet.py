"""A residual network without normalization: He's initialization, AutoInit, and AutoInit's recipe for training.

    python examples/norm_free_resnet.py --steps 120

Without normalization the branches of a deep residual network add up: the signal grows with depth under He's
initialization. AutoInit brings every layer to variance 1, and `recipe="train"` gives the branches a share of the trunk,
too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for examples.curves

import autoinit
from autoinit import baselines
from autoinit.labs.models import preactivation_resnet
from examples.curves import draw
from examples.digits import Digits, load_digits

INPUT, BATCH, RATE, MOMENTUM = (64, 1, 8, 8), 64, 0.01, 0.9


def model() -> nn.Module:
    torch.manual_seed(0)
    return preactivation_resnet(32, bottleneck=False, norm=False, channels=1, width=8)


def train(net: nn.Module, digits: Digits, steps: int) -> Iterator[float]:
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE, momentum=MOMENTUM)
    for _ in range(steps):
        batch = torch.randint(0, len(digits.train_x), (BATCH,), generator=generator)
        loss = functional.cross_entropy(net(digits.train_x[batch]), digits.train_y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def main(steps: int, picture: Path) -> dict[str, list[float]]:
    digits = load_digits()
    networks = {"PyTorch's default": model(), "He": model(), "AutoInit": model(), 'recipe="train"': model()}
    baselines.classical(networks["He"], "he_normal", seed=0)
    autoinit.initialize(networks["AutoInit"], INPUT)
    print(autoinit.initialize(networks['recipe="train"'], INPUT, recipe="train"))
    curves = {name: list(train(net, digits, steps)) for name, net in networks.items()}
    for name, losses in curves.items():
        print(f"{name:<20} loss {losses[0]:.3f} at first, {sum(losses[-10:]) / len(losses[-10:]):.3f} in the end")
    draw(curves, picture, "A 32-layer ResNet without normalization on digits, one seed")
    return curves


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--picture", type=Path, default=Path("norm_free_resnet.png"))
    torch.set_num_threads(1)
    main(**vars(parser.parse_args()))
