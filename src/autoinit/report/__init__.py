"""Tables, figures and pages of plans and measurements; the data they show is in `data`, apart from the drawing."""

from .data import LayerRow, first_problem, layer_rows, verdict
from .plot import plot
from .terminal import show
from .text import measurement_table, table

__all__ = ["LayerRow", "first_problem", "layer_rows", "measurement_table", "plot", "show", "table", "verdict"]
