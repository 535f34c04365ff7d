"""The neutral vocabulary as data: one `OpSpec` per op that a front end may emit. `docs/rules` is printed from it.

Axes are non-negative integers into the first operand's shape. Sizes come from the shapes of the values. What is not in
this table is simulated, or emitted as ``opaque``.
"""

from .contractions import CONTRACTIONS
from .functions import FUNCTIONS
from .reductions import REDUCTIONS
from .spec import Attribute, Operand, OpSpec, Role
from .structure import STRUCTURE

FAMILIES = {
    "Contractions": CONTRACTIONS,
    "Functions, statistics, chance": FUNCTIONS,
    "Pooling and reductions": REDUCTIONS,
    "Structure": STRUCTURE,
}
SPECS: dict[str, OpSpec] = {spec.name: spec for family in FAMILIES.values() for spec in family}


def spec_of(op: str) -> OpSpec:
    """What is known of an op; of one that nobody knows, nothing."""
    return SPECS.get(op) or SPECS["opaque"]


__all__ = ["FAMILIES", "SPECS", "Attribute", "OpSpec", "Operand", "Role", "spec_of"]
