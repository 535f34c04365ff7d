"""Which networks of `autoinit.labs.models` are measured, at which sizes and on which inputs."""

from __future__ import annotations

from functools import partial

from torch import nn

from autoinit.labs import models

from .spec import Spec, Tokens

SMALL = ((8, 3, 32, 32),)
FEATURES = ((128, 784),)
WORDS = (Tokens((32, 64), 1000),)


def in_place_relu(channels: int) -> nn.Module:
    return nn.ReLU(inplace=True)


def in_place_relu6(channels: int) -> nn.Module:
    return nn.ReLU6(inplace=True)


def _preactivation(name: str, depth: int, bottleneck: bool, batch: int, sizes: tuple[int, int]) -> tuple[Spec, Spec]:
    """The network with batch normalization, and without any."""
    build = partial(models.preactivation_resnet, depth, bottleneck=bottleneck, grouped=True)
    blocks, shapes = "bottleneck" if bottleneck else "basic", ((batch, 3, 32, 32),)
    return (
        Spec(name, build, shapes, f"{blocks} blocks, batch norm", sizes[0], heavy=depth > 500),
        Spec(f"{name}_nonorm", partial(build, norm=False), shapes, f"{blocks} blocks, no normalization", sizes[1],
             heavy=depth > 500),
    )  # fmt: skip


SPECS = (
    Spec("allcnnc", partial(models.all_cnn_c, input_dropout=None), SMALL,
         "All-CNN-C, dropout 0.5 after strided layers", 1_369_738),
    *_preactivation("preact_resnet56", 56, False, 8, (855_578, 853_642)),
    *_preactivation("preact_resnet56_bottleneck", 56, True, 8, (590_426, 586_826)),
    *_preactivation("preact_resnet164", 164, True, 8, (1_703_258, 1_691_594)),
    *_preactivation("preact_resnet812", 812, True, 4, (8_380_250, 8_320_202)),
    *(Spec(f"cnn40_{name}", partial(models.plain_cnn, name), ((8, 3, 16, 16),), f"40 plain convolutions, {name}",
           3_242_218) for name in ("relu", "gelu", "tanh")),
    Spec("mlp_dropout", partial(models.mlp, dropout=0.5, input_dropout=0.2), FEATURES,
         "20 dense layers, dropout 0.2 and 0.5", 5_134_858),
    Spec("mlp_dropout_light", partial(models.mlp, dropout=0.2, input_dropout=0.0), FEATURES,
         "20 dense layers, dropout 0.2", 5_134_858),
    Spec("mlp_selu", partial(models.mlp, "selu"), FEATURES, "20 dense layers, SELU", 5_134_858),
    Spec("densenet", models.densenet, SMALL, "DenseNet-BC-100, growth 12", 769_162),
    Spec("se_resnet", models.se_resnet, SMALL, "SE-ResNet-20, widths 64 to 256, batch norm", 4_384_568),
    Spec("mobilenet", partial(models.mobilenet, in_place_relu6), SMALL,
         "MobileNetV2 with CIFAR strides, ReLU6", 2_351_972),
    Spec("mobilenet_se", partial(models.mobilenet, "hard_swish", gate=True), SMALL,
         "inverted residuals with hard-swish and squeeze-and-excite", 4_617_020),
    Spec("convnext", models.convnext, ((8, 3, 64, 64),), "ConvNeXt-T at half width, layer scale 1e-6", 7_091_860),
    Spec("mlp_mixer", models.MlpMixer, SMALL, "12 blocks, 64 tokens, width 192", 3_738_148),
    Spec("poolformer", models.poolformer, ((8, 3, 64, 64),),
         "PoolFormer-S12 at half width, layer scale 1e-5", 2_888_260),
    Spec("vit12", models.VisionTransformer, SMALL,
         "12 pre-norm blocks, width 192, 3 heads, 64 + 1 tokens", 5_380_132),
    Spec("vit12_nonorm", partial(models.VisionTransformer, norm=False), SMALL,
         "vit12 without any LayerNorm", 5_370_532),
    Spec("gpt_swiglu", models.GPT, (Tokens((8, 64), 512),),
         "8 causal blocks, rotary, SwiGLU, tied embeddings", 6_422_784),
    Spec("unet", models.UNet, ((4, 3, 64, 64),), "three halvings, widths 32 to 256, batch norm", 1_927_306),
    Spec("unet_nonorm", partial(models.UNet, norm=False), ((4, 3, 64, 64),),
         "the same without normalization", 1_925_898),
    Spec("lstm_classifier", partial(models.RecurrentClassifier, "lstm"), WORDS,
         "two LSTM layers of 128 over 64 steps", 393_482),
    Spec("gru_classifier", partial(models.RecurrentClassifier, "gru"), WORDS,
         "two GRU layers of 128 over 64 steps", 327_434),
    Spec("transformer_encoder_decoder", models.SequenceToSequence, (Tokens((4, 48), 512), Tokens((4, 32), 512)),
         "nn.Transformer, 4 + 4 layers, width 256, two token inputs", 7_767_552),
    Spec("coatnet", partial(models.coatnet, image_size=64, width=0.5, depth=0.5, layout=models.COMPACT),
         ((8, 3, 64, 64),), "MBConv stages, then relative attention, 64 px", 2_275_110),
    Spec("resnet50", partial(models.resnet50, in_place_relu, late_stride=True, in_place=True, grouped=True,
                             fan_out=True),
         ((2, 3, 224, 224),), "ResNet-50, 224 px, for speed", 25_557_032, heavy=True),
)  # fmt: skip
