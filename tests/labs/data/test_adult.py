"""Adult as the UCI repository and as PMLB distribute it."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autoinit.errors import OptionError
from autoinit.labs.data import DataError, Table, load_adult
from autoinit.labs.data.adult import read
from autoinit.labs.data.adult_coding import COLUMNS
from tests.labs.data.making import write, zipped

LINE = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    "United-States, <=50K"
)
FIRST = [39, 7, 77516, 9, 13, 4, 1, 1, 4, 1, 2174, 0, 40, 39]
"""The first person, and the same in PMLB's numbers (the first row there), target 1."""


def people(count: int, start: int) -> list[str]:
    """Rows that run through every category."""
    rows = []
    for k in range(start, start + count):
        fields = [str(17 + k) if not values else values[k % len(values)] for values in COLUMNS.values()]
        rows.append(", ".join([*fields, ">50K" if k % 4 == 0 else "<=50K"]))
    return rows


def uci() -> dict[str, bytes]:
    """As in the originals, adult.data ends in an empty line; adult.test has a remark first, and points at its ends."""
    test = [f"{line}." for line in people(42, 60)]
    return {
        "adult.data": "\n".join([LINE, *people(57, 0), "", ""]).encode(),
        "adult.test": "\n".join(["|1x3 Cross validator", *test, ""]).encode(),
    }


def pmlb() -> str:
    rows = [[*FIRST, 1]]
    for start, count in ((0, 57), (60, 42)):
        for k in range(start, start + count):
            numbers = [17 + k if not values else k % len(values) for values in COLUMNS.values()]
            rows.append([*numbers, int(k % 4 != 0)])
    head = "\t".join([*COLUMNS, "target"])
    lines = ("\t".join([f"{row[0]}.0", *map(str, row[1:])]) for row in rows)
    return "\n".join([head, *lines, ""])


