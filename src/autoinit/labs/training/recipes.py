"""The recipes of the paper's appendix, "Convolutional, Residual, and Transformer Network Experiment Details".

What the appendix leaves open is said beside each recipe. `dataclasses.replace` makes variations.
"""

from __future__ import annotations

from dataclasses import replace

from .recipe import Recipe

ALL_CNN_C = Recipe(
    batch_size=128,
    epochs=350,
    optimizer="sgd",
    momentum=0.9,
    weight_decay=0.001,
    learning_rate=0.01,
    schedule="steps",
    milestones=(200 / 350, 250 / 350, 300 / 350),
    factor=0.1,
    flip=True,
    pad=5,
)
"""All-CNN-C on CIFAR-10.

Open: the batch size; whether "L2 regularization 0.001" is 0.001 w² (Keras) or half of that (PyTorch, and here).
"""

RESNET = Recipe(
    batch_size=128,
    epochs=200,
    optimizer="sgd",
    momentum=0.9,
    weight_decay=0.0001,
    decayed="all",
    learning_rate=0.1,
    schedule="cosine",
    warmup=5 / 200,
    flip=True,
    pad=4,
)
"""Residual networks on CIFAR-10: linear warm-up, then a cosine to zero.

The paper varies the learning rate. Open: batch size, epochs, length of the warm-up, what is decayed (here, as in
He et al., everything).
"""

RESNET_STABILITY = replace(RESNET, epochs=5, schedule="constant", warmup=0.0, learning_rate=0.01)
"""Five epochs, to see whether a network begins to learn. The paper varies the learning rate; open: its schedule."""

COATNET = Recipe(
    batch_size=256,
    epochs=105,
    optimizer="adamw",
    weight_decay=0.02,
    learning_rate=4e-4,
    schedule="cosine",
    warmup=6 / 105,
    warmup_from=1e-4,
    pace="epoch",
    image_size=160,
    flip=True,
    smallest_crop=0.08,
    randaugment=2,
    magnitude=6.0,
    mixup=0.1,
    cutmix=1.0,
    centre_crop=0.95,
)
"""CoAtNet on Imagenette. AdamW takes 0.02 · (current learning rate) of each weight away.

Open: whether mixup and cutmix are chosen between or both applied (here a coin for each batch), flips (here on, as
everywhere with such crops), the loss (here cross entropy), where the cosine ends (here at zero).
"""

IMAGENET = replace(COATNET, batch_size=2048, learning_rate=3.2e-2)
"""ResNet-50 on ImageNet: as CoAtNet but for the batch size and the peak of the learning rate."""

SUPERCONVERGENCE = replace(
    ALL_CNN_C, epochs=25, weight_decay=0.0001, learning_rate=0.1, schedule="triangle", milestones=(), warmup=5 / 25
)
"""All-CNN-C against LSUV: up to 0.1 in five epochs, down in twenty, a tenth of the weight decay."""

SUPERCONVERGENCE_RESNET = replace(RESNET, epochs=25, learning_rate=0.1, schedule="triangle", warmup=5 / 25)
"""Residual networks against LSUV: the same learning rates, their own weight decay."""

RECIPES = {
    "all_cnn_c": ALL_CNN_C,
    "resnet": RESNET,
    "resnet_stability": RESNET_STABILITY,
    "coatnet": COATNET,
    "imagenet": IMAGENET,
    "superconvergence": SUPERCONVERGENCE,
    "superconvergence_resnet": SUPERCONVERGENCE_RESNET,
}
