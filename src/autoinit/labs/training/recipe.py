"""How a network is trained: one flat, frozen description that is saved beside each result."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any

from ...errors import OptionError

CHOICES = {
    "optimizer": ("sgd", "adamw"),
    "schedule": ("constant", "steps", "cosine", "triangle"),
    "pace": ("step", "epoch"),
    "decayed": ("weights", "all"),
}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything about a training run but the model, the data and the seed.

    Points in time (`warmup`, `milestones`) are fractions of the whole run, so that a shorter run, made with
    `dataclasses.replace(recipe, epochs=20)`, keeps the shape of its schedule.
    """

    batch_size: int = 128
    epochs: int | None = None
    steps: int | None = None
    """Length of the run: passes over the training images, or a number of batches. One of the two is given."""

    optimizer: str = "sgd"
    learning_rate: float = 0.01
    """The peak: what the schedule starts from, or warms up to."""
    momentum: float = 0.9
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.0
    """SGD: λ of the penalty ½λ|w|², whose gradient λw joins that of the loss. AdamW: w loses λ·(learning rate)·w."""
    decayed: str = "weights"
    """"weights": kernels of linear and convolutional layers and embeddings; "all": biases and norms as well."""
    label_smoothing: float = 0.0

    schedule: str = "constant"
    """"steps": times `factor` at each milestone. "cosine", "triangle": down to `final_rate` by a cosine or a line."""
    warmup: float = 0.0
    warmup_from: float = 0.0
    """The rate rises on a line from `warmup_from` to `learning_rate` during the first `warmup` of the run."""
    milestones: tuple[float, ...] = ()
    factor: float = 0.1
    final_rate: float = 0.0
    pace: str = "step"
    """How often the rate follows its schedule: at each step, or at the start of each epoch."""

    normalize: bool = True
    """Centre and scale each channel by the mean and deviation of the training images."""
    flip: bool = False
    """Mirror half of the images, left to right."""
    pad: int = 0
    """Random crops, of the old size, from images with so many pixels of padding on all sides."""
    smallest_crop: float | None = None
    """Random resized crops of at least this part of the image's area."""
    randaugment: int = 0
    magnitude: float = 6.0
    """How many random operations change each image, and how strong they are, from 0 to 10."""
    mixup: float = 0.0
    cutmix: float = 0.0
    """α of the Beta(α, α) that shares are drawn from; if both are on, a coin chooses for each batch."""
    image_size: int | None = None
    """Side to which images are resized; None keeps their size."""
    centre_crop: float = 1.0
    """The part of each side that evaluation looks at."""

    def __post_init__(self) -> None:
        for name in ("betas", "milestones"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if (self.epochs is None) == (self.steps is None):
            self._refuse("the length of a run is given by epochs or by steps, one of them", "epochs", "epochs=25")
        for name in ("batch_size", "epochs", "steps", "image_size"):
            self._whole(name, 1, optional=name != "batch_size")
        for name in ("pad", "randaugment"):
            self._whole(name, 0)
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                self._refuse("unknown choice", name, f"one of {', '.join(choices)}")
        for name in ("learning_rate", "weight_decay", "warmup_from", "final_rate", "factor", "mixup", "cutmix"):
            self._number(name, 0, float("inf"))
        for name in ("momentum", "label_smoothing", "warmup"):
            self._number(name, 0, 1)
        self._number("magnitude", 0, 10)
        for name in ("normalize", "flip"):
            if not isinstance(getattr(self, name), bool):
                self._refuse("is on or off", name, f"{name}=True")
        if len(self.betas) != 2 or not all(0 <= b < 1 for b in self.betas):
            self._refuse("two numbers from 0 to below 1", "betas", "betas=(0.9, 0.999)")
        for name in ("centre_crop", "smallest_crop"):
            if getattr(self, name) is not None:
                self._number(name, 0, 1)
                if getattr(self, name) == 0:
                    self._refuse("nothing is left of the image", name, f"{name}=0.95")
        if any(not 0 <= m <= 1 for m in self.milestones):
            self._refuse("milestones are fractions of the run", "milestones", "milestones=(0.5, 0.75)")
        if self.schedule == "steps" and not self.milestones:
            self._refuse("a schedule of steps needs the places of its steps", "milestones", "milestones=(0.5, 0.75)")

    def _refuse(self, why: str, name: str, fix: str) -> None:
        raise OptionError(why, where=f"Recipe.{name}", received=repr(getattr(self, name)), fix=fix)

    def _whole(self, name: str, least: int, optional: bool = False) -> None:
        value = getattr(self, name)
        if not (optional and value is None) and (type(value) is not int or value < least):
            self._refuse(f"takes a whole number of at least {least}", name, f"{name}={max(least, 4)}")

    def _number(self, name: str, least: float, most: float) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            self._refuse(f"takes a number from {least} to {most}", name, f"{name}={min(most, 0.1)}")
        if not isfinite(value):
            self._refuse("takes a finite number", name, f"{name}=0.1")

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """The inverse of `to_dict`; fields that are missing take their defaults, unknown ones are refused."""
        known = [f.name for f in fields(cls)]
        for name in values:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                fix = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}"
                raise OptionError("a recipe has no such field", where="Recipe", received=repr(name), fix=fix)
        return cls(**values)

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise OptionError("not JSON", where="Recipe.from_json", received=repr(text[:80]), fix=str(error)) from error
        if not isinstance(values, dict):
            raise OptionError("a recipe is one JSON object", where="Recipe.from_json", received=repr(text[:80]),
                              fix='{"epochs": 25, "learning_rate": 0.1}')  # fmt: skip
        return cls.from_dict(values)
