"""Small search spaces of all kinds, with the inputs and outputs of their networks."""

from __future__ import annotations

from typing import NamedTuple

from autoinit.labs.codeepneat import Input, LayerKind, Output, Real, Space, weighted, whole_network


class Setting(NamedTuple):
    space: Space
    input: Input
    outputs: tuple[Output, ...]


RATE = whole_network((1e-4, 1e-2))
BOTH = ("l1", "l2")


def recurrent(name: str) -> LayerKind:
    return LayerKind(name, weighted((4, 12), activation=False, regularizers=BOTH))


IMAGE_LAYERS = (
    LayerKind("conv2d", weighted((4, 12), kernels=(1, 3))),
    LayerKind("dropout", {"rate": Real(0.0, 0.7)}),
    LayerKind("max_pooling2d"),
)
TEXT_LAYERS = (
    LayerKind("conv1d", weighted((4, 12), kernels=(1, 3, 5, 7), regularizers=BOTH)),
    recurrent("gru"),
    recurrent("lstm"),
    LayerKind("max_pooling1d"),
    LayerKind("spatial_dropout1d", {"rate": Real(0.0, 0.5)}),
)
TABLE_LAYERS = (
    LayerKind("dense", weighted((8, 24), regularizers=BOTH)),
    LayerKind("dropout", {"rate": Real(0.0, 0.9)}),
)

SETTINGS = {
    "images": Setting(Space(IMAGE_LAYERS, ("add",), RATE), Input((12, 13, 2)), (Output("digit", 10),)),
    "averaged": Setting(
        Space(IMAGE_LAYERS, ("add", "concatenate", "weighted_sum"), RATE, head="average"),
        Input((9, 9, 3)), (Output("kind", 4), Output("colour", 3)),
    ),
    "text": Setting(
        Space(TEXT_LAYERS, ("add", "concatenate"), RATE, head="maximum", embedding=6), Input((17,), 50),
        (Output("toxic", 2),),
    ),
    "table": Setting(Space(TABLE_LAYERS, ("add", "concatenate"), RATE), Input((14,)), (Output("income", 2),)),
    "chains": Setting(Space(TABLE_LAYERS, (), RATE), Input((30,)), (Output("flower", 5),)),
    "soft": Setting(
        Space(IMAGE_LAYERS, ("weighted_sum",), RATE, soft=6), Input((12, 12, 1)),
        tuple(Output(name, units) for name, units in (("greek", 24), ("latin", 26), ("runes", 16))),
    ),
}  # fmt: skip
