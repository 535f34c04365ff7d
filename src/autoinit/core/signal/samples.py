"""Draw arrays that have the moments of a signal.

The covariance of an exchangeable array treats every axis alike: along one axis it is ``(c0 - c1) I + c1
11'``, whose eigenspaces are the constant vectors (eigenvalue c0 + (n - 1) c1) and their complement
(eigenvalue c0 - c1). For a whole array the eigenspaces are the products of these, one per set B of axes along
which the component varies, with eigenvalue

    lambda_B = (apply [c0 - c1 if a in B else c0 + (n_a - 1) c1] along every axis) of C(S) = K(S) - m^2.

So with white noise z and P_B the projection on eigenspace B (centre along the axes in B, average along the
others)

    x = m + sum_B sqrt(lambda_B) P_B z

is Gaussian with exactly these moments; the lambda are nonnegative for every moment table that an array of
this size can have, negative correlations (a centred axis) included.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..gaussian.expression import X, evaluate
from . import axes as K_axes
from .profiles import Array
from .signal import Signal

MOST_PRODUCTS = 2**27
"""Directions are drawn for arrays of so many entries times directions at most."""


def sample(
    signal: Signal, rng: np.random.Generator, sizes: Mapping[int, int] | None = None, features: int | None = None
) -> NDArray[np.float64]:
    """One array with the moments of `signal`; `sizes` overrides the length of some axes.

    The Gaussian source is drawn, scaled by its position profiles, and the signal's function applied to it. Entries
    along the axis `features` are mixtures of as many directions as the tensor really has (`deficiency`).
    """
    shape = tuple((sizes or {}).get(axis, n) for axis, n in enumerate(signal.shape))
    source = signal.source
    width = round(1.0 / source.deficiency) if source.deficiency > 0.0 and source.mean == 0.0 else 0
    if features is not None and width > 0 and width * prod(shape) <= MOST_PRODUCTS:
        few = tuple(width if axis == features else n for axis, n in enumerate(shape))
        mixture = rng.standard_normal((width, shape[features])) / width**0.5
        drawn = np.moveaxis(gaussian_array(0.0, source.covariance, few, rng), features, -1)
        drawn = np.moveaxis(np.asarray(drawn @ mixture, np.float64), -1, features)
    else:
        drawn = gaussian_array(source.mean, source.covariance, shape, rng)
    for axis, profile in enumerate(source.profiles):
        if profile is not None and len(profile) == shape[axis]:
            along = [1] * len(shape)
            along[axis] = shape[axis]
            drawn = drawn * np.sqrt(np.asarray(profile, float)).reshape(along)
    drawn = np.asarray(drawn, float)
    if signal.expr is X:
        return drawn
    return np.asarray(evaluate(signal.expr, drawn), float) + np.zeros(shape)


def complex_sample(signal: Signal, rng: np.random.Generator) -> NDArray[np.complex128]:
    """A complex array with E[z conj(z')] = K: a real mean, the rest in equal parts, the two unrelated."""
    real, imaginary = (sample(signal, rng) - signal.mean for _ in range(2))
    return np.asarray(signal.mean + (real + 1j * imaginary) * 0.5**0.5)


def gaussian_array(
    mean: float, covariance: Array, shape: tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.float64]:
    """A Gaussian array of this mean and covariance table (shape (2,)*d), by its eigenspaces."""
    scale = np.sqrt(np.maximum(eigenvalues(covariance, shape), 0.0))
    parts: dict[tuple[int, ...], Any] = {(): rng.standard_normal(shape)}
    for axis in range(len(shape)):
        split: dict[tuple[int, ...], Any] = {}
        for varies, z in parts.items():
            common = z.mean(axis=axis, keepdims=True)
            split[(*varies, 0)] = common
            if shape[axis] > 1:
                split[(*varies, 1)] = z - common
        parts = split
    total = np.full(shape, float(mean))
    for varies, z in parts.items():
        if scale[varies] > 0.0:
            total = total + scale[varies] * z
    return np.asarray(total, float)


def eigenvalues(covariance: Array, shape: tuple[int, ...]) -> Array:
    """lambda_B of the module's text; bit 1 on an axis means that the component varies along it."""
    table = np.asarray(covariance, float)
    for axis, n in enumerate(shape):
        same, different = K_axes.same(table, axis), K_axes.different(table, axis)
        if n == 1:
            table = K_axes.of_both(same, np.zeros_like(same), axis)
        else:
            table = K_axes.of_both(same + (n - 1) * different, same - different, axis)
    return table