FORMS: dict[str, Callable[[Path], Path]] = {
    "UCI": lambda p: write(p, uci()),
    "UCI in a folder": lambda p: write(p, {f"adult/{name}": content for name, content in uci().items()}),
    "UCI's archive": lambda p: zipped(p / "adult.zip", {**uci(), "Index": b"x"}).parent,
    "the wheel": lambda p: zipped(
        p / "aif360-0.3.0rc0-py3-none-any.whl", {f"aif360/data/raw/adult/{n}": c for n, c in uci().items()}
    ).parent,
    "PMLB": lambda p: write(p, {"adult.tsv.gz": gzip.compress(pmlb().encode())}),
    "PMLB in its folder": lambda p: write(p, {"adult/adult.tsv.gz": gzip.compress(pmlb().encode())}),
    "PMLB's file itself": lambda p: write(p, {"adult.tsv.gz": gzip.compress(pmlb().encode())}) / "adult.tsv.gz",
    "PMLB unpacked": lambda p: write(p, {"adult.tsv": pmlb().encode()}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_rows_of_pmlb(tmp_path: Path, form: str) -> None:
    rows = read(FORMS[form](tmp_path))
    assert rows is not None and rows.inputs.shape == (100, 14) and rows.inputs.dtype == np.float64
    assert rows.inputs[0].tolist() == FIRST and rows.labels[0] == 1
    assert rows.inputs[1].tolist() == [17 if not values else 0 for values in COLUMNS.values()] and rows.labels[1] == 0
    assert rows.labels[1:].tolist() == [int(k % 4 != 0) for k in (*range(57), *range(60, 102))]


def test_unknown_values_are_a_category() -> None:
    assert [name for name, values in COLUMNS.items() if "?" in values] == ["workclass", "occupation", "native-country"]
    for values in COLUMNS.values():
        assert list(values) == sorted(values)  # as PMLB numbers them
    assert [len(values) for values in COLUMNS.values() if values] == [9, 16, 7, 15, 6, 5, 2, 42]


def table(tmp_path: Path, **options: object) -> Table:
    return load_adult(write(tmp_path, uci()), **options)  # type: ignore[arg-type]


def test_a_new_split_for_each_seed(tmp_path: Path) -> None:
    data = table(tmp_path, seed=1)
    assert [len(part) for part in (data.train, data.validation, data.test)] == [60, 20, 20]
    assert data.features == 14 and data.classes == 2 and data.class_names == (">50K", "<=50K")
    rows = [tuple(row) for part in (data.train, data.validation, data.test) for row in part.inputs]
    assert len(set(rows)) == 100  # every person is in one part
    again, other = table(tmp_path, seed=1), table(tmp_path, seed=2)
    assert np.array_equal(data.test.inputs, again.test.inputs)
    assert not np.array_equal(data.test.inputs, other.test.inputs)
    labels = {tuple(row): label for row, label in zip(read(tmp_path).inputs, read(tmp_path).labels, strict=True)}
    assert all(labels[tuple(row)] == label for row, label in zip(other.test.inputs, other.test.labels, strict=True))


def test_shares(tmp_path: Path) -> None:
    whole = table(tmp_path, validation=0, test=0.25)
    assert (len(whole.train), len(whole.validation), len(whole.test)) == (75, 0, 25)
    half = {"validation": 0.5, "test": 0.5}
    for options in ({"test": 1.0}, {"test": -0.1}, {"validation": True}, {"test": "x"}, half):
        with pytest.raises(OptionError, match=r"validation|test"):
            table(tmp_path, **options)


def test_standardised_by_the_training_part(tmp_path: Path) -> None:
    data = table(tmp_path)
    scaled = data.standardised()
    assert np.allclose(scaled.train.inputs.mean(axis=0), 0, atol=1e-12)
    assert np.allclose(scaled.train.inputs.std(axis=0), 1)
    mean, std = data.train.inputs.mean(axis=0), data.train.inputs.std(axis=0)
    assert np.allclose(scaled.test.inputs * std + mean, data.test.inputs)
    assert abs(scaled.test.inputs.mean()) > 1e-3 and scaled.train.labels is data.train.labels


def test_a_constant_feature_becomes_zero(tmp_path: Path) -> None:
    rows = [", ".join(["40", *line.split(", ")[1:]]) for line in people(50, 0)]
    data = load_adult(write(tmp_path, {"adult.data": "\n".join(rows).encode(), "adult.test": b""})).standardised()
    assert (data.train.inputs[:, 0] == 0).all() and (data.test.inputs[:, 0] == 0).all()


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no files of this data set") as caught:
        load_adult(tmp_path)
    assert "archive.ics.uci.edu" in caught.value.fix and "pmlb" in caught.value.fix


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("adult.data", lambda c: c.replace(b"State-gov", b"State-gvo"), "adult.data, line 1: 'workclass' has no such"),
        ("adult.data", lambda c: c.replace(b"77516", b"many"), "'fnlwgt' is a whole number"),
        ("adult.data", lambda c: c.replace(b"<=50K", b"<=60K", 1), "a label is one of"),
        ("adult.data", lambda c: c[:100], "a row has 15 values"),
        ("adult.test", lambda c: b"<html>not found</html>", "a row has 15 values"),
        ("adult.test", lambda c: b"\xff\xfe", "not text"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, change: Callable, words: str) -> None:
    given = uci()
    given[name] = change(given[name])
    with pytest.raises(DataError, match=words) as caught:
        load_adult(write(tmp_path, given))
    assert name in caught.value.where and caught.value.fix


@pytest.mark.parametrize("name", ["adult.data", "adult.test"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    given = uci()
    del given[name]
    with pytest.raises(DataError, match=name):
        load_adult(write(tmp_path, given))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(pmlb().encode())[:-30], "cannot be read"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:fb8bc7\nsize 497131\n", "cannot be read"),
        (gzip.compress(b""), "the columns are age"),
        (gzip.compress(pmlb().replace("age", "old", 1).encode()), "the columns are age"),
        (gzip.compress(pmlb().replace("77516", "x").encode()), "line 2: a value is not a number"),
        (gzip.compress((pmlb() + "1\t2\n").encode()), "a row has 15 values"),
        (gzip.compress(pmlb().replace("\t39\t1\n", "\t42\t1\n").encode()), "'native-country' holds numbers from 0 to"),
        (gzip.compress(pmlb().replace("\t39\t1\n", "\t39\t2\n").encode()), "'target' holds numbers from 0 to 1"),
        (gzip.compress(pmlb().replace("77516", "nan").encode()), "'fnlwgt' holds numbers"),
        (gzip.compress(pmlb().splitlines()[0].encode()), "holds no rows"),
    ],
    ids=["cut", "pointer", "empty", "columns", "no number", "short row", "country", "target", "nan", "no rows"],
)  # fmt: skip
def test_damaged_tables_are_named(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        load_adult(write(tmp_path, {"adult.tsv.gz": content}))
    assert "adult.tsv.gz" in caught.value.where and caught.value.fix
