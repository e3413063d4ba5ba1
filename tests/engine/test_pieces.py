"""The pieces of a batch together are the batch; none is large, and nothing that happens meanwhile changes them."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections import Counter
from collections.abc import Iterable
from threading import Event, Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests.engine.event_tables import (
    MASKS,
    WAYS,
    accepted,
    boxes,
    engine_of,
    filled,
    forced,
    large_table,
    pairs,
    rows_of,
    tables,
)
from tests.strategies import expressions, plain_expressions
from thatch.engine import batches
from thatch.matching import reference
from thatch.matching.segments import batches as batch

pytestmark = pytest.mark.slow

Pairs = list[tuple[int, str]]


def named(pieces: Iterable[pa.RecordBatch], ids: pa.Array) -> Pairs:
    """The pairs of all pieces, in order of events and slots."""
    names = ids.to_pylist()
    found = [
        (event, slot)
        for piece in pieces
        for event, slot in zip(piece["event"].to_pylist(), piece["slot"].to_pylist(), strict=True)
    ]
    return [(event, names[slot]) for event, slot in sorted(found)]


def pieced(engine: thatch.Engine, table: pa.Table, **options: Any) -> Pairs:
    """What the pieces say, and that the counts say the same."""
    found = named(engine.match_pieces(table, **options), engine.ids())
    counts = engine.count_batch(table, **options)
    names = [*map(str, engine.ids().to_pylist())]
    assert counts.dtype == np.int64
    assert len(counts) == len(names)
    told: Counter[str] = Counter()
    for name, count in zip(names, counts.tolist(), strict=True):
        told[name] += count  # an id that was given up and came again has two slots
    assert +told == Counter(name for _, name in found)
    return found


# --- the same as a batch -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masks", MASKS)
@given(data=st.data())
def test_the_pieces_together_are_the_batch(masks: str, data: st.DataObject) -> None:
    kinds = st.one_of(st.lists(expressions, max_size=8), st.lists(plain_expressions, max_size=8))
    held = accepted(data.draw(kinds))
    table: pa.Table = data.draw(tables())
    nulls: Any = data.draw(st.sampled_from(["missing", "null"]))
    room, piece = data.draw(st.sampled_from([1, 3, 1 << 21])), data.draw(st.sampled_from([1, 3, 99]))
    rows = data.draw(st.sampled_from([1, 2, 9]))
    wanted = [
        (event, name)
        for event, row in enumerate(rows_of(table, nulls))
        for name, (expression, _) in held.items()
        if reference.matches(expression, row)
    ]
    for how in WAYS:
        with pytest.MonkeyPatch.context() as patched:
            forced(patched, masks, room, piece)
            patched.setattr(batches, "_ROWS", rows)
            engine = filled({name: each for name, (_, each) in held.items()}, how, patched)
            assert pieced(engine, table, nulls=nulls) == wanted, how
            assert pairs(engine.match_batch(table, nulls=nulls, ordered=True)) == wanted, how


@pytest.mark.parametrize("room", [1, 100, 7_000, 1 << 21])
@pytest.mark.parametrize("masks", MASKS)
def test_no_match_is_lost_or_told_twice_however_little_room_there_is(
    masks: str, room: int, segments: pytest.MonkeyPatch
) -> None:
    forced(segments, masks, room, piece=room)
    segments.setattr(batch, "_MOST_ROWS", 3)
    engine = filled(boxes(300, 3), "one segment", segments)
    for number in range(0, 300, 3):
        engine.unsubscribe(f"s{number}")
    engine.subscribe("last", "a0 < 50 or a1 < 50")
    engine.subscribe("fence", "within(a0, a1, circle(40, 40, 3000000))")
    table = large_table(1_100, 4)
    answer = pieced(engine, table)
    assert len(answer) > 1_100
    assert answer == pairs(engine.match_batch(table, ordered=True))
    assert engine.stats()["masked_segments"] == (1 if masks == "masked" else 0)


def test_a_piece_has_the_promised_types(way: str) -> None:
    engine = engine_of({"a": "x = 1", "b": "x > 0"})
    pieces = [*engine.match_pieces(pa.table({"x": [1, 0, 2]}))]
    for piece in pieces:
        assert piece.schema == pa.schema({"event": pa.int64(), "slot": pa.int32()})
        piece.validate(full=True)
        assert piece.num_rows
    assert sorted(pa.Table.from_batches(pieces)["event"].to_pylist()) == [0, 0, 2]
    assert [*engine.match_pieces(pa.table({"x": [0]}))] == []
    assert [*engine.match_pieces(pa.table({}))] == []
    assert engine.count_batch(pa.table({"x": [0]})).tolist() == [0, 0]
    assert thatch.Engine().count_batch(pa.table({"x": [0]})).tolist() == []


def test_small_parts_come_together_in_one_piece(segments: pytest.MonkeyPatch) -> None:
    forced(segments, "masked")
    engine = filled(boxes(300, 3), "one segment", segments)
    engine.subscribe("fence", "within(a0, a1, circle(40, 40, 3000000))")
    table = large_table(1_100, 4)
    assert [piece.num_rows for piece in engine.match_pieces(table)] == [engine.match_batch(table).num_rows]


# --- bounded -------------------------------------------------------------------------------------------------------

EVERYTHING = 3_000, 5_000
ROOM = 50_000


@pytest.fixture(params=MASKS)
def everything(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> thatch.Engine:
    """An engine whose subscriptions all match all events."""
    forced(monkeypatch, request.param, ROOM, ROOM // 2)
    subscriptions, _ = EVERYTHING
    ids = [f"s{number}" for number in range(subscriptions)]
    low = np.zeros((subscriptions, 2))
    return thatch.Engine.from_columns(ids, ["x", "y"], low, low + 1)


def test_pieces_stay_small_when_everything_matches_everything(everything: thatch.Engine) -> None:
    subscriptions, events = EVERYTHING
    table = pa.table({"x": np.linspace(0, 1, events), "y": np.linspace(1, 0, events)})
    seen = np.zeros((events, subscriptions), np.uint8)
    tracemalloc.start()
    for piece in everything.match_pieces(table):
        assert 0 < piece.num_rows <= ROOM + subscriptions
        np.add.at(seen, (piece["event"].to_numpy(), piece["slot"].to_numpy()), 1)
    _, piecewise = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    assert (everything.count_batch(table) == events).all()
    _, counting = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (seen == 1).all()
    matches = 12 * subscriptions * events
    assert piecewise < matches / 10
    assert counting < matches / 10


def test_events_read_one_by_one_come_in_small_pieces_too(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_PIECE", 120)
    engine = engine_of({f"s{number}": f"x.y >= {number % 2}" for number in range(50)})
    rows = [{"y": number % 3} for number in range(300)]
    nested, texts = pa.table({"x": rows}), pa.table({"e": [json.dumps({"x": row}) for row in rows]})
    assert pieced(engine, nested) == pairs(engine.match_batch(nested, ordered=True))
    for pieces in (engine.match_pieces(nested), engine.match_pieces(texts, json="e")):
        sizes = [piece.num_rows for piece in pieces]
        assert sum(sizes) == 100 * 25 + 200 * 50
        assert max(sizes) <= 120 + 50


# --- what happens meanwhile ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["close", "forget", "raise"])
def test_pieces_may_be_given_up_midway(end: str, way: str) -> None:
    engine = engine_of(
        {f"s{number}": f"x >= {number} or y = 1" if number < 2 else f"x >= {number}" for number in range(40)}
    )
    table = pa.table({"x": np.arange(100) % 50, "y": np.arange(100) % 2})
    expected = pairs(engine.match_batch(table, ordered=True))
    for _ in range(2):
        pieces = engine.match_pieces(table)
        next(pieces)
        if end == "close":
            pieces.close()
            assert [*pieces] == []
        elif end == "forget":
            del pieces
            gc.collect()
        else:
            with pytest.raises(RuntimeError, match="enough"):
                give_up(pieces)
            del pieces
        assert pieced(engine, table) == expected
        assert [
            (row, name) for row, event in enumerate(table.to_pylist()) for name in engine.match(event)
        ] == expected
    if way != "small":
        pool = engine._state.index.current._pool
        assert len(pool.free) == len(pool.every) == 1


def give_up(pieces: Iterable[pa.RecordBatch]) -> None:
    for _ in pieces:
        raise RuntimeError("enough")


def test_pieces_that_were_never_asked_for_take_no_room(segments: pytest.MonkeyPatch) -> None:
    engine = engine_of({"a": "x = 1"})
    pieces = engine.match_pieces(pa.table({"x": [1]}))
    assert not engine._state.index.current._pool.every
    pieces.close()
    assert [*pieces] == []


def test_several_may_be_read_at_the_same_time(way: str) -> None:
    engine = engine_of({f"s{number}": f"x >= {number}" for number in range(20)})
    first, second = pa.table({"x": np.arange(60)}), pa.table({"x": np.arange(60) % 7})
    one, other = engine.match_pieces(first), engine.match_pieces(second)
    found: tuple[list[Any], list[Any]] = ([], [])
    while True:
        nexts = next(one, None), next(other, None)
        for piece, kept in zip(nexts, found, strict=True):
            kept += [] if piece is None else [piece]
        assert engine.match({"x": 3}) == ["s0", "s1", "s2", "s3"]
        if nexts == (None, None):
            break
    for table, kept in zip((first, second), found, strict=True):
        assert named(kept, engine.ids()) == pairs(engine.match_batch(table, ordered=True))


def test_changes_do_not_change_pieces_that_were_begun(way: str) -> None:
    engine = engine_of({f"s{number}": f"x >= {number}" for number in range(30)})
    engine.unsubscribe("s7")  # so that slots and numbers of ids differ once they are numbered anew
    table = pa.table({"x": np.arange(80)})
    expected = pairs(engine.match_batch(table, ordered=True))
    pieces = engine.match_pieces(table)
    found = []
    for turn, piece in enumerate(pieces):
        found.append(piece)
        if turn == 0:
            engine.subscribe("more", "true")
            engine.subscribe("s3", "false or x < 0")
            engine.unsubscribe("s11")
        elif turn == 1:
            engine.compact()
            engine.tally()
        elif turn < 40:
            engine.subscribe(f"later {turn}", "true")
    assert len(found) > 10
    assert named(found, pieces.ids()) == expected
    assert len(pieces.ids()) == 30
    assert pieced(engine, table) == pairs(engine.match_batch(table, ordered=True)) != expected


def test_another_thread_may_change_the_set_all_the_time(segments: pytest.MonkeyPatch) -> None:
    forced(segments, "masked", room=50, piece=50)
    engine = engine_of({f"s{number}": f"x >= {number}" for number in range(40)})
    table = pa.table({"x": np.arange(100)})
    expected = pairs(engine.match_batch(table, ordered=True))
    done = Event()
    turns = [0]

    def change() -> None:
        while not done.is_set():
            engine.subscribe(f"other {turns[0] % 50}", "x < 0")
            if turns[0] % 20 == 19:
                engine.unsubscribe(f"other {turns[0] % 50}")
            if turns[0] % 60 == 59:
                engine.compact()
            turns[0] += 1

    thread = Thread(target=change, daemon=True)
    thread.start()
    try:
        for _ in range(30):
            pieces = engine.match_pieces(table)
            assert named(pieces, pieces.ids()) == expected
            assert engine.count_batch(table).sum() == len(expected)
    finally:
        done.set()
        thread.join(60)
    assert turns[0] > 0


def test_pieces_count_as_their_events_do(segments: pytest.MonkeyPatch) -> None:
    for tally in (False, True):
        for masks in MASKS:
            forced(segments, masks, room=10, piece=10)
            engine = filled(boxes(100, 6), "one segment", segments)
            engine.subscribe("fence", "within(a0, a1, circle(40, 40, 3000000))")
            engine.tally(on=tally)
            table = large_table(600, 7)
            before = engine.stats()
            found = sum(piece.num_rows for piece in engine.match_pieces(table))
            assert engine.stats()["events"] - before["events"] == 600
            assert engine.stats()["matches"] - before["matches"] == found
            if tally:
                names = engine.tallies()["subscription"].to_pylist()
                told = dict(zip(names, engine.tallies()["matches"].to_pylist(), strict=True))
                counts = engine.count_batch(table)
                assert told == dict(zip(engine.ids().to_pylist(), counts.tolist(), strict=True))


@pytest.mark.parametrize("ordered", [False, True])
def test_pieces_know_what_is_removed_only_after_they_were_asked_for(way: str, ordered: bool) -> None:
    engine = engine_of(boxes(100, 6))
    table = large_table(600, 7)
    before = engine.match_batch(table, ordered=ordered)
    assert before.num_rows > 1_000
    pieces = engine.match_pieces(table)
    for name in list(engine)[::2]:
        engine.unsubscribe(name)
    assert sum(piece.num_rows for piece in pieces) == before.num_rows
    assert engine.match_batch(table).num_rows < before.num_rows
