"""Equations of einsum as every framework writes them."""

from __future__ import annotations

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def explicit(equation: str, ranks: list[int]) -> str:
    """Spell out '...' and the implicit output of an einsum equation."""
    equation = equation.replace(" ", "")
    left, arrow, out = equation.partition("->")
    names = left.split(",")
    spare = [c for c in LETTERS if c not in equation]
    widths = [rank - len(n.replace("...", "")) if "..." in n else 0 for n, rank in zip(names, ranks, strict=True)]
    widest = max(widths)
    dots = "".join(spare[:widest])
    filled = [n.replace("...", dots[widest - width :]) for n, width in zip(names, widths, strict=True)]
    if not arrow:
        letters = "".join(names).replace("...", "")
        out = ("..." if "..." in left else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return ",".join(filled) + "->" + out.replace("...", dots)
