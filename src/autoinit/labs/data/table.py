"""Rows of numbers with labels: a table in three parts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .examples import Examples, Parts


@dataclass(frozen=True)
class Table(Parts):
    """Inputs are float64 (N, features).

    categories[k]: what the numbers 0, 1, … of feature k stand for; empty where the feature is a measured number.
    """

    name: str
    feature_names: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    class_names: tuple[str, ...]

    @property
    def features(self) -> int:
        return len(self.feature_names)

    @property
    def classes(self) -> int:
        return len(self.class_names)

    def standardised(self) -> Table:
        """Every feature with mean 0 and variance 1 over the training part; a constant one becomes 0."""
        mean, std = self.train.inputs.mean(axis=0), self.train.inputs.std(axis=0)
        scale = np.where(std > 0, std, 1)

        def scaled(part: Examples) -> Examples:
            return Examples((part.inputs - mean) / scale, part.labels)

        return replace(self, train=scaled(self.train), validation=scaled(self.validation), test=scaled(self.test))
