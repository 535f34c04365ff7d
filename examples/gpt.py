"""A GPT from scratch: `recipe="train"` against PyTorch's own initialization.

    python examples/gpt.py --steps 200

A decoder with six blocks learns bytes of Python's standard library. `recipe="train"` draws orthogonal weights, gives
the branches of the residual trunk their share of it, and sizes positions like tokens. Optimizer, rate and batches are
the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for examples.curves

import autoinit
from autoinit.labs.models import GPT
from examples.curves import draw

LENGTH, BATCH, RATE = 32, 16, 1e-3
INPUT = autoinit.Input((BATCH, LENGTH), vocabulary=256)


def text() -> torch.Tensor:
    """Bytes that every installation of Python has."""
    return torch.frombuffer(bytearray(Path(argparse.__file__).read_bytes()), dtype=torch.uint8).long()


def model() -> GPT:
    torch.manual_seed(0)
    return GPT(vocabulary=256, width=64, depth=6, heads=4, length=LENGTH, tied=False, rotary=False)


def train(net: GPT, steps: int) -> Iterator[float]:
    data, generator = text(), torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE)
    for _ in range(steps):
        start = torch.randint(0, len(data) - LENGTH - 1, (BATCH, 1), generator=generator)
        tokens = data[start + torch.arange(LENGTH + 1)]
        loss = functional.cross_entropy(net(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def main(steps: int, picture: Path) -> dict[str, list[float]]:
    default, ours = model(), model()
    print(autoinit.initialize(ours, INPUT, recipe="train"))
    curves = {"PyTorch's default": list(train(default, steps)), 'recipe="train"': list(train(ours, steps))}
    for name, losses in curves.items():
        print(f"{name:<20} loss {losses[0]:.3f} at first, {sum(losses[-10:]) / len(losses[-10:]):.3f} in the end")
    draw(curves, picture, "A six-block GPT on bytes, one seed")
    return curves


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--picture", type=Path, default=Path("gpt.png"))
    torch.set_num_threads(1)
    main(**vars(parser.parse_args()))
