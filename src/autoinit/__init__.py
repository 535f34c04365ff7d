"""AutoInit: initial weights for any neural network, so that signals neither explode nor vanish.

    plan = autoinit.initialize(model, inputs)

Importing this package imports no deep learning framework.
"""

from . import baselines, rules
from .api import check, forget_rule, initialize, measure, plan, rule, summary
from .centred import centered
from .classic import AutoInit
from .core.inputs import Input
from .core.plan.layers import LayerPlan
from .core.plan.plan import ParameterPlan
from .core.plan.problems import PlanProblem
from .core.signal.signal import Signal, independent
from .core.solve.outcome import RuleSet
from .errors import AutoInitError, AutoInitWarning
from .installed import warn_of_namesake
from .memoryless import meta
from .plans import Plan
from .report.architecture import Summary
from .report.diff import PlanDiff
from .watching import watch

__version__ = "0.1.0"
__distribution__ = "autoinit-nn"

__all__ = [
    "AutoInit", "AutoInitError", "AutoInitWarning", "Input", "LayerPlan", "ParameterPlan", "Plan", "PlanDiff",
    "PlanProblem", "RuleSet", "Signal", "Summary", "baselines", "centered", "check", "forget_rule", "independent",
    "initialize", "measure", "meta", "plan", "rule", "rules", "summary", "watch",
]  # fmt: skip

warn_of_namesake()
