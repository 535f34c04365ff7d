"""How much is lost away from the best value of a hyperparameter: default against AutoInit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from .claim import NO, PARTLY, YES, Finding
from .trials import mostly_learned


def compared(points: Sequence[Mapping[str, Any]], what: str, comparable: float) -> Finding:
    """The mean of (best median − median) of each initialization, over the points at which either of them learned.

    A value at which nothing learns would only punish whoever has the higher best.
    No: AutoInit learned nowhere, or its mean gap is not smaller. Partly: it is smaller because AutoInit's best is
    lower than the default's by more than `comparable`, or the default learned nowhere and has no best to fall from.

    points: spreads under the keys "default" and "autoinit".
    """
    counted = [p for p in points if mostly_learned(p["default"]) or mostly_learned(p["autoinit"])]
    if not counted:
        return Finding(f"neither learned at any of {len(points)} {what}", NO)
    best = {scheme: max(p[scheme]["median"] for p in counted) for scheme in ("default", "autoinit")}
    gap = {scheme: fmean(top - p[scheme]["median"] for p in counted) for scheme, top in best.items()}
    text = f"mean gap to its own best over the {len(counted)} of {len(points)} {what} at which either learned: " + (
        ", ".join(f"{100 * gap[s]:.1f} points with {name} (best {100 * best[s]:.1f})"
                  for s, name in (("default", "the default"), ("autoinit", "AutoInit")))
    )  # fmt: skip
    if not any(mostly_learned(p["autoinit"]) for p in counted):
        return Finding(f"{text}; AutoInit learned nowhere", NO)
    if not any(mostly_learned(p["default"]) for p in counted):
        return Finding(f"{text}; the default learned nowhere", PARTLY)
    if gap["autoinit"] >= gap["default"]:
        return Finding(text, NO)
    return Finding(text, YES if best["autoinit"] >= best["default"] - comparable else PARTLY)
