"""The plan as users have it: the core's data, with what it can do.

It is looked up like a mapping, applies itself, saves, loads, compares, prints and draws.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core.files import replace_text
from .core.options import read_flag, read_seed
from .core.plan.check import check_writes
from .core.plan.file import parsed, plan_from_dict, plan_to_dict
from .core.plan.layers import LayerPlan, layer
from .core.plan.measured import MeasurementData, Result
from .core.plan.plan import ParameterPlan, PlanData
from .core.plan.problems import PlanProblem, problems
from .errors import PlanError
from .frontends.choice import front_end_of
from .report.dataframe import Rows, dataframe
from .report.diff import TOLERANCE, PlanDiff, diff
from .report.notebook import plan_html
from .report.page import page
from .report.plot import plot
from .report.terminal import coloured, show
from .report.text import table
from .telling import left_frozen, tell, untied

if TYPE_CHECKING:
    import pandas


class Plan(PlanData):
    """The result of an analysis. `apply` puts it into a model; everything else only reads it.

    A plan is a collection of parameters: `len`, iteration and `in` are about these, in the model's order::

        for parameter in plan:
            print(parameter.name, parameter.action, parameter.std)

    ``plan["head.weight"]`` is one of them, ``plan["head"]`` all that is known of a module and what is inside;
    `parameter` and `layer` are the same for type checkers.
    """

    __slots__ = ()

    @classmethod
    def of(cls, data: PlanData) -> Plan:
        """The same plan, with these methods."""
        return cls(**{field.name: getattr(data, field.name) for field in fields(data)})

    def __len__(self) -> int:
        return len(self.parameters)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[ParameterPlan]:
        return iter(self.parameters)

    def __contains__(self, item: object) -> bool:
        """Of a parameter, or of the name of a parameter or a module."""
        if isinstance(item, str):
            return self.find(item) is not None or layer(self, item) is not None
        return item in self.parameters

    def __getitem__(self, name: str) -> ParameterPlan | LayerPlan:
        found = self.find(name) or layer(self, name)
        if found is None:
            raise self._unknown(name, [*(p.name for p in self.parameters), *(t.module for t in self.tensors)])
        return found

    def layer(self, name: str) -> LayerPlan:
        """What is known of a module and of all modules inside: parameters, predicted tensors, the worst verdict::

        plan.layer("blocks.3").verdict
        """
        found = layer(self, name)
        if found is None:
            raise self._unknown(name, [t.module for t in self.tensors])
        return found

    def _unknown(self, name: str, known: list[str]) -> PlanError:
        known = [n for n in dict.fromkeys(known) if n]
        close = get_close_matches(str(name), known, n=1)
        fix = f"did you mean '{close[0]}'?" if close else f"one of: {', '.join(known[:5])} ..."
        return PlanError("no parameter or module of that name in the plan", where="Plan", received=repr(name), fix=fix)

    @property
    def problems(self) -> list[PlanProblem]:
        """What is wrong, or worth a look: layers by their verdicts, then warnings, then what is not reached::

            for problem in plan.problems:
                print(problem.severity, problem.place, problem.what)
        """
        return problems(self)

    @property
    def ok(self) -> bool:
        """Whether no signal vanishes, explodes or is no number: `problems` has none of severity "error"."""
        return not any(problem.severity == "error" for problem in self.problems)

    def to_dataframe(self, rows: Rows = "layers") -> pandas.DataFrame:
        """The plan as a table of pandas (which has to be installed): one row for each of

        "layers": the weight layers, as printed; "parameters": what happens to them; "tensors": all predictions::

            plan.to_dataframe().query("verdict != 'ok'")
        """
        return dataframe(self, rows)

    def apply(self, model: Any, seed: int | None = None, *, partial: bool = False, warn: bool = True) -> Any:
        """Draw the weights and write them into `model`: all of them, or none if anything does not fit.

        That holds whatever happens meanwhile: an interrupt or too little memory leaves the model as it was. Every
        weight is a function of the seed, its parameter's name and its place there, so a shard gets what the whole
        parameter would hold at its place.

        partial: the model is a part of the planned one (a pipeline stage); what it does not have is left out.
        """
        seed = self.seed if seed is None else read_seed(seed)
        front_end = front_end_of(model)
        if self.checked:
            raise PlanError("this plan only describes the present weights", where="Plan.apply",
                            received="what autoinit.check gave",
                            fix="use autoinit.plan(...) instead of check(...)")  # fmt: skip
        check_writes(self)
        plan = self.restricted(front_end.names(model)) if read_flag("partial", partial) else self
        made = front_end.apply(plan, model, seed)
        tell(self, [*left_frozen(self, front_end.frozen(model)), *untied(self, front_end.identities(model))], warn)
        return made

    def save(self, path: str | Path) -> None:
        """Write the plan as JSON. The file is replaced as a whole, or (on a full disk, say) stays as it was."""
        replace_text(path, json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan written by `save`. Loading never runs code, and every field is checked."""
        return plan_from_dict(cls, parsed(path), str(path))

    def to_dict(self) -> dict[str, Any]:
        return plan_to_dict(self)

    @classmethod
    def from_dict(cls, data: Any, where: str = "plan") -> Plan:
        """The inverse of `to_dict`. Anything that is not what `save` writes is a `PlanError` with its place."""
        return plan_from_dict(cls, data, where)

    def diff(self, other: PlanData, tolerance: float = TOLERANCE) -> PlanDiff:
        """What another plan does differently: settings, parameters, predicted signals and verdicts::

            print(plan.diff(autoinit.check(model, inputs)))

        Standard deviations and variances that differ by no more than `tolerance`, a share, count as equal.
        """
        return diff(self, other, tolerance)

    def __str__(self) -> str:
        return table(self)

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        yield coloured(self, options.max_width)

    def _repr_html_(self) -> str:
        return plan_html(self)

    def show(self) -> None:
        """Print the table; in a terminal with rich installed in colour."""
        show(self)

    def plot(
        self,
        path: str | Path | None = None,
        *,
        labels: Sequence[str] | None = None,
        title: str | None = None,
        compare: Mapping[str, Result] | None = None,
        measured: MeasurementData | None = None,
    ) -> Any:
        """Draw variance and mean against depth (needs matplotlib); return the figure, and save it if a path is given.

        `compare={"default": autoinit.check(model, inputs)}` draws others beside it, `measured=autoinit.measure(...)`
        what was measured over it.
        """
        return plot(self, path, labels=labels, title=title, compare=compare, measured=measured)

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        default: Result | None = None,
        measured: MeasurementData | None = None,
    ) -> str:
        """The plan as one interactive page without network (needs plotly); saved if a path is given.

        `default` is what to compare with (a `check` plan or a measurement), `measured` a measurement of this plan.
        """
        return page(self, path, default=default, measured=measured)
