"""Prints the rule book: ``python docs/ops.py`` writes the pages of docs/rules anew.

Operands, attributes and facts are those of `autoinit.core.graph.specs`, formulas those of the docstrings of
`autoinit.rules`. Every file of rules is a page, which begins with the mathematics at the head of that file.
"""

from __future__ import annotations

import ast
import inspect
import re
from itertools import pairwise
from pathlib import Path
from types import ModuleType

from autoinit import Signal
from autoinit.core.gaussian.activations import FUNCTIONS
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.graph.specs import FAMILIES, SPECS, Attribute, OpSpec, Role
from autoinit.core.graph.specs import spec as source
from autoinit.rules import RULES

FOLDER = Path(__file__).with_name("rules")
NOTATION = """\
A tensor is described by its mean m and by K(S) = E[x_i x_j], where i and j differ exactly on the axes in S
([how it works](../how-it-works.md)). K(0) or K(same) is E[x^2]; a dash marks what comes out; s^2 is the variance of
a weight's entries, n a number of connections."""
HEAD = f"""# Rule book

Every operation that a front end may emit, with its operands, attributes, facts and the formula by which signals pass.
{NOTATION}

Rules, roles of parameters and the canonical form go by this table; nodes are checked against it when they are made.
Operands in brackets may be missing, of those with a star there may be any number; they are data where no other role is
named. Axes are non-negative integers into the first operand's shape; sizes come from shapes. An attribute without a
default has to be given.

These pages are printed from `autoinit.core.graph.specs` and the docstrings of `autoinit.rules` by `python docs/ops.py`.
"""
WITHOUT_A_RULE = "Nothing is known of it: moments are measured on samples of the real op, or the signal is passed on."


def pages() -> dict[str, str]:
    """The text of every page of docs/rules, by file name."""
    found = {"index.md": _index()}
    for name, (module, ops) in sorted(_by_file().items()):
        parts = [f"# {_title(name)}\n", _markdown(inspect.getdoc(module) or ""), "", *map(_op, ops)]
        found[f"{name}.md"] = "\n".join([*parts, *(_functions() if name == "elementwise" else ())])
    return found


def _by_file() -> dict[str, tuple[ModuleType, list[OpSpec]]]:
    """Ops by the file that their rule is in, in the order of the table."""
    found: dict[str, tuple[ModuleType, list[OpSpec]]] = {}
    for op in SPECS.values():
        module = inspect.getmodule(inspect.unwrap(RULES[op.name] if op.name in RULES else RULES["custom"]))
        assert module is not None
        found.setdefault(module.__name__.rpartition(".")[2], (module, []))[1].append(op)
    return found


def _index() -> str:
    place = {op.name: name for name, (_, ops) in _by_file().items() for op in ops}
    parts = [HEAD, "## Ops\n"]
    for title, family in FAMILIES.items():
        rows = [f"| [`{op.name}`]({place[op.name]}.md#{op.name}) | {op.meaning} |" for op in family]
        parts += [f"### {title}\n", "| op | what it does |", "|---|---|", *rows, ""]
    facts = [f"- **{_words(name)}**: {meaning}" for name, meaning in FACTS.items()]
    return "\n".join([*parts, "## Facts\n", *facts, ""])


def _facts() -> dict[str, str]:
    """What may be true of an op, with the line that says so beside it in the source."""
    classes = [one for one in ast.parse(inspect.getsource(source)).body if isinstance(one, ast.ClassDef)]
    body = next(one.body for one in classes if one.name == OpSpec.__name__)
    found: dict[str, str] = {}
    for one, text in pairwise(body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.value, ast.Constant) and isinstance(text, ast.Expr):
            found[ast.unparse(one.target)] = ast.literal_eval(text.value)
    return found


FACTS = _facts()


def _op(spec: OpSpec) -> str:
    lines = [f"## {spec.name}\n", f"`{spec.signature}`: {spec.meaning}.\n"]
    rule = RULES.get(spec.name)
    lines += [_markdown(WITHOUT_A_RULE if rule is None else inspect.getdoc(rule) or ""), ""]
    if spec.attributes:
        lines += ["| attribute | holds | default | meaning |", "|---|---|---|---|"]
        lines += [*map(_attribute, spec.attributes), ""]
    roles = [f"{o.name} is {o.role.value}" for o in spec.operands if o.role is not Role.DATA]
    facts = [_words(name) for name in FACTS if getattr(spec, name) is True]
    if spec.degree is not None:
        facts.append(f"degree {spec.degree}")
    told = [f"{name}: {', '.join(items)}." for name, items in (("Roles", roles), ("Facts", facts)) if items]
    return "\n".join([*lines, " ".join(told) + "\n"] if told else lines)


def _attribute(one: Attribute) -> str:
    default = "" if one.default is source.REQUIRED else f"`{one.default!r}`"
    return f"| {one.name} | {one.expected} | {default} | {one.meaning} |"


ACTIVATIONS = (
    "relu", "leaky_relu", "relu6", "elu", "selu", "celu", "gelu", "gelu_tanh", "quick_gelu", "silu", "mish",
    "hardswish", "sigmoid", "hardsigmoid", "tanh", "hardtanh", "softplus", "softsign", "log_sigmoid", "tanhshrink",
    "softshrink", "hardshrink", "abs", "square", "erf", "sin", "cos", "exp",
)  # fmt: skip
"""Functions whose moments people look up."""


def _functions() -> list[str]:
    """What becomes of a standard normal signal."""
    return [
        "## Functions\n",
        f"{len(FUNCTIONS)} functions are known by name. Where no closed form is written, integrals are by quadrature.",
        "What the usual activations make of N(0, 1), with the defaults of their parameters; in a plain network with",
        "this activation, weights of variance 1/(n E[f(u)^2]) keep variance 1.\n",
        "| function | parameters | E[f(u)] | E[f(u)^2] | variance |",
        "|---|---|---:|---:|---:|",
        *map(_moments, ACTIVATIONS),
        "",
    ]


def _moments(name: str) -> str:
    x = Signal.function(Signal((1,), 0.0, [1.0, 1.0]), apply(name, X))
    numbers = [f"{round(v, 4) + 0.0:.4f}" for v in (x.mean, x.second, x.variance)]
    return f"| {name} | {', '.join(f'{p:g}' for p in FUNCTIONS[name].defaults)} | {' | '.join(numbers)} |"


def _markdown(text: str) -> str:
    """A docstring as Markdown: what is indented is code already, the rest may hold formulas."""
    return re.sub(r"::$", ":", "\n".join(_line(line) for line in text.splitlines()), flags=re.MULTILINE)


def _line(line: str) -> str:
    """Signs that Markdown would take for its own, outside of code."""
    if line.startswith("    "):
        return line
    parts = re.split(r"(`+[^`]*`+)", line)
    return "".join(p if p.startswith("`") else _plain(p) for p in parts)


def _plain(text: str) -> str:
    return re.sub(r"([\\*_])", r"\\\1", text).replace("<", "&lt;")


TITLES = {"contract": "Contractions", "experts": "Choices", "merge": "Merging", "normalize": "Normalisation",
          "pool": "Pooling", "random": "Chance", "recurrent": "Recurrent layers", "reduce": "Reductions",
          "registry": "Rules of your own", "resample": "Resampling", "scatter": "Scattering", "shape": "Structure",
          "complex": "Complex numbers", "convolution": "Convolutions", "elementwise": "Functions"}  # fmt: skip
"""Where the name of a file is not what its rules are about."""


def _title(name: str) -> str:
    return TITLES.get(name, name.capitalize())


def _words(name: str) -> str:
    return name.replace("_", " ")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
