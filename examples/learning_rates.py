"""The demo's network at other learning rates: test accuracy on the digits after six epochs, one seed each."""

from __future__ import annotations

import torch

import autoinit
import demo
from autoinit.labs.models import preactivation_resnet
from digits import load_digits

SETTINGS = ((0.001, 0.9), (0.003, 0.9), (0.01, 0.9), (0.03, 0.9), (0.01, 0.0))


def main() -> None:
    torch.set_num_threads(1)
    digits = load_digits()
    print("rate   momentum  default  AutoInit")
    for rate, momentum in SETTINGS:
        demo.RATE, demo.MOMENTUM = rate, momentum
        accuracies = []
        for ours in (False, True):
            torch.manual_seed(0)
            model = preactivation_resnet(56, bottleneck=False, norm=False, channels=1, grouped=True)
            if ours:
                autoinit.initialize(model, demo.INPUT, seed=0)
            accuracies.append([accuracy for _, accuracy in demo.train(model, digits)][-1])
        print(f"{rate:<7}{momentum:<8}{accuracies[0]:>9.1%}{accuracies[1]:>10.1%}", flush=True)


if __name__ == "__main__":
    main()
