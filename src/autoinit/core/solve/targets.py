"""The second moment that each weight's output is to have.

The user's variance, by name of the parameter or its layer; and along a residual trunk of n terms a share of it
(`residual="depth"`): n branches of the trunk's own size would leave it 1/(n + 1) of what it began with. A branch with a
norm on its way gets 1/n at its last weight; the scale of one without any norm is spread over its m weights, the k-th of
which gets n^(-k/m), so that no single one is small. What the branch is multiplied with afterwards counts. With
`residual="zero"` the last weights, or the gains of the norms that a branch ends in, begin at zero.

With `tables="scaled"` what is looked up among n rows of d entries, n > d, has the deviation d/n. Up to d random rows
can be told apart by the next layer as they are. More overlap, so that rows have to be learned: an optimizer whose steps
have one size (Adam) moves a row each time that it is met, one nth of the time, and a row is as large as it can move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from ..graph.feeding import Feeding
from ..graph.graph import Graph, ParameterView
from ..graph.roles import tied_tables
from ..graph.tables import Table, added_tables, looked_up
from ..graph.trunk import Addition, Norm, residual_additions
from ..options import Options, Stable, with_layers
from ..signal.signal import Signal

Measured = Callable[[ParameterView], Signal]


class Targets:
    """Shares of the variance by call, and variances by name."""

    def __init__(self, graph: Graph, feeding: Feeding, options: Options, check: bool) -> None:
        self.options, self.additions = options, residual_additions(graph, feeding)
        self.tied = tied_tables(graph)
        """Tables that a projection decides."""
        added, matched = added_tables(graph, feeding, self.tied), options.tables != "kept"
        self.tables: dict[str, Table] = {table.name: table for table in added if matched or check or table.by_tied}
        self.stable: dict[int, float] = {}
        """What stands for "stable", by call; 1 elsewhere."""
        self._shares: dict[int, tuple[float, tuple[ParameterView, ...]]] = {}
        self.zeros: set[int] = set()
        """Calls whose weights (of norms: gains) are to be zero."""
        for one in self.additions if check or options.residual == "depth" else ():
            self._share(one)
        if check or options.tables == "scaled":
            self._shares.update((index, (share, ())) for index, share in looked_up(graph, feeding, self.tied))
        if options.residual == "zero":
            self.zeros = {k for one in self.additions for k in (*one.norms, *(end.node for end in one.ends))}

    def _share(self, one: Addition) -> None:
        if one.norm is Norm.END or one.n < 2:
            return
        if one.norm is Norm.NONE:
            most = max((depth for _, depth in one.weights), default=1)
            for node, depth in one.weights:
                self._shares.setdefault(node, (one.n ** (-depth / most), ()))
            return
        for end in one.ends:
            self._shares.setdefault(end.node, (1.0 / (one.n * end.number**2), end.gains))

    def of(self, node: int, names: tuple[str, ...], measured: Measured) -> float:
        """What the output of a call with a parameter of these names is to have."""
        share, gains = self._shares.get(node, (1.0, ()))
        for gain in gains:
            share /= max(measured(gain).second, 1e-12)
        return self.variance(names, node) * min(share, 1.0)

    def as_good(self, node: int, second: float, matched: float | None = None) -> float | None:
        """Of a weight as it is: all from its share, or what it is matched to, to the whole, or what is stable, is
        right; None where there is only one size."""
        if not second > 0.0 or not (node in self._shares or node in self.stable or matched is not None):
            return None
        share, _ = self._shares.get(node, (1.0, ()))
        least, most = self.variance(()) * min(share, 1.0), self.variance((), node)
        return min(max(second, min(least, matched or least)), max(most, matched or most))

    @property
    def wants_stable(self) -> bool:
        given = self.options.variance
        return "stable" in (given.values() if isinstance(given, Mapping) else (given,))

    def variance(self, names: tuple[str, ...], node: int = -1) -> float:
        """What the user gave for a parameter, or what is stable for the output of the call."""
        given = self._given(names)
        return self.stable.get(node, 1.0) if isinstance(given, str) else float(given)

    def _given(self, names: tuple[str, ...]) -> float | Stable:
        given = self.options.variance
        if not isinstance(given, Mapping):
            return given
        known = with_layers(names)
        for pattern, variance in given.items():
            if any(fnmatchcase(name, pattern) for name in known):
                return variance
        return 1.0
