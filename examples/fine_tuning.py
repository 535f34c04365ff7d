"""Fine-tuning with a new head: a network that knows the digits 0 to 4 learns 5 to 9.

    python examples/fine_tuning.py --steps 100

The backbone is frozen, and counts with its real weights: the head is fitted to the features that it gets, of which the
signal is told by the batch.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for examples.curves

import autoinit
from examples.curves import draw
from examples.digits import load_digits

BATCH, RATE = 64, 0.01


def head() -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(*(m for _ in range(4) for m in (nn.Linear(128, 128), nn.ReLU())), nn.Linear(128, 5))


def train(net: nn.Module, x: Tensor, y: Tensor, steps: int) -> Iterator[float]:
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=RATE, momentum=0.9)
    for _ in range(steps):
        batch = torch.randint(0, len(x), (BATCH,), generator=generator)
        loss = functional.cross_entropy(net(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def main(steps: int, picture: Path) -> dict[str, list[float]]:
    digits = load_digits()
    x, y = digits.train_x.flatten(1), digits.train_y
    known, fresh = y < 5, y >= 5

    torch.manual_seed(0)
    backbone = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
    list(train(nn.Sequential(backbone, nn.Linear(128, 5)), x[known], y[known], 200))
    backbone.requires_grad_(False)

    curves = {}
    for name in ("PyTorch's default", "AutoInit"):
        model = nn.Sequential(backbone, head())
        if name == "AutoInit":
            print(autoinit.initialize(model, x[fresh][:256]))
        curves[name] = list(train(model, x[fresh], y[fresh] - 5, steps))
        print(f"{name:<20} loss {curves[name][0]:.3f} at first, {sum(curves[name][-10:]) / 10:.3f} in the end")
    draw(curves, picture, "A new five-layer head on frozen features, one seed")
    return curves


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--picture", type=Path, default=Path("fine_tuning.png"))
    torch.set_num_threads(1)
    main(**vars(parser.parse_args()))
