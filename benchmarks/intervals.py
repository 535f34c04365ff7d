"""Is the target inside the 95 % confidence interval of a mean?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

Array = NDArray[np.float64]


def inside_t(samples: Array, target: Array, level: float = 0.95) -> NDArray[np.bool_]:
    """The plain interval, mean +- t s / sqrt(n). samples: (n, layers)."""
    n = len(samples)
    if n < 2:
        return np.zeros(samples.shape[1:], bool)
    half = student.ppf((1 + level) / 2, n - 1) * samples.std(axis=0, ddof=1) / n**0.5
    return np.abs(samples.mean(axis=0) - target) <= half


def inside_lognormal(samples: Array, target: Array, level: float = 0.95) -> NDArray[np.bool_]:
    """Cox's interval for the mean of a log-normal quantity.

    The variance of a deep layer is a product of many factors, one per layer, so its logarithm is normal and
    its mean is carried by rare large draws that few seeds show. With a the mean and s^2 the variance of the
    logarithms: log(mean) = a + s^2/2 +- t sqrt(s^2/n + s^4/(2(n-1))).
    """
    n = len(samples)
    if n < 2:
        return np.zeros(samples.shape[1:], bool)
    logs = np.log(np.maximum(samples, 1e-300))
    s2 = logs.var(axis=0, ddof=1)
    half = student.ppf((1 + level) / 2, n - 1) * np.sqrt(s2 / n + s2**2 / (2 * (n - 1)))
    return np.abs(logs.mean(axis=0) + s2 / 2 - np.log(target)) <= half


def within(ratio: Array, factor: float) -> NDArray[np.bool_]:
    return (ratio >= 1 / factor) & (ratio <= factor)
