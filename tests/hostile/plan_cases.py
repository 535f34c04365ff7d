"""Plan files that somebody damaged or made up, one line each: (what, field, new value, a word of the error).

The plan is of a net with weights (6 to 8) and (8 to 4): parameters[0] and [2] are weights, [1] a bias that becomes
zero, [3] one that cancels the mean, with the row sums of parameters[2].
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

NAN, INFINITY = float("nan"), float("inf")
GONE = object()
BIG = 10**17
MANY = 10**400
W, B, C = "parameters[0]", "parameters[1]", "parameters[3]"
P, Q = "parameters[0].parts[0]", "parameters[3].parts[0]"

WRITTEN = [
    # what `apply` would act on: caught in files, and in plans that were changed in memory
    ("stride three times as wide", f"{P}.stride", [3, 24], "outside"),
    ("stride 10^7 times as wide", f"{P}.stride", [10**7, 8 * 10**7], "outside"),
    ("stride beyond 64 bits", f"{P}.stride", [2**64, 1], "up to"),
    ("stride negative", f"{P}.stride", [-1, 8], "at least 0"),
    ("stride zero: all rows one", f"{P}.stride", [0, 1], "twice"),
    ("strides alike: entries twice", f"{P}.stride", [1, 1], "twice"),
    ("one stride too few", f"{P}.stride", [1], "one stride for each axis"),
    ("one stride too many", f"{P}.stride", [1, 1, 1], "one stride for each axis"),
    ("no strides", f"{P}.stride", [], "one stride for each axis"),
    ("stride a text", f"{P}.stride", "6", "a list"),
    ("stride null", f"{P}.stride", None, "a list"),
    ("stride a number", f"{P}.stride", 6, "a list"),
    ("stride a dict", f"{P}.stride", {"0": 6}, "a list"),
    ("stride of floats", f"{P}.stride", [8.0, 1.0], "an integer"),
    ("stride of texts", f"{P}.stride", ["8", "1"], "an integer"),
    ("stride of booleans", f"{P}.stride", [True, True], "an integer"),
    ("stride of lists", f"{P}.stride", [[8], [1]], "an integer"),
    ("stride of nulls", f"{P}.stride", [None, None], "an integer"),
    ("stride with NaN", f"{P}.stride", [NAN, 1], "NaN|an integer"),
    ("offset one too far", f"{P}.offset", 1, "outside"),
    ("offset far away", f"{P}.offset", BIG, "outside"),
    ("offset negative", f"{P}.offset", -1, "at least 0"),
    ("offset very negative", f"{P}.offset", -(2**62), "at least 0"),
    ("offset a float", f"{P}.offset", 0.0, "an integer"),
    ("offset a boolean", f"{P}.offset", False, "an integer"),
    ("offset null", f"{P}.offset", None, "an integer"),
    ("part larger than its parameter", f"{P}.shape", [9, 9], "outside"),
    ("part of astronomic shape", f"{P}.shape", [BIG, BIG], "outside"),
    ("part of negative shape", f"{P}.shape", [-8, -6], "at least 0"),
    ("part of more axes", f"{P}.shape", [2, 4, 6], "one stride for each axis"),
    ("part without a shape", f"{P}.shape", None, "a list"),
    ("part with a shape of floats", f"{P}.shape", [8.0, 6.0], "an integer"),
    ("kind unknown", f"{P}.kind", "nonsense", "one of"),
    ("kind a number", f"{P}.kind", 3, "a text"),
    ("kind empty", f"{P}.kind", "", "one of"),
    ("kind null", f"{P}.kind", None, "a text"),
    ("kind in capitals", f"{P}.kind", "RANDOM", "one of"),
    ("std negative", f"{P}.std", -0.1, "not negative"),
    ("std NaN", f"{P}.std", NAN, "NaN|finite"),
    ("std infinite", f"{P}.std", INFINITY, "Infinity|finite"),
    ("std a text", f"{P}.std", "0.1", "a number"),
    ("std a boolean", f"{P}.std", True, "a number"),
    ("std null", f"{P}.std", None, "a number"),
    ("std a list", f"{P}.std", [0.1], "a number"),
    ("std an integer of 400 digits", f"{P}.std", MANY, "digits|finite"),
    ("rows a number", f"{P}.rows", 0, "a list"),
    ("rows negative", f"{P}.rows", [-1], "at least 0"),
    ("rows of texts", f"{P}.rows", ["0"], "an integer"),
    ("groups zero", f"{P}.groups", 0, "at least 1"),
    ("groups negative", f"{P}.groups", -2, "at least 1"),
    ("groups a float", f"{P}.groups", 1.0, "an integer"),
    ("value NaN", f"{P}.value", NAN, "NaN|finite"),
    ("value a text", f"{P}.value", "0", "a number"),
    ("of_offset a text", f"{P}.of_offset", "0", "an integer"),
    ("weight of a bias: stride three times as wide", f"{Q}.of_stride", [24, 3], "outside"),
    ("weight of a bias: stride 10^7 times as wide", f"{Q}.of_stride", [8 * 10**7, 10**7], "outside"),
    ("weight of a bias: negative stride", f"{Q}.of_stride", [-8, -1], "at least 0"),
    ("weight of a bias: stride zero", f"{Q}.of_stride", [0, 0], "twice"),
    ("weight of a bias: one stride", f"{Q}.of_stride", [1], "one stride for each axis"),
    ("weight of a bias: too large a shape", f"{Q}.of_shape", [4, 9], "outside"),
    ("weight of a bias: another number of rows", f"{Q}.of_shape", [2, 8], "outputs"),
    ("weight of a bias: astronomic shape", f"{Q}.of_shape", [BIG, BIG], "outside"),
    ("weight of a bias: empty shape", f"{Q}.of_shape", [], "one stride for each axis"),
    ("weight of a bias: offset outside", f"{Q}.of_offset", 1, "outside"),
    ("weight of a bias: offset far outside", f"{Q}.of_offset", 2**62, "outside"),
    ("weight of a bias: offset negative", f"{Q}.of_offset", -4, "at least 0"),
    ("weight of a bias: no name", f"{Q}.of", "", "a parameter of the plan"),
    ("weight of a bias: unknown name", f"{Q}.of", "nowhere", "a parameter of the plan"),
    ("weight of a bias: a number", f"{Q}.of", 7, "a text"),
    ("rows of a bias out of range", f"{Q}.rows", [2], "axes"),
    ("rows of a bias far out of range", f"{Q}.rows", [10**9], "axes"),
    ("rows of a bias twice", f"{Q}.rows", [0, 0], "axes"),
    ("rows of a bias: all axes", f"{Q}.rows", [0, 1], "outputs"),
    ("rows of a bias: none", f"{Q}.rows", [], "outputs"),
    ("rows of a bias: the other axis", f"{Q}.rows", [1], "outputs"),
    ("mean of a bias infinite", f"{Q}.value", INFINITY, "Infinity|finite"),
    ("mean of a bias null", f"{Q}.value", None, "a number"),
    ("a bias smaller than the rows", f"{Q}.shape", [3], "outputs"),
    ("a bias that is outside", f"{Q}.offset", 1, "outside"),
    ("orthogonal with rows out of range", f"{P}", {"kind": "orthogonal", "rows": [5]}, "axes"),
    ("orthogonal with rows twice", f"{P}", {"kind": "orthogonal", "rows": [0, 0]}, "axes"),
    ("a centring part without a weight", f"{P}", {"kind": "centre", "of": "nowhere"}, "a parameter of the plan"),
    ("shape of a parameter a text", f"{W}.shape", "86", "a list"),
    ("shape of a parameter negative", f"{W}.shape", [-8, 6], "at least 0"),
    ("shape of a parameter of floats", f"{W}.shape", [8.0, 6.0], "an integer"),
    ("shape of a parameter astronomic", f"{W}.shape", [BIG, BIG], "that large"),
    ("shape of a parameter smaller than its part", f"{W}.shape", [2, 2], "outside"),
    ("shape of a parameter empty", f"{W}.shape", [], "outside"),
    ("name empty", f"{W}.name", "", "name"),
    ("name a number", f"{W}.name", 0, "a text"),
    ("name null", f"{W}.name", None, "a text"),
    ("name of ten million letters", f"{W}.name", "x" * 10**7, "characters"),
    ("the same name twice", f"{W}.name", "SECOND", "twice"),
    ("action unknown", f"{W}.action", "explode", "one of"),
    ("action a list", f"{W}.action", ["set"], "a text"),
    ("action kept, with parts", f"{W}.action", "kept", "left alone"),
    ("parts a dict", f"{W}.parts", {}, "a list"),
    ("parts null", f"{W}.parts", None, "a list"),
    ("parts of numbers", f"{W}.parts", [1, 2], "fields of a PartPlan"),
    ("parts of lists", f"{W}.parts", [[]], "fields of a PartPlan"),
    ("layer a text", f"{W}.layer", "0", "an integer"),
    ("layer negative", f"{W}.layer", -1, "at least 0"),
    ("parameters a dict", "parameters", {}, "a list"),
    ("parameters null", "parameters", None, "a list"),
    ("parameters of texts", "parameters", ["0.weight"], "fields of a ParameterPlan"),
    ("parameters of nulls", "parameters", [None], "fields of a ParameterPlan"),
    ("distribution unknown", "distribution", "cauchy", "one of"),
    ("distribution null", "distribution", None, "a text"),
    ("distribution a list", "distribution", ["normal"], "a text"),
    ("exact a text", "exact", "yes", "true or false"),
    ("exact a number", "exact", 1, "true or false"),
    ("centers a dict", "centers", {}, "a list"),
    ("centers of numbers", "centers", [1], "fields of a CenterPlan"),
    ("shift NaN", "centers[0].shift", NAN, "NaN|finite"),
    ("shift infinite", "centers[0].shift", INFINITY, "Infinity|finite"),
    ("shift a text", "centers[0].shift", "0.4", "a number"),
    ("shift null", "centers[0].shift", None, "a number"),
    ("place a number", "centers[0].place", 1, "a text"),
    ("function null", "centers[0].function", None, "a text"),
    ("calls zero", "centers[0].calls", 0, "at least 1"),
]

FILED = [
    # the rest of the file
    ("a field of tomorrow", "spectrum", [1.0], "newer"),
    ("a field of tomorrow in a parameter", f"{W}.device", "cuda", "newer"),
    ("a field of tomorrow in a part", f"{P}.mask", [1], "newer"),
    ("a field with a name that is no name", "__class__", "os.system", "newer"),
    ("no parameters", "parameters", GONE, "missing"),
    ("no tensors", "tensors", GONE, "missing"),
    ("no seed", "seed", GONE, "missing"),
    ("a part without a shape", f"{P}.shape", GONE, "missing"),
    ("a parameter without a name", f"{W}.name", GONE, "missing"),
    ("a centre without its shift", "centers[0].shift", GONE, "missing"),
    ("a note without a message", "notes[0].message", GONE, "missing"),
    ("another name twice", f"{W}.aliases", ["x", "x"], "two parameters have this name"),
    ("format of tomorrow", "autoinit_plan", 3, "newer version"),
    ("format zero", "autoinit_plan", 0, "format"),
    ("format true", "autoinit_plan", True, "format"),
    ("format a float", "autoinit_plan", 1.0, "format"),
    ("format a text", "autoinit_plan", "1", "format"),
    ("format null", "autoinit_plan", None, "format"),
    ("no format", "autoinit_plan", GONE, "no field autoinit_plan"),
    ("seed a text", "seed", "0", "an integer"),
    ("seed a float", "seed", 0.5, "an integer"),
    ("seed true", "seed", True, "an integer"),
    ("seed null", "seed", None, "an integer"),
    ("seed of 60 digits", "seed", 10**60, "digits"),
    ("training a text", "training", "true", "true or false"),
    ("training null", "training", None, "true or false"),
    ("checked a number", "checked", 0, "true or false"),
    ("variance a text", "variance", "1", "a number"),
    ("variance null", "variance", None, "a number"),
    ("model a number", "model", 3, "a text"),
    ("framework a list", "framework", ["torch"], "a text"),
    ("outputs out of range", "outputs", [10**6], "tensors"),
    ("outputs negative", "outputs", [-1], "at least 0"),
    ("outputs of floats", "outputs", [0.0], "an integer"),
    ("layer out of range", f"{W}.layer", 10**6, "tensors"),
    ("tensors a dict", "tensors", {}, "a list"),
    ("a tensor out of order", "tensors[0].index", 5, "in their order"),
    ("a tensor with a negative index", "tensors[0].index", -1, "at least 0"),
    ("shape of a tensor a text", "tensors[0].shape", "x", "a list"),
    ("mean of a tensor a text", "tensors[0].mean", "0", "a number"),
    ("mean of a tensor a boolean", "tensors[0].mean", False, "a number"),
    ("target a text", "tensors[0].target", "1", "a number"),
    ("correlation a number", "tensors[0].correlation", 0.5, "a list"),
    ("correlations of texts", "tensors[0].correlation", ["a"], "a number"),
    ("more correlations than axes", "tensors[0].correlation", [0.0] * 9, "each axis"),
    ("scatter a list", "tensors[0].scatter", [], "a number"),
    ("weight of a tensor a number", "tensors[0].weight", 1, "a text"),
    ("notes of texts", "notes", ["careful"], "fields of a Note"),
    ("message of a note a number", "notes[0].message", 3, "a text"),
    ("the same place twice", "centers", "DOUBLED", "twice"),
]

TEXTS = [
    # what is no plan at all
    ("empty", b"", "empty"),
    ("blank", b" \n\t\n", "empty"),
    ("zero bytes", b"\x00" * 64, "not JSON"),
    ("random bytes", bytes(range(256)) * 4, "not JSON"),
    ("a picture", b"\x89PNG\r\n\x1a\n" + b"\x00" * 99, "not JSON"),
    ("a pickle", b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s.", "not JSON"),
    ("Python", b"{'autoinit_plan': 1}", "not JSON"),
    ("half of an object", b'{"autoinit_plan": 1, "model"', "not JSON"),
    ("two objects", b"{}{}", "not JSON"),
    ("a trailing comma", b'{"autoinit_plan": 1,}', "not JSON"),
    ("a text that does not end", b'{"' + b"a" * 10**6, "not JSON"),
    ("quotes and backslashes", b'{"' + b'\\"' * 10**5, "not JSON"),
    ("50,000 brackets", b"[" * 50_000, "nested"),
    ("50,000 brackets, closed", b"[" * 50_000 + b"]" * 50_000, "nested"),
    ("50,000 objects", b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "nested"),
    ("a million brackets", b'{"autoinit_plan":1,"parameters":' + b"[" * 10**6, "nested"),
    ("an integer of 5,000 digits", b'{"autoinit_plan": ' + b"1" * 5000 + b"}", "digits"),
    ("an integer of a million digits", b'{"autoinit_plan": ' + b"9" * 10**6 + b"}", "digits"),
    ("a negative one of 5,000 digits", b'{"seed": -' + b"1" * 5000 + b"}", "digits"),
    ("a float of 5,000 digits", b'{"autoinit_plan": ' + b"1" * 5000 + b".5}", "too large"),
    ("an exponent of 999", b'{"autoinit_plan": 1e999}', "too large"),
    ("NaN", b'{"autoinit_plan": 1, "variance": NaN}', "NaN"),
    ("Infinity", b'{"autoinit_plan": Infinity}', "Infinity"),
    ("-Infinity", b'{"autoinit_plan": -Infinity}', "Infinity"),
    ("a field twice", b'{"autoinit_plan": 1, "autoinit_plan": 1}', "twice"),
    ("a list", b"[1, 2]", "no plan"),
    ("a text", b'"plan"', "no plan"),
    ("a number", b"1", "no plan"),
    ("null", b"null", "no plan"),
    ("true", b"true", "no plan"),
    ("an empty object", b"{}", "no plan"),
    ("nothing but the format", b'{"autoinit_plan": 1}', "missing"),
    ("UTF-16", '{"autoinit_plan": 1}'.encode("utf-16"), "not JSON"),
    ("UTF-32", '{"autoinit_plan": 1}'.encode("utf-32"), "not JSON"),
    ("Latin-1", '{"autoinit_plan": 1, "model": "Größe"}'.encode("latin-1"), "not JSON"),
    ("a package of Keras", b"PK\x03\x04" + b"\x00" * 99, "not JSON"),
]

HARMLESS = [
    # odd, but nothing is wrong with it
    ("nothing changed", "", None),
    ("integers for numbers", f"{P}.std", 1),
    ("std zero", f"{P}.std", 0.0),
    ("predictions that are no numbers", "tensors[0].mean", None),
    ("a note of another kind", "notes[0].kind", "hint"),
    ("a model with a name in Greek", "model", "Δίκτυο"),
    ("a model with control characters", "model", "\x1b[31m\u202e"),
    ("a framework of tomorrow", "framework", "tinygrad"),
    ("no centers, as before there were any", "centers", GONE),
    ("a parameter without parts", f"{B}.parts", []),
    ("a part of nothing", f"{P}.shape", [0, 6]),
    ("groups that do not divide, for independent entries", f"{P}.groups", 7),
    ("a negative constant", f"{B}.parts[0].std", -1.0),
]


def path_of(field: str) -> list[str | int]:
    """``parameters[3].stride`` as steps."""
    return [int(n) if n else name for n, name in re.findall(r"\[(\d+)\]|([^.\[\]]+)", field)]


def damaged(data: dict[str, Any], field: str, value: Any) -> dict[str, Any]:
    """A copy of a plan's dict with one field changed."""
    data = copy.deepcopy(data)
    if not field:
        return data
    *steps, last = path_of(field)
    place: Any = data
    for step in steps:
        place = place[step]
    value = _meant(value, data)
    if value is GONE:
        del place[last]
    elif isinstance(value, dict) and isinstance(last, int):
        place[last].update(value)
    else:
        place[last] = value
    return data


def _meant(value: Any, data: dict[str, Any]) -> Any:
    if isinstance(value, str) and value == "SECOND":
        return data["parameters"][1]["name"]
    return data["centers"] * 2 if isinstance(value, str) and value == "DOUBLED" else value


def changed(plan: Any, field: str, value: Any) -> None:
    """The same in a plan that is in memory."""
    *steps, last = path_of(field)
    place = plan
    for step in steps:
        place = place[step] if isinstance(step, int) else getattr(place, step)
    if isinstance(last, int):
        for name, inner in value.items():
            setattr(place[last], name, inner)
    else:
        setattr(place, last, plan.parameters[1].name if isinstance(value, str) and value == "SECOND" else value)


def content(data: dict[str, Any]) -> bytes:
    """As a careless writer would save it: NaN and all."""
    import sys

    limit = getattr(sys, "set_int_max_str_digits", None)
    if limit is not None:
        limit(0)
    try:
        return json.dumps(data).encode("utf-8")
    finally:
        if limit is not None:
            limit(4300)
