"""Folding of repeated blocks."""

from __future__ import annotations

from autoinit.report.data import LayerRow
from autoinit.report.fold import Fold, fold


def row(name: str, shape: tuple[int, ...] = (8, 16), verdict: str = "ok") -> LayerRow:
    return LayerRow(name, "linear", shape, 16.0, 0.25, 0.0, 1.0, 0.0, 1.0, 0.0, verdict, 0)


def shown(rows: list[LayerRow]) -> list[str]:
    return [f"{x.first}..{x.last}={x.like}" if isinstance(x, Fold) else x.name for x in fold(rows)]


def test_alike_blocks_are_folded() -> None:
    rows = [row("stem"), *(row(f"blocks.{k}.{part}") for k in range(12) for part in ("a", "b")), row("head")]
    assert shown(rows) == ["stem", "blocks.0.a", "blocks.0.b", "blocks.1..blocks.11=blocks.0", "head"]


def test_another_shape_or_verdict_starts_anew() -> None:
    rows = [row(f"b.{k}.x", (8, 16) if k < 4 else (8, 32)) for k in range(8)]
    assert shown(rows) == ["b.0.x", "b.1..b.3=b.0", "b.4.x", "b.5..b.7=b.4"]
    rows = [row(f"b.{k}.x", verdict="ok" if k < 5 else "low") for k in range(6)]
    assert shown(rows) == ["b.0.x", "b.1..b.4=b.0", "b.5.x"]


def test_a_plain_chain_is_folded_too() -> None:
    assert shown([row(str(2 * k)) for k in range(20)]) == ["0", "2..38=0"]


def test_nothing_is_folded_where_nothing_is_saved() -> None:
    assert shown([row("b.0"), row("b.1")]) == ["b.0", "b.1"]


def test_blocks_inside_blocks() -> None:
    rows = [row(f"stages.{s}.blocks.{k}.conv", (8, 16 * (s + 1))) for s in range(2) for k in range(5)]
    assert shown(rows) == [
        "stages.0.blocks.0.conv",
        "stages.0.blocks.1..stages.0.blocks.4=stages.0.blocks.0",
        "stages.1.blocks.0.conv",
        "stages.1.blocks.1..stages.1.blocks.4=stages.1.blocks.0",
    ]


def test_numbers_inside_names() -> None:
    rows = [
        row(f"conv{s}_block{k}_{p}", (8, 16 * s)) for s in (2, 3) for k in range(1, 5) for p in ("1_conv", "2_conv")
    ]
    assert shown(rows) == [
        "conv2_block1_1_conv",
        "conv2_block1_2_conv",
        "conv2_block2..conv2_block4=conv2_block1",
        "conv3_block1_1_conv",
        "conv3_block1_2_conv",
        "conv3_block2..conv3_block4=conv3_block1",
    ]
    assert shown([row("dense"), *(row(f"dense_{k}") for k in range(1, 9))]) == [
        "dense",
        "dense_1",
        "dense_2..dense_8=dense_1",
    ]
    assert shown([row(f"model/block_{k}/dense") for k in range(5)]) == [
        "model/block_0/dense",
        "model/block_1..model/block_4=model/block_0",
    ]


def test_a_number_is_read_whole() -> None:
    assert shown([row(f"b.{k}.x") for k in (1, 10, 11, 12)]) == ["b.1.x", "b.10..b.12=b.1"]


def test_models_nested_deeper_than_the_stack() -> None:
    rows = [row(".".join(f"m{k}" for k in range(depth)) + ".dense") for depth in range(1, 1500)]
    assert shown(rows) == [r.name for r in rows]


def test_every_row_appears_once() -> None:
    rows = [row(f"s.{s}.b.{k}.{p}", (s, k // 3)) for s in range(3) for k in range(7) for p in "xyz"]
    counted = sum(len(x.rows) if isinstance(x, Fold) else 1 for x in fold(rows))
    assert counted == len(rows)
