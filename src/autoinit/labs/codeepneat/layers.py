"""The layers that networks are made of: where each is legal, what it needs to know, and what it does to a shape.

Shapes are written without the batch and with channels last: (features,), (steps, channels), (height, width, channels).
Convolutions keep the size of what comes in; pooling halves it and drops what is left over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from .problems import GenomeError, SpaceError

Shape = tuple[int, ...]
Settings = Mapping[str, Any]

ACTIVATIONS = ("relu", "linear", "elu", "selu")
SCHEMES = ("glorot_normal", "glorot_uniform", "he_normal", "he_uniform")
REGULARIZERS = ("l1", "l2")
MERGES = ("add", "concatenate", "weighted_sum")
HEADS = ("flatten", "average", "maximum")


@dataclass(frozen=True)
class Kind:
    """One kind of layer.

    ranks: how many axes its input may have, the batch not counted.
    needs, takes: hyperparameters that it must have, and those that it may have.
    shape: of the output, from the settings and the shapes of the inputs.
    count: how many parameters it has, from the same.
    evolved: whether nodes of modules can be of this kind; the assembler makes the others.
    """

    ranks: tuple[int, ...]
    needs: tuple[str, ...]
    takes: tuple[str, ...]
    shape: Callable[[Settings, Sequence[Shape]], Shape]
    count: Callable[[Settings, Sequence[Shape]], int]
    evolved: bool = True


WEIGHTED = ("activation", "regularizer", "strength", "initialization")


def _last(settings: Settings, shapes: Sequence[Shape]) -> Shape:
    return (*shapes[0][:-1], settings["units"])


def _same(_: Settings, shapes: Sequence[Shape]) -> Shape:
    return shapes[0]


def _none(_: Settings, __: Sequence[Shape]) -> int:
    return 0


def _pooled(settings: Settings, shapes: Sequence[Shape]) -> Shape:
    *places, channels = shapes[0]
    each = zip(places, *windows(settings, shapes[0]), strict=True)
    return (*((size - window) // stride + 1 for size, window, stride in each), channels)


def windows(settings: Settings, shape: Shape) -> tuple[list[int], list[int]]:
    """Window and stride of a pooling along each axis; 2 unless the assembler wants a certain size."""
    axes = len(shape) - 1
    return list(settings.get("window", [2] * axes)), list(settings.get("stride", [2] * axes))


def _kernel(settings: Settings, shapes: Sequence[Shape]) -> int:
    taps = settings.get("kernel", 1) ** (len(shapes[0]) - 1)
    return int((taps * shapes[0][-1] + 1) * settings["units"])


def _gates(number: int, biases: int) -> Callable[[Settings, Sequence[Shape]], int]:
    def count(settings: Settings, shapes: Sequence[Shape]) -> int:
        units = settings["units"]
        return int(number * units * (shapes[0][-1] + units + biases))

    return count


def _joined(_: Settings, shapes: Sequence[Shape]) -> Shape:
    return (*shapes[0][:-1], sum(shape[-1] for shape in shapes))


ANY = (1, 2, 3)
KINDS: dict[str, Kind] = {
    "dense": Kind((1,), ("units",), WEIGHTED, _last, _kernel),
    "conv1d": Kind((2,), ("units", "kernel"), WEIGHTED, _last, _kernel),
    "conv2d": Kind((3,), ("units", "kernel"), WEIGHTED, _last, _kernel),
    "gru": Kind((2,), ("units",), WEIGHTED[1:], _last, _gates(3, 2)),
    "lstm": Kind((2,), ("units",), WEIGHTED[1:], _last, _gates(4, 1)),
    "dropout": Kind(ANY, ("rate",), (), _same, _none),
    "spatial_dropout1d": Kind((2,), ("rate",), (), _same, _none),
    "max_pooling1d": Kind((2,), (), ("window", "stride"), _pooled, _none),
    "max_pooling2d": Kind((3,), (), ("window", "stride"), _pooled, _none),
    "embedding": Kind((1,), ("units", "vocabulary"), (), lambda s, x: (*x[0], s["units"]),
                      lambda s, x: int(s["units"] * s["vocabulary"]), evolved=False),
    "projection": Kind(ANY, ("units",), ("initialization",), _last, lambda s, x: int(x[0][-1] * s["units"]),
                       evolved=False),
    "add": Kind(ANY, (), (), _same, _none, evolved=False),
    "weighted_sum": Kind(ANY, (), (), _same, lambda s, x: len(x), evolved=False),
    "concatenate": Kind(ANY, (), (), _joined, _none, evolved=False),
    "flatten": Kind(ANY, (), (), lambda s, x: (prod(x[0]),), _none, evolved=False),
    "average": Kind(ANY, (), (), lambda s, x: (x[0][-1],), _none, evolved=False),
    "maximum": Kind(ANY, (), (), lambda s, x: (x[0][-1],), _none, evolved=False),
}  # fmt: skip

POOLINGS = {2: "max_pooling1d", 3: "max_pooling2d"}
"""Rank: the pooling of such tensors."""


def kind_of(name: str, where: str) -> Kind:
    if name not in KINDS:
        raise SpaceError("unknown kind of layer", where=where, received=repr(name), fix=f"one of {', '.join(KINDS)}")
    return KINDS[name]


def check_settings(name: str, settings: Settings, where: str) -> None:
    """Every hyperparameter that the layer needs, and none that it does not know."""
    kind = kind_of(name, where)
    missing = [s for s in kind.needs if s not in settings]
    strange = [s for s in settings if s not in kind.needs + kind.takes]
    if missing or strange:
        why = f"{name} has no {', '.join(missing)}" if missing else f"{name} knows no {', '.join(strange)}"
        raise GenomeError(why, where=where, received=repr(dict(settings)),
                          fix=f"needed: {', '.join(kind.needs) or 'nothing'}; possible: "
                          f"{', '.join(kind.takes) or 'nothing'}")  # fmt: skip


def shape_after(name: str, settings: Settings, shapes: Sequence[Shape], where: str) -> Shape:
    """The shape that the layer gives; GenomeError if it cannot take what comes in."""
    kind = kind_of(name, where)
    ranks = {len(shape) for shape in shapes}
    if not shapes or len(ranks) != 1 or not ranks <= set(kind.ranks):
        raise GenomeError(f"{name} takes tensors of {' or '.join(map(str, kind.ranks))} axes", where=where,
                          received=", ".join(map(str, shapes)) or "nothing", fix="another layer")  # fmt: skip
    if name not in MERGES and len(shapes) != 1:
        raise GenomeError(f"{name} takes one tensor", where=where, received=str(len(shapes)), fix="merge them first")
    compared = [shape[:-1] if name == "concatenate" else shape for shape in shapes]
    if len(set(compared)) != 1:
        raise GenomeError(f"{name} takes tensors of one shape", where=where, received=", ".join(map(str, shapes)),
                          fix="bring them together first")  # fmt: skip
    shape = kind.shape(settings, shapes)
    if min(shape) < 1:
        raise GenomeError(f"nothing is left after {name}", where=where, received=str(shapes[0]), fix="leave it out")
    return shape
