"""See the difference: an unnormalised 56-layer ResNet with PyTorch's initialization and with AutoInit's.

    make demo

Prints the plan, runs noise through both networks, trains both for a moment on 8x8 digits, and saves a picture
of the signal. No download, no GPU; under two minutes on two cores.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for examples.digits

import autoinit
from autoinit.labs.models import preactivation_resnet
from autoinit.measurement import Measurement
from autoinit.report import plot
from examples.digits import Digits, load_digits

INPUT = (64, 1, 8, 8)
DRAWS = 10
EPOCHS, BATCH, RATE, MOMENTUM = 6, 64, 0.003, 0.9
PICTURE = Path("signal.png")


def headline(text: str) -> None:
    print(f"\n{text}\n{'=' * len(text)}", flush=True)


def averaged(plan: autoinit.Plan, model: nn.Module) -> list[float]:
    """Measured variance of the weight layers, mean over several draws of the weights (one draw scatters)."""
    scratch = copy.deepcopy(model)
    runs = []
    for seed in range(DRAWS):
        plan.apply(scratch, seed=seed)
        runs.append([row.variance for row in autoinit.measure(scratch, INPUT).weight_layers])
    return [sum(column) / DRAWS for column in zip(*runs, strict=True)]


def variances_by_depth(default: Measurement, ours: Measurement, mean: list[float], lines: int = 9) -> None:
    """Measured variance of some weight layers, from the first to the last."""
    chosen = sorted({round(k * (len(mean) - 1) / (lines - 1)) for k in range(lines)})
    print(f"{'depth':>5}  {'layer':<20}  {'default':>10}  {'AutoInit':>10}  {f'mean of {DRAWS} draws':>16}")
    for k in chosen:
        theirs, mine = default.weight_layers[k], ours.weight_layers[k]
        name = mine.predicted.module
        print(f"{k + 1:>5}  {name:<20}  {theirs.variance:>10.4f}  {mine.variance:>10.3f}  {mean[k]:>16.3f}")


def train(model: nn.Module, digits: Digits, seed: int = 0) -> Iterator[tuple[float, float]]:
    """(training loss, test accuracy) after every epoch of plain SGD."""
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(EPOCHS):
        total = 0.0
        for batch in torch.randperm(len(digits.train_x), generator=generator).split(BATCH):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(digits.train_x[batch]), digits.train_y[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        with torch.no_grad():
            right = (model(digits.test_x).argmax(1) == digits.test_y).float().mean().item()
        yield total / len(digits.train_x), right


def main() -> None:
    begin = time.perf_counter()
    torch.set_num_threads(1)  # the network is small: more threads only wait for each other on a busy machine
    torch.manual_seed(0)
    default = preactivation_resnet(56, bottleneck=False, norm=False, channels=1, grouped=True)
    model = copy.deepcopy(default)

    headline("1. What is wrong with the default: autoinit.check(model, (64, 1, 8, 8))")
    print(autoinit.check(default, INPUT))

    headline("2. One line: plan = autoinit.initialize(model, (64, 1, 8, 8)); print(plan)")
    started = time.perf_counter()
    plan = autoinit.initialize(model, INPUT, seed=0)
    spent = time.perf_counter() - started
    print(f"{plan}\n({spent:.1f} s, no data, no forward pass)")

    headline("3. Real noise through both: measured variance of the weight layers' outputs")
    before, after = autoinit.measure(default, INPUT), autoinit.measure(model, INPUT)
    variances_by_depth(before, after, averaged(plan, model))
    print("(One draw of a network this narrow scatters around the mean; its layers stay within a small factor.)")

    headline(f"4. {EPOCHS} epochs of SGD on {BATCH}-image batches of digits, learning rate {RATE}, momentum {MOMENTUM}")
    digits = load_digits()
    print(
        f"{'epoch':>5}  {'loss: default':>14}  {'AutoInit':>9}  {'accuracy: default':>18}  {'AutoInit':>9}", flush=True
    )
    for epoch, ((loss, right), (our_loss, our_right)) in enumerate(
        zip(train(default, digits), train(model, digits), strict=True), start=1
    ):
        print(f"{epoch:>5}  {loss:>14.3f}  {our_loss:>9.3f}  {right:>18.1%}  {our_right:>9.1%}", flush=True)

    headline("5. The picture")
    labels = ["PyTorch's initialization", "AutoInit"]
    plot([before, after], PICTURE, labels=labels, title="56-layer ResNet without normalization")
    print(f"{PICTURE.resolve()}: predicted and measured variance and mean of every tensor, before training")
    print(f"\n{time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    main()
