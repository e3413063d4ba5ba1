"""Rows that are no events, and the ids and subscribers of the pieces of a batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import thatch
from tests.engine.event_tables import (
    engine_of,
    pairs,
)
from tests.engine.test_pieces import Pairs, named, pieced

pytestmark = pytest.mark.slow


def rejected(engine: thatch.Engine, table: pa.Table, **options: Any) -> tuple[Pairs, dict[int, str]]:
    told: dict[int, str] = {}
    counted: dict[int, str] = {}
    pieces = engine.match_pieces(table, reject=told.__setitem__, **options)
    answer = named(pieces, pieces.ids())
    assert engine.count_batch(table, reject=counted.__setitem__, **options).sum() == len(answer)
    assert counted == told
    return answer, told


@pytest.mark.parametrize("schema", [None, thatch.Schema({"x": thatch.Integer(0, 10)})])
def test_texts_that_are_no_events_are_told_and_left_out(way: str, schema: Any) -> None:
    engine = engine_of({"s": "x = 1", "t": "x >= 1"}, schema=schema)
    bad = ["{", "[1]", "5", None, '{"x": ' + "9" * 5_000 + "}", '{"a": 1, "a.b": 2, "x": {"": ' * 200, '{"x": 1e999}', '{"a.b": 1, "a": {"b": 2}}', f'{{"x": {2**64}}}', '{"x": "\\ud800"}', '{"\\ud800": 1}', '{"n": "\\ud800"}']  # fmt: skip
    lines = ['{"x": 1}', *bad, '{"x": [0, 2]}', "{}", '{"x": 1, "y": {"z": []}}']
    expected: Pairs = []
    refused = {}
    for row, text in enumerate(lines):
        one = pa.table({"e": pa.array([text], pa.string())})
        try:
            expected += [(row, name) for _, name in pairs(engine.match_batch(one, json="e", ordered=True))]
        except thatch.TableError as error:
            refused[row] = error
    assert len(refused) >= 8
    answer, told = rejected(engine, pa.table({"e": pa.array(lines, pa.string())}), json="e")
    assert answer == expected
    assert told.keys() == refused.keys()
    for row, error in refused.items():
        assert error.expected in told[row]
        assert error.got in told[row]


def test_without_somebody_to_tell_a_bad_row_raises_as_in_a_batch(way: str) -> None:
    engine = engine_of({"s": "x = 1"})
    for bad in ("{", f'{{"x": {2**64}}}'):
        table = pa.table({"e": ['{"x": 1}'] * 3 + [bad]})
        with pytest.raises(thatch.TableError, match="row 3") as batched:
            engine.match_batch(table, json="e")
        with pytest.raises(thatch.TableError) as piecewise:
            [*engine.match_pieces(table, json="e")]
        with pytest.raises(thatch.TableError) as counted:
            engine.count_batch(table, json="e")
        assert str(batched.value) == str(piecewise.value) == str(counted.value)


def test_rows_of_columns_that_are_no_events_are_told_and_left_out(way: str) -> None:
    engine = engine_of({"s": "x >= 1"})
    table = pa.table({"x": [1, 2, 3], "n": pa.array([1, 2**63, 2], pa.uint64())})
    answer, told = rejected(engine, table)
    assert answer == [(0, "s"), (2, "s")]
    assert [*told] == [1]
    assert "n" in told[1]


def test_rows_that_are_no_text_are_told_and_left_out(way: str) -> None:
    engine = engine_of({"s": "exists(x)"})
    offsets = pa.array(["a", "b", "c"]).buffers()[1]
    broken = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"a\xffc")])
    table = pa.table({"x": broken})
    for options in ({}, {"json": "x"}):
        with pytest.raises(thatch.TableError):
            engine.match_batch(table, **options)
    answer, told = rejected(engine, table)
    assert answer == [(0, "s"), (2, "s")]
    assert [*told] == [1]
    _, told = rejected(engine, table, json="x")
    assert [*told] == [0, 1, 2]  # the others are no JSON


def test_what_cannot_be_a_table_of_events_is_refused_at_once(way: str) -> None:
    engine = engine_of({"s": "x = 1"})
    table = pa.table({"x": [1], "e": ["{}"]})
    for wrong, options in [
        (5, {}),
        (pa.table({"x": [b"a"]}), {}),
        (table, {"nulls": "none"}),
        (table, {"json": "y"}),
        (table, {"json": "x"}),
        (table, {"json": "e", "nulls": "none"}),
    ]:
        with pytest.raises(thatch.TableError):
            engine.match_pieces(wrong, **options)
        with pytest.raises(thatch.TableError):
            engine.count_batch(wrong, **options)


# --- who it is -----------------------------------------------------------------------------------------------------


def test_expired_subscriptions_are_left_out_of_pieces(way: str) -> None:
    engine = engine_of({f"s{number}": f"x >= {number}" for number in range(9)})
    for number in range(0, 9, 2):
        engine.subscribe(f"s{number}", f"x >= {number}", expires=100 + number)
    table = pa.table({"x": [0, 5, None, 9]})
    for now in (0, 100, 104, 10**9):
        assert pieced(engine, table, now=now) == pairs(engine.match_batch(table, now=now, ordered=True))
    assert all(piece.num_rows for piece in engine.match_pieces(table, now=10**9))


def test_misfits_are_counted_once(way: str) -> None:
    engine = engine_of({"s": "x = 1"}, schema=thatch.Schema({"x": thatch.Integer(0, 10)}))
    table = pa.table({"x": [1.0, 1.5, 11.0, None]})
    [*engine.match_pieces(table)]
    assert engine.stats()["misfits"] == 2
    engine.count_batch(table)
    assert engine.stats()["misfits"] == 4


def test_ids_and_subscribers_stand_in_their_slots(way: str) -> None:
    engine = thatch.Engine(background=False)
    assert engine.ids().to_pylist() == engine.subscribers().to_pylist() == []
    for number in range(4):
        engine.subscribe(f"s{number}", "x = 1")
    assert engine.ids().to_pylist() == ["s0", "s1", "s2", "s3"]
    assert engine.subscribers().to_pylist() == [None] * 4
    engine.subscribe("s1", "x = 1", subscriber="b")
    engine.subscribe("s2", "x = 1", subscriber="a")
    engine.subscribe("s3", "x = 1", subscriber="b")
    engine.unsubscribe("s2")
    engine.subscribe("s2", "x = 1")
    ids, subscribers = engine.ids(), engine.subscribers()
    assert ids.type == pa.string()
    assert subscribers.type == pa.dictionary(pa.int32(), pa.string())
    engine.subscribe("s0", "x = 1", subscriber="a")  # what was answered does not change
    engine.unsubscribe("s3")
    assert ids.to_pylist() == ["s0", "s1", None, "s3", "s2"]
    assert subscribers.to_pylist() == [None, "b", None, "b", None]
    assert engine.ids().to_pylist() == ["s0", "s1", None, None, "s2"]
    assert engine.subscribers().to_pylist() == ["a", "b", None, None, None]
    assert engine.count_batch(pa.table({"x": [1, 1]})).tolist() == [2, 2, 0, 0, 2]
    engine.compact()
    assert engine.ids().to_pylist() == ["s0", "s1", "s2"]
    assert engine.subscribers().to_pylist() == ["a", "b", None]


def test_an_engine_mapped_from_a_file_answers_in_pieces(way: str, tmp_path: Path) -> None:
    engine = engine_of({f"s{number}": f"x >= {number}" for number in range(30)})
    engine.subscribe("s4", "x = 4", subscriber="who", expires=50)
    engine.unsubscribe("s9")
    engine.save(tmp_path / "engine")
    mapped = thatch.Engine.open(tmp_path / "engine")
    table = pa.table({"x": np.arange(80)})
    for now in (None, 60):
        assert pieced(mapped, table, now=now) == pairs(engine.match_batch(table, now=now, ordered=True))
    assert mapped.subscribers().to_pylist().count("who") == 1
    assert [each for each in mapped.ids().to_pylist() if each is not None] == [*engine]
