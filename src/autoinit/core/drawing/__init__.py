"""Drawing weights: every value is a function of the seed, the parameter's name and the entry's place in the parameter.

So any rectangle of a parameter (a shard) can be drawn by itself, by anyone, with no memory beyond it, and holds exactly
what the whole parameter would hold there: `words` gives 32 random bits per entry, `unit` makes them numbers of
variance one, `stretches` draws rectangles on all cores, `values` fills a parameter as its plan says.
"""

from __future__ import annotations

from .centre import centred_bias
from .stretches import slabs
from .values import Draw

__all__ = ["Draw", "centred_bias", "slabs"]
