"""Wikipedia Toxicity: comments and their judges in two files of tab-separated values."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autoinit.errors import OptionError
from autoinit.labs.data import Comments, DataError, load_toxicity, vocabulary
from autoinit.labs.data.toxicity import ANNOTATIONS, COMMENTS, cleaned
from autoinit.labs.data.vocabulary import PADDING, UNKNOWN, words_of
from tests.labs.data.making import write, zipped

HEAD = "rev_id\tcomment\tyear\tlogged_in\tns\tsample\tsplit\n"
EACH = {"train": 40, "dev": 10, "test": 12}


def files() -> dict[str, bytes]:
    """Every fourth comment is called toxic by 6 of 10 judges, every fifth by 5 of 10, which is no majority."""
    comments, judged = [HEAD], ["rev_id\tworker_id\ttoxicity\ttoxicity_score\n"]
    number = 1000
    for part, count in EACH.items():
        for k in range(count):
            number += 7
            votes = 6 if k % 4 == 0 else 5 if k % 5 == 0 else 1
            word = "awful" if k % 4 == 0 else "lovely"
            text = f"NEWLINE_TOKENWhat a {word} page{k}!TAB_TOKENIt's  mine"
            comments.append(f"{number}.0\t{text}\t2006\tTrue\tuser\trandom\t{part}\n")
            judged += [f"{number}.0\t{judge}\t{int(judge < votes)}\t{-float(judge < votes)}\n" for judge in range(10)]
    return {COMMENTS: "".join(comments).encode(), ANNOTATIONS: "".join(judged).encode()}


FORMS: dict[str, Callable[[Path], Path]] = {
    "here": lambda p: write(p, files()),
    "in a folder": lambda p: write(p, {f"toxicity/{name}": content for name, content in files().items()}),
    "figshare's archive": lambda p: zipped(p / "4563973.zip", files()).parent,
    "the wheel itself": lambda p: zipped(
        p / "aif360-0.3.0rc0-py3-none-any.whl", {f"aif360/data/raw/toxicity/{n}": c for n, c in files().items()}
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_comments(tmp_path: Path, form: str) -> None:
    data = load_toxicity(FORMS[form](tmp_path))
    assert [len(part) for part in (data.train, data.validation, data.test)] == [40, 10, 12]
    assert data.train.texts[0] == "What a awful page0! It's mine" and data.class_names == ("healthy", "toxic")
    assert data.train.labels.tolist() == [int(k % 4 == 0) for k in range(40)] and data.train.labels.dtype == np.int64
    assert all(("awful" in text) == bool(label) for text, label in zip(data.test.texts, data.test.labels, strict=True))


def test_quoted_comments(tmp_path: Path) -> None:
    """The original has two comments in quotation marks, doubled inside."""
    given = files()
    line = io.StringIO()
    row = ["9.0", '`* "New Guinea"? x', 2003, False, "article", "random", "dev"]
    csv.writer(line, delimiter="\t", lineterminator="\n").writerow(row)
    assert '""New Guinea""' in line.getvalue()
    given[COMMENTS] += line.getvalue().encode()
    given[ANNOTATIONS] += b"9.0\t1\t1\t-2.0\n"
    data = load_toxicity(write(tmp_path, given))
    assert data.validation.texts[-1] == '`* "New Guinea"? x' and data.validation.labels[-1] == 1


def test_a_comment_of_a_judge_who_counts_in_floats(tmp_path: Path) -> None:
    given = {name: content.replace(b"1007.0", b"1007") for name, content in files().items()}
    given[ANNOTATIONS] = given[ANNOTATIONS].replace(b"\t1\t-1.0", b"\t1.0\t-1.0")
    assert load_toxicity(write(tmp_path, given)).train.labels[0] == 1


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        (COMMENTS, lambda c: b"<html>", "columns are missing: rev_id, comment, split"),
        (COMMENTS, lambda c: b"", "columns are missing"),
        (COMMENTS, lambda c: c[:-12], "a line has 7 values"),
        (COMMENTS, lambda c: c.replace(b"\tdev\n", b"\tholdout\n"), "line 42.*train, dev, test"),
        (COMMENTS, lambda c: c.replace(b"\ttest\n", b"\ttrain\n"), "no comment of a part"),
        (COMMENTS, lambda c: c.replace(b"1007.0", b"1007.5"), "whole number"),
        (COMMENTS, lambda c: c.replace(b"1007.0", b"1008.0"), "nobody has judged"),
        (COMMENTS, lambda c: c.replace(b"awful page0", b"\xff\xfe"), "cannot be read"),
        (ANNOTATIONS, lambda c: c.replace(b"1007.0\t3\t1", b"1007.0\t3\t2"), "0 or 1"),
        (ANNOTATIONS, lambda c: c[: len(c) // 2], "nobody has judged|a line has 4 values"),
        (ANNOTATIONS, lambda c: c.replace(b"rev_id", b"id"), "columns are missing: rev_id"),
        (ANNOTATIONS, lambda c: c.replace(b"1007.0", b"x"), "whole number"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, change: Callable, words: str) -> None:
    given = files()
    given[name] = change(given[name])
    with pytest.raises(DataError, match=words.replace("line 42", "(?s)line 42")) as caught:
        load_toxicity(write(tmp_path, given))
    assert "toxicity_" in caught.value.where and caught.value.fix


@pytest.mark.parametrize("name", [COMMENTS, ANNOTATIONS])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    given = files()
    del given[name]
    with pytest.raises(DataError, match=name) as caught:
        load_toxicity(write(tmp_path, given))
    assert "figshare.com" in caught.value.fix


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no files of this data set") as caught:
        load_toxicity(tmp_path)
    assert "figshare.com" in caught.value.fix and COMMENTS in caught.value.fix


@pytest.fixture
def data(tmp_path: Path) -> Comments:
    return load_toxicity(write(tmp_path, files()))


def test_cleaning() -> None:
    assert cleaned("`NEWLINE_TOKENNEWLINE_TOKEN== Hi ==TAB_TOKENyou NEWLINE_TOKEN") == "` == Hi == you"
    assert words_of("== Don't! ==  Stop_it, O’Neill; 3.5 café") == [
        "don't", "stop", "it", "o’neill", "3", "5", "café",
    ]  # fmt: skip


def test_the_vocabulary_is_that_of_the_training_part(data: Comments) -> None:
    sequences = data.encoded(1000, 8)
    words = sequences.vocabulary.words
    assert words[:4] == ("a", "it's", "mine", "what")  # 40 times each, by the alphabet
    assert words[4:6] == ("lovely", "awful") and "page39" in words and sequences.vocabulary.size == len(words) + 2
    only_tested = vocabulary(data.test.texts, 1000)
    assert set(only_tested.words) <= set(words)  # page0 to page11 are in all parts
    small = data.encoded(5, 8)
    assert small.vocabulary.words == words[:5]
    assert (small.test.inputs == UNKNOWN).any(axis=1).all() and small.test.inputs.max() == 6


def test_words_of_other_parts_are_unknown(data: Comments) -> None:
    from dataclasses import replace

    more = replace(data, validation=replace(data.validation, texts=("zebra what", *data.validation.texts[1:])))
    sequences = more.encoded(1000, 4)
    assert "zebra" not in sequences.vocabulary.words
    assert sequences.validation.inputs[0].tolist() == [0, 0, UNKNOWN, 2 + sequences.vocabulary.words.index("what")]


def test_padding_and_truncation() -> None:
    known = vocabulary(["b b b a a c"], 3)
    assert known.words == ("b", "a", "c")
    rows = known.encode(["a b", "c b a d b", "", "?!"], 3)
    assert rows.dtype == np.int64
    assert rows.tolist() == [[PADDING, 3, 2], [4, 2, 3], [0, 0, UNKNOWN], [0, 0, UNKNOWN]]
    assert known.decode(rows[0]) == "a b" and known.decode(rows[2]) == "?"


def test_a_balanced_part(data: Comments) -> None:
    part = data.balanced(12, 4, 6, seed=1)
    for name, count in (("train", 12), ("validation", 4), ("test", 6)):
        chosen, whole = getattr(part, name), getattr(data, name)
        assert np.bincount(chosen.labels).tolist() == [count // 2] * 2
        told = dict(zip(whole.texts, whole.labels, strict=True))
        assert all(told[text] == label for text, label in zip(chosen.texts, chosen.labels, strict=True))
        assert len(set(chosen.texts)) == count
    assert part.train.texts == data.balanced(12, 4, 6, seed=1).train.texts
    assert part.train.texts != data.balanced(12, 4, 6, seed=2).train.texts
    with pytest.raises(OptionError, match="at most 20"):
        data.balanced(22, 4, 6)


@pytest.mark.parametrize(("words", "length"), [(0, 5), (5, 0), (True, 5), (5, 2.5), (-1, 5)])
def test_wrong_numbers(data: Comments, words: object, length: object) -> None:
    with pytest.raises(OptionError, match="positive number"):
        data.encoded(words, length)  # type: ignore[arg-type]
