"""The lowest versions are stated once: what pyproject.toml claims is what `make lowest` installs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CLAIM = re.compile(r'"([a-z-]+)>=([\d.]+)[^"]*"')


def lowest():
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


@pytest.mark.parametrize("name", ["numpy", "scipy", "keras", "jax", "tensorflow-cpu", "torch"])
def test_what_is_claimed_is_what_is_tested(name):
    claims = {v for n, v in CLAIM.findall((ROOT / "pyproject.toml").read_text()) if n == name}
    assert len(claims) == 1, f"{name} has more than one lowest version"
    claimed, tested = claims.pop(), lowest()[name]
    assert tested == claimed or tested == claimed + ".0"
