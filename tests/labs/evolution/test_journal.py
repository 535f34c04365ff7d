"""The journal: whole lines only, one writer, one configuration, every key once."""

from __future__ import annotations

import errno
import json
import math
import os
from pathlib import Path

import pytest

from autoinit.errors import AutoInitError
from autoinit.labs.evolution import Journal, JournalError, Outcome
from autoinit.labs.evolution.encoding import decode, encode, same

CONFIG = {"epochs": 5, "data": {"name": "digits", "size": 16}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal with three records."""
    file = tmp_path / "journal.jsonl"
    with Journal(file, CONFIG) as journal:
        for key in "abc":
            journal.append(Outcome(key, "done", {"y": 1.5}, 0.1, 1000, ""), {"x": key}, {"parent": None})
    return file


def test_what_is_written_is_read(path: Path) -> None:
    contents = Journal.read(path)
    assert contents.config == CONFIG
    assert list(contents.records) == ["a", "b", "c"]
    assert contents.outcomes["b"] == Outcome("b", "done", {"y": 1.5}, 0.1, 1000, "")
    assert contents.records["b"].payload == {"x": "b"} and contents.records["b"].notes == {"parent": None}


def test_reopening_goes_on(path: Path) -> None:
    with Journal(path, CONFIG) as journal:
        assert list(journal.outcomes) == ["a", "b", "c"]
        journal.append(Outcome("d", "time"))
    assert list(Journal.read(path).outcomes) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("kept", [0, 1, 2, 40, -1])
def test_a_torn_last_line_is_cut_off(path: Path, kept: int) -> None:
    whole = path.read_bytes()
    torn = b'{"key":"d","status":"done","value":{"y":"%s"}}' % (b"z" * 60)
    path.write_bytes(whole + torn[:kept])
    assert list(Journal.read(path).outcomes) == ["a", "b", "c"]
    assert path.read_bytes() == whole + torn[:kept], "reading changes nothing"
    with Journal(path, CONFIG) as journal:
        assert path.read_bytes() == whole
        journal.append(Outcome("d", "done", {"y": 2}))
    assert list(Journal.read(path).outcomes) == ["a", "b", "c", "d"]


def test_wherever_it_is_torn_the_journal_goes_on(path: Path) -> None:
    """Wherever a power loss cuts the file, the complete lines remain and the journal goes on."""
    whole = path.read_bytes()
    ends = [k for k, byte in enumerate(whole, start=1) if byte == ord("\n")]
    for length in sorted({*range(0, len(whole), 11), *(end + k for end in ends[:-1] for k in (-1, 0, 1))}):
        path.write_bytes(whole[:length])
        lines = sum(end <= length for end in ends)
        with Journal(path, CONFIG) as journal:
            assert list(journal.outcomes) == ["a", "b", "c"][: max(lines - 1, 0)]
        assert path.read_bytes() == whole[: ends[max(lines, 1) - 1]]


def test_space_that_was_never_written_is_cut_off(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0" * 100 + b"\n" + b"\0" * 10)
    with Journal(path, CONFIG) as journal:
        assert list(journal.outcomes) == ["a", "b", "c"]
    assert path.read_bytes() == whole


def test_a_broken_line_in_the_middle_is_named(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = b"".join([*lines[:2], lines[2][:20] + b"\n", *lines[3:]])
    path.write_bytes(damaged)
    with pytest.raises(JournalError, match="line 3 is broken"):
        Journal(path, CONFIG)
    assert path.read_bytes() == damaged
    assert not path.with_name(path.name + ".lock").exists()


def test_a_repeated_key_is_named(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[1]]))
    with pytest.raises(JournalError, match=r"line 5 repeats(.|\n)*'a'"):
        Journal.read(path)


@pytest.mark.parametrize("text", ["precious notes", "precious\nnotes\n", '{"an": "object"}\n', '{"journal":"other"}\n'])
def test_another_file_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(JournalError, match="not a journal"):
        Journal(path)
    assert path.read_text() == text


def test_another_version_is_refused(path: Path) -> None:
    path.write_text(path.read_text().replace('"version":1', '"version":99'))
    with pytest.raises(JournalError, match="version 99, known is 1"):
        Journal(path)


def test_another_configuration_is_refused_by_its_differences(path: Path) -> None:
    other = {"epochs": 5, "data": {"name": "mnist", "size": 16}, "seed": 1}
    before = path.read_bytes()
    with pytest.raises(JournalError) as caught:
        Journal(path, other)
    message = str(caught.value)
    assert (
        "data.name: 'digits' in the journal, 'mnist' now" in message and "seed: None in the journal, 1 now" in message
    )
    assert "epochs" not in message and "size" not in message
    assert path.read_bytes() == before
    with Journal(path, {"data": {"size": 16, "name": "digits"}, "epochs": 5}):
        pass  # the order of keys means nothing


def test_two_writers_are_one_too_many(path: Path) -> None:
    with Journal(path, CONFIG), pytest.raises(JournalError, match="another run writes"):
        Journal(path, CONFIG)
    with Journal(path, CONFIG):
        pass


def test_a_lock_file_left_behind_is_no_obstacle(path: Path) -> None:
    path.with_name(path.name + ".lock").write_text("process 1 on nowhere\n")
    with Journal(path, CONFIG) as journal:
        assert len(journal.outcomes) == 3


def test_a_key_is_written_once(path: Path) -> None:
    with Journal(path, CONFIG) as journal:
        before = path.read_bytes()
        with pytest.raises(JournalError, match="already"):
            journal.append(Outcome("a", "done", {"y": 2}))
        assert path.read_bytes() == before
        journal.append(Outcome("a", "done", {"y": 3}), again=True)
    contents = Journal.read(path)
    assert list(contents.records) == ["b", "c", "a"]
    assert contents.outcomes["a"].value == {"y": 3} and contents.records["a"].attempt == 2


def test_a_closed_journal_takes_nothing(path: Path) -> None:
    journal = Journal(path, CONFIG)
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="closed"):
        journal.append(Outcome("d", "done"))


@pytest.mark.parametrize("room", [0, 30])
def test_a_full_disk_leaves_whole_lines(path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[:room])

    with Journal(path, CONFIG) as journal:
        before = path.read_bytes()
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(JournalError, match=f"{room} of .* bytes were written"):
            journal.append(Outcome("d", "done", {"y": 1}))
        monkeypatch.undo()
        assert path.read_bytes() == before and "d" not in journal.outcomes
        journal.append(Outcome("d", "done", {"y": 1}))
    assert list(Journal.read(path).outcomes) == ["a", "b", "c", "d"]


def test_no_journal_is_told(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no journal"):
        Journal.read(tmp_path / "missing.jsonl")


def test_numbers_that_are_not_finite_survive(path: Path) -> None:
    with Journal(path, CONFIG) as journal:
        journal.append(Outcome("n", "done", {"loss": math.nan, "curve": [math.inf, -math.inf, 1.0]}))
    value = Journal.read(path).outcomes["n"].value
    assert value is not None and math.isnan(value["loss"]) and value["curve"] == [math.inf, -math.inf, 1.0]
    for line in path.read_text().splitlines():
        json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_encoding() -> None:
    assert decode(encode({"text": "σ\n\u2028", "tuple": (1, None, True)})) == {
        "text": "σ\n\u2028",
        "tuple": [1, None, True],
    }
    assert "\n" not in encode({"text": "one\ntwo"})
    assert same({"a": math.nan, "b": 1}, {"b": 1, "a": math.nan}) and not same({"a": 1}, {"a": 2})
    for value, place in (({"a": [1, object()]}, r"value\['a'\]\[1\] is a object"), ({1: 2}, "the key 1"),
                         ({"$float": "nan"}, "only key")):  # fmt: skip
        with pytest.raises(TypeError, match=place):
            encode(value)


def test_errors_are_of_the_family() -> None:
    assert issubclass(JournalError, AutoInitError) and issubclass(JournalError, ValueError)
