"""A contest of initializations: small networks of every kind on real data, each at its best learning rate.

The rate is chosen by the validation loss, the test loss is reported; how many rates work at all is counted.
"""

from __future__ import annotations

from .claims import CLAIMS, losses
from .figure import figures
from .job import WORK
from .judging import summary
from .presets import PRESETS, jobs
from .tables import tables

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "A contest of initializations on networks of many kinds"
