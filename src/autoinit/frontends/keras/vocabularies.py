"""How many values the integer inputs of a model take: found where they meet a table or are counted."""

from __future__ import annotations

from typing import Any

from keras import KerasTensor, layers

from .tape import Entry, flattened

MOVES = {
    "Cast", "ConvertToTensor", "Reshape", "Squeeze", "ExpandDims", "GetItem", "Transpose", "Split", "Unstack", "Copy",
    "StopGradient", "Flip", "Roll", "Pad", "Identity",
}  # fmt: skip
"""Operations that leave an input what it is."""


class Vocabularies(dict[int, int]):
    """By the number of the input; the smallest size that is met counts."""

    def __init__(self) -> None:
        super().__init__()
        self._sources: dict[int, int] = {}

    def given(self, tensor: KerasTensor, position: int) -> None:
        """The tensor is the model's input number `position`."""
        self._sources[id(tensor)] = position

    def follow(self, entry: Entry) -> None:
        """An input stays what it is when it is only cast, cut or moved."""
        tensors = entry.tensors()
        source = self._sources.get(id(tensors[0])) if len(tensors) == 1 else None
        if source is None:
            return
        if entry.name == "OneHot":
            self._met(tensors[0], int(entry.op.num_classes))
        elif entry.name in MOVES:
            for out in entry.outputs:
                self._sources[id(out)] = source

    def layer(self, layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A layer is called; if it is a table, its size is that of the indices it is given."""
        size = getattr(layer, "input_dim", None) if isinstance(layer, layers.Embedding) else None
        if size is None and isinstance(layer, layers.CategoryEncoding):
            size = layer.num_tokens
        if size is None or kwargs.get("reverse"):
            return
        for item in flattened((args, kwargs)):
            if isinstance(item, KerasTensor):
                self._met(item, int(size))

    def _met(self, tensor: KerasTensor, size: int) -> None:
        position = self._sources.get(id(tensor))
        if position is not None:
            self[position] = min(size, self.get(position, size))
