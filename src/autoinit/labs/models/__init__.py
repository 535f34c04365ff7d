"""Networks in PyTorch, by builder: those of the paper's experiments, of the benchmarks and of the tests.

    from autoinit.labs.models import preactivation_resnet

    model = preactivation_resnet(56, "relu", norm=False, width=16, classes=10)

Widths, depths, activations and numbers of classes are options of every builder where a network has them.
"""

from __future__ import annotations

from .activations import ACTIVATIONS, activation_maker
from .all_cnn_c import all_cnn_c
from .coatnet import coatnet
from .coatnet_default import coatnet_default
from .coatnet_layout import COMPACT, PAPER
from .convnext import convnext
from .densenet import densenet
from .densenet121 import densenet121
from .efficientnet_lite0 import efficientnet_lite0
from .gpt import GPT
from .mlp import mlp
from .mlp_mixer import MlpMixer
from .mobilenet import mobilenet
from .plain_cnn import plain_cnn
from .poolformer import poolformer
from .preactivation_resnet import preactivation_resnet
from .recurrent import RecurrentClassifier, RecurrentLanguageModel
from .resnet import resnet50
from .se_resnet import se_resnet
from .sequence_to_sequence import SequenceToSequence
from .text_encoder import TextEncoder
from .unet import UNet
from .vision_transformer import VisionTransformer

__all__ = [
    "ACTIVATIONS",
    "COMPACT",
    "GPT",
    "PAPER",
    "MlpMixer",
    "RecurrentClassifier",
    "RecurrentLanguageModel",
    "SequenceToSequence",
    "TextEncoder",
    "UNet",
    "VisionTransformer",
    "activation_maker",
    "all_cnn_c",
    "coatnet",
    "coatnet_default",
    "convnext",
    "densenet",
    "densenet121",
    "efficientnet_lite0",
    "mlp",
    "mobilenet",
    "plain_cnn",
    "poolformer",
    "preactivation_resnet",
    "resnet50",
    "se_resnet",
]
