"""Graphs as text and back: `write(read(text))` keeps the meaning, `read(write(graph)) == graph` exactly.

Formulas follow Python's syntax and precedence: + - * /, x**2 and x**-1, and operators by name such as tanh(x)
or max(x, y). What is special:

    0, 1         the operators zero and one of x
    alpha * f    the parameter on the edge that leaves f; alpha alone is the same on the edge that leaves 1
    a**b         power(a, b), but for the exponents 2 (square) and -1 (reciprocal)

A product of which one factor is meant to be alpha·1 is written `alpha * 1 * f`.
Text is read through Python's own grammar, never executed: only the forms above are accepted.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from difflib import get_close_matches

from .graph import INPUT, LIMIT, PARAMETERS, FunctionError, Node, X
from .operators import BY_ALIAS, NAMES, OPERATORS

SUM, PRODUCT, SIGN, POWER, ATOM = range(5)
"""How tightly a piece of text holds together, as in Python."""
LONGEST = 2000
"""Characters of a formula: the largest graph needs fewer."""

CONSTANTS = {"zero": "0", "one": "1"}
EXPONENTS = {"square": "2", "reciprocal": "-1"}
GREEK = {"α": "alpha", "β": "beta", "γ": "gamma"}
SIGNS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}


def write(graph: Node) -> str:
    """The formula of a graph."""
    return _text(graph)[0]


def _text(node: Node) -> tuple[str, int]:
    """The text and how tightly it holds."""
    if node.parameter is None:
        return _unscaled(node)
    if _is_parameter(node):
        return node.parameter, ATOM
    return f"{node.parameter} * {_held(_unscaled(node), SIGN)}", PRODUCT


def _unscaled(node: Node) -> tuple[str, int]:
    name, operands = node.operator, node.operands
    if name == INPUT:
        return INPUT, ATOM
    if name in CONSTANTS and operands == (X,):
        return CONSTANTS[name], ATOM
    if name == "negative":
        return f"-{_held(_text(operands[0]), SIGN)}", SIGN
    if name in EXPONENTS:
        return f"{_held(_text(operands[0]), ATOM)}**{EXPONENTS[name]}", POWER
    symbol = OPERATORS[name].symbol
    if not symbol:
        return f"{name}({', '.join(_text(operand)[0] for operand in operands)})", ATOM
    level = SUM if symbol in "+-" else PRODUCT
    left, right = (_factor(o) if symbol == "*" else _text(o) for o in operands)
    return f"{_held(left, level)} {symbol} {_held(right, level + 1)}", level


def _factor(node: Node) -> tuple[str, int]:
    """In a product a parameter alone would be read as one that scales the other factor."""
    return (f"{node.parameter} * 1", PRODUCT) if _is_parameter(node) else _text(node)


def _is_parameter(node: Node) -> bool:
    return node.parameter is not None and node.operator == "one" and node.operands == (X,)


def _held(piece: tuple[str, int], needed: int) -> str:
    text, level = piece
    return text if level >= needed else f"({text})"


def read(text: str) -> Node:
    """The graph of a formula; `FunctionError` points to the place that cannot be read."""
    if not isinstance(text, str):
        raise FunctionError("a formula is a text", where="formula", received=repr(text), fix='"x * sigmoid(beta * x)"')
    if len(text) > LONGEST:
        raise FunctionError(f"a formula has at most {LONGEST} characters", where="formula",
                            received=f"{len(text)} characters", fix=f"use at most {LIMIT} operators")  # fmt: skip
    line = "".join(" " if character.isspace() else character for character in text).strip()
    try:
        tree = ast.parse(line, mode="eval").body
        graph = _Reader(line).graph(tree)
    except SyntaxError as error:
        place = (error.offset or len(line) + 1) - 1  # no offset: the end came too early
        raise _unreadable("this is not a formula", line, place, _missing(line)) from None
    except (RecursionError, MemoryError, ValueError) as error:
        if isinstance(error, FunctionError):
            raise
        raise FunctionError("this cannot be read", where="formula", received=_shortened(text),
                            fix=f"use at most {LIMIT} operators, and no invisible characters") from None  # fmt: skip
    if graph.size > LIMIT:
        raise FunctionError(f"a function has at most {LIMIT} operators", where="formula", received=f"{graph.size}",
                            fix="write a smaller formula")  # fmt: skip
    return graph


class _Reader:
    """From Python's syntax tree to a graph; every other form is refused at its place."""

    def __init__(self, line: str) -> None:
        self.line = line

    def graph(self, tree: ast.expr) -> Node:
        if isinstance(tree, ast.Name):
            return self.name(tree)
        if isinstance(tree, ast.Constant):
            return self.number(tree)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, (ast.USub, ast.UAdd)):
            operand = self.graph(tree.operand)
            return Node("negative", (operand,)) if isinstance(tree.op, ast.USub) else operand
        if isinstance(tree, ast.BinOp):
            return self.binary(tree)
        if isinstance(tree, ast.Call):
            return self.call(tree)
        raise self.refusal(tree, "this form has no meaning in a formula",
                           "+ - * / **, numbers 0 and 1, x, parameters and operators by name")  # fmt: skip

    def name(self, tree: ast.Name) -> Node:
        if tree.id == INPUT:
            return X
        parameter = _parameter(tree)
        if parameter:
            return Node("one", (X,), parameter)
        if tree.id in BY_ALIAS:
            raise self.refusal(tree, f"{tree.id} needs operands", f"{tree.id}(...)")
        raise self.refusal(tree, f"unknown name {tree.id!r}", f"x, {', '.join(PARAMETERS)}, or an operator")

    def number(self, tree: ast.Constant) -> Node:
        for name, symbol in CONSTANTS.items():
            if not isinstance(tree.value, bool) and isinstance(tree.value, (int, float)) and tree.value == int(symbol):
                return Node(name, (X,))
        raise self.refusal(tree, "the only numbers are 0 and 1, and the exponents 2 and -1",
                           "a learnable factor is alpha * ..., twice x is x + x")  # fmt: skip

    def binary(self, tree: ast.BinOp) -> Node:
        if isinstance(tree.op, ast.Pow):
            return self.power(tree)
        if type(tree.op) not in SIGNS:
            fix = "a power is written **" if isinstance(tree.op, ast.BitXor) else "use + - * / **"
            raise self.refusal(tree.right, "unknown sign before this", fix)
        left, right = self.graph(tree.left), self.graph(tree.right)
        if isinstance(tree.op, ast.Mult):
            for name, other in ((tree.left, right), (tree.right, left)):
                parameter = _parameter(name)
                if parameter and other.parameter is None:
                    return replace(other, parameter=parameter)
        return Node(SIGNS[type(tree.op)], (left, right))

    def power(self, tree: ast.BinOp) -> Node:
        exponent = ast.unparse(tree.right)
        for name, literal in EXPONENTS.items():
            if exponent == literal:
                return Node(name, (self.graph(tree.left),))
        return Node("power", (self.graph(tree.left), self.graph(tree.right)))

    def call(self, tree: ast.Call) -> Node:
        known = BY_ALIAS.get(tree.func.id) if isinstance(tree.func, ast.Name) else None
        if known is None:
            written = ast.unparse(tree.func)
            near = get_close_matches(written, BY_ALIAS, n=1)
            raise self.refusal(tree, f"unknown operator {written!r}",
                               f"did you mean {near[0]!r}?" if near else f"one of {', '.join(NAMES)}")  # fmt: skip
        arity = OPERATORS[known].arity
        if tree.keywords or len(tree.args) != arity or any(isinstance(a, ast.Starred) for a in tree.args):
            raise self.refusal(tree, f"{known} takes {arity} operand{'s' * (arity > 1)}",
                               f"{known}({', '.join('abcd'[:arity])})")  # fmt: skip
        return Node(known, tuple(self.graph(operand) for operand in tree.args))

    def refusal(self, tree: ast.expr, why: str, fix: str) -> FunctionError:
        place = len(self.line.encode()[: tree.col_offset].decode())  # Python counts bytes
        return _unreadable(why, self.line, place, fix)


def _parameter(tree: ast.expr) -> str | None:
    """The parameter that this is, by itself and without a sign."""
    name = GREEK.get(tree.id, tree.id) if isinstance(tree, ast.Name) else None
    return name if name in PARAMETERS else None


def _unreadable(why: str, line: str, place: int, fix: str) -> FunctionError:
    """The error with a piece of the formula around the place, and a mark under it."""
    start = max(0, place - 60)
    piece = line[start : place + 40]
    mark = " " * (place - start) + "^"
    return FunctionError(why, where=f"formula, character {place + 1}", received=f"{piece}\n{mark}", fix=fix)


def _missing(line: str) -> str:
    """What a person most likely has to mend in text that Python cannot read."""
    if not line.strip():
        return 'write something such as "max(alpha * x, tanh(x))"'
    opened, closed = line.count("("), line.count(")")
    if opened != closed:
        return f"there are {opened} opening and {closed} closing parentheses"
    return "write it as in Python: a * b, max(a, b), x**2"


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
