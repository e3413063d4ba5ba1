"""CSV in pieces is CSV as a whole. No Spark is needed for it."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thatch.errors import TableError
from thatch.formats.columns import parse_csv
from thatch.formats.reading import Reading
from thatch.pipeline.sources.records import CsvLayout, Run, cut_pieces, header_line, is_open, parse_piece

BYTES = st.lists(
    st.sampled_from([b"a", b",", b'"', b"\n", b"\r", b"\r\n", b'""', b'","', b'"\n"', b"\xff", b" ", b"0"]),
    max_size=25,
).map(b"".join)


def whole(content: bytes):
    rejects = []
    try:
        table, rows = parse_csv(content, "x", lambda *each: rejects.append(each))
    except TableError as error:
        return str(error)
    return table.to_pydict(), rows, sorted(rejects)


def lines_of(content: bytes) -> list[bytes]:
    lines = content.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def in_pieces(content: bytes, names, cuts: list[int], borders: list[int]):
    """What the pieces hold, with lines in batches that begin at `cuts`, and runs at `borders`; None if one is crossed."""
    lines = lines_of(content)
    runs = tuple(Run(first, first == 0, "x") for first in sorted({0, *borders}) if first < len(lines))
    layout = CsvLayout(runs, names, Reading())
    ends = sorted({0, *cuts, len(lines)})
    batches = [
        pa.RecordBatch.from_arrays(
            [pa.array(range(start, end), pa.int64()), text_of(lines[start:end])], names=["row", "line"]
        )
        for start, end in pairwise(ends)
        if start < len(lines)
    ]
    table, rows, rejects, done = {name: [] for name in names}, [], [], 0
    for piece in cut_pieces(batches, layout):
        if piece.is_open and piece.run + 1 < len(runs):
            return None
        told = []
        part, numbers = parse_piece(piece, layout, lambda *each, told=told: told.append(each))
        for name in names:
            table[name] += part.column(name).to_pylist()
        rows += [done + number for number in numbers]
        rejects += [(done + number, reason) for number, reason in told]
        done += len(numbers) + len(told)
    return table, rows, sorted(rejects)


def text_of(values: list[bytes]) -> pa.Array:
    plain = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(values), plain.buffers())


@given(BYTES, st.lists(st.integers(0, 12), max_size=4), st.lists(st.integers(0, 12), max_size=2))
@example(b'5",x\n"a\nb"', [], [1])
@example(b'"a"b\n"c\nd"', [1], [2])
@example(b"", [2], [2])
def test_pieces_hold_what_the_whole_holds(content, cuts, borders):
    content = b"a,b\n" + content
    expected = whole(content)
    assert not isinstance(expected, str)
    given_runs = in_pieces(content, ("a", "b"), cuts, borders)
    if given_runs is not None:
        assert given_runs == expected
    assert in_pieces(content, ("a", "b"), cuts, []) == expected


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("", False),
        ("a,b", False),
        ('"', True),
        ('"a', True),
        ('"a"', False),
        ('"a""', True),
        ('"a""b', True),
        ('a"', False),
        ('a","', True),
        ('a",b"', False),
        ('"a"b"', False),
        ('"a"b","', True),
        ('a\r"', True),
        ('"a\r', True),
        (' "', False),
    ],
)
def test_a_line_leaves_quotes_open_where_a_field_begins_with_one(line, answer):
    assert is_open(line) is answer


def test_names_survive_being_written_as_a_header():
    names = ("a", 'b"c', "d,\ne", "")
    table, _ = parse_csv(header_line(names), "x", pytest.fail)
    assert tuple(table.column_names) == names


def test_blank_lines_before_a_header_may_fill_whole_batches():
    content = b"\n\r\n\n\na,b\n1,2\n"
    assert in_pieces(content, ("a", "b"), [1, 3], []) == ({"a": ["1"], "b": ["2"]}, [0], [])


def test_runs_may_come_in_any_order():
    layout = CsvLayout((Run(0, True, "x"), Run(2, True, "y")), ("a", "b"), Reading())
    lines = pa.RecordBatch.from_arrays(
        [pa.array([2, 3, 0, 1], pa.int64()), text_of([b"a,b", b"3,4", b"a,b", b"1,2"])], names=["row", "line"]
    )
    found = [
        (piece.run, parse_piece(piece, layout, pytest.fail)[0].to_pydict())
        for piece in cut_pieces([lines], layout)
    ]
    assert found == [(1, {"a": ["3"], "b": ["4"]}), (0, {"a": ["1"], "b": ["2"]})]
