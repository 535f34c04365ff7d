"""Random bits by place, and the numbers that are made of them."""

from __future__ import annotations

from math import erf, sqrt

import numpy as np
import pytest
from scipy import special, stats

from autoinit.core.drawing.unit import EDGE, INDEPENDENT, TRUNCATED_STD, logarithm, unit
from autoinit.core.drawing.words import Words, key_of

FIRST = [1870583279, 2767934353, 3903803630, 2046204934]
VALUES = {
    "truncated_normal": [
        "0x1.90b1680000000p+0",
        "-0x1.20a8a80000000p+0",
        "-0x1.ff6b860000000p-3",
        "0x1.eca0560000000p+0",
    ],
    "normal": ["0x1.84ae820000000p+0", "-0x1.0f7c880000000p+0", "-0x1.d7ad3c0000000p-3", "0x1.fc1eec0000000p+0"],
    "uniform": ["0x1.823b460000000p+0", "-0x1.3b4be60000000p+0", "-0x1.4310880000000p-2", "0x1.a67e4c0000000p+0"],
}


def test_words_are_a_function_of_their_place():
    everything = Words(key_of(0, "w")).read(0, 10_000)
    words = Words(key_of(0, "w"))
    for start, n in ((0, 5), (9_000, 17), (3, 1), (8, 8), (2, 4_000), (1, 0)):  # forwards and back
        assert np.array_equal(words.read(start, n), everything[start : start + n])
    assert words.read(10**14, 3).tolist() == Words(key_of(0, "w")).read(10**14 - 5, 8)[5:].tolist()


def test_the_stream_is_frozen():
    """These numbers are a promise: seeds give the same weights in every version and on every machine."""
    assert Words(key_of(0, "layer.weight")).read(0, 4).tolist() == FIRST
    for kind, expected in VALUES.items():
        made = unit(Words(key_of(0, "layer.weight")).read(0, 4), kind)
        assert [x.hex() for x in made.astype(float)] == expected


def test_keys_differ():
    names = [key_of(seed, name) for seed in (0, 1, 10) for name in ("a", "b", "0a", "")]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", INDEPENDENT)
def test_against_the_inverse_distribution(kind):
    words = Words(key_of(1, kind)).read(0, 300_000)
    words[:4] = 0, 2**32 - 1, 2**31 - 1, 2**31  # the middle and both ends
    u = (2.0 * (words.view(np.int32) >> 8) + 1.0) / 2**24
    expected = {
        "uniform": sqrt(3.0) * u,
        "normal": sqrt(2.0) * special.erfinv(u),
        "truncated_normal": sqrt(2.0) * special.erfinv(EDGE * u) / TRUNCATED_STD,
    }[kind]
    np.testing.assert_allclose(unit(words.copy(), kind), expected, rtol=1.5e-6)


@pytest.mark.parametrize("kind", INDEPENDENT)
def test_distribution(kind):
    x = unit(Words(key_of(2, kind)).read(0, 200_000), kind).astype(float)
    law = {
        "uniform": stats.uniform(-sqrt(3), 2 * sqrt(3)),
        "normal": stats.norm(),
        "truncated_normal": stats.truncnorm(-2, 2, scale=1 / TRUNCATED_STD),
    }[kind]
    assert stats.kstest(x, law.cdf).pvalue > 1e-4
    assert unit(Words(key_of(2, kind)).read(0, 200_000), kind).mean() == pytest.approx(0, abs=4 / sqrt(200_000))


def test_both_signs_alike():
    words = Words(key_of(3, "w")).read(0, 1000)
    for kind in INDEPENDENT:
        assert np.array_equal(unit(words.copy(), kind), -unit(~words, kind))


def test_logarithm():
    y = np.concatenate([np.logspace(-8, 0, 1000), [0.5, sqrt(0.5), 0.25, 1.0 - 2**-24]])
    np.testing.assert_allclose(logarithm(y), np.log(y), rtol=2e-9, atol=1e-12)


def test_the_edge():
    assert erf(sqrt(2.0)) == EDGE
