"""A batch of events is answered as its rows are, one by one: as columns, as masks or row by row."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from math import inf, nan
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
    filled,
    large_table,
    pairs,
    rows_of,
    subscriptions_of,
    tables,
)
from tests.strategies import expressions, plain_expressions
from thatch.engine.batches import join_parts
from thatch.matching import growing, reference
from thatch.matching.segments import batches as batch

pytestmark = pytest.mark.slow


def assert_answers_rows(engine: thatch.Engine, table: pa.Table, nulls: Any = "missing", **more: Any) -> int:
    """The batch answers what every row for itself answers; how many matches there are."""
    answers = [engine.match(row, **more) for row in rows_of(table, nulls)]
    wanted = [(event, name) for event, names in enumerate(answers) for name in names]
    assert pairs(engine.match_batch(table, nulls=nulls, ordered=True, **more)) == wanted
    loose = pairs(engine.match_batch(table, nulls=nulls, **more))
    assert sorted(loose) == sorted(wanted)
    assert [event for event, _ in loose] == [event for event, _ in wanted]
    return len(wanted)


@pytest.fixture
def segments(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Segments from the first filter on."""
    monkeypatch.setattr(growing, "FEW", 1)
    return monkeypatch


def engine_of(*filters: Any, **options: Any) -> thatch.Engine:
    engine = thatch.Engine(background=False, **options)
    for number, each in enumerate(filters):
        engine.subscribe(f"s{number}", each)
    return engine


# --- any table, any filters ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("masks", MASKS)
@given(data=st.data())
def test_a_batch_answers_what_its_rows_answer(masks: str, data: st.DataObject) -> None:
    kinds = st.one_of(st.lists(expressions, max_size=8), st.lists(plain_expressions, max_size=8))
    held = accepted(data.draw(kinds))
    table: pa.Table = data.draw(tables())
    nulls: Any = data.draw(st.sampled_from(["missing", "null"]))
    wanted = [
        (event, name)
        for event, row in enumerate(rows_of(table, nulls))
        for name, (expression, _) in held.items()
        if reference.matches(expression, row)
    ]
    for way in WAYS:
        with pytest.MonkeyPatch.context() as patched:
            for name, value in MASKS[masks].items():
                patched.setattr(batch, name, value)
            engine = filled({name: each for name, (_, each) in held.items()}, way, patched)
            assert_answers_rows(engine, table, nulls)
            assert pairs(engine.match_batch(table, nulls=nulls, ordered=True)) == wanted, way


# --- the answer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("matching", [0, 1, 30])
def test_the_answer_has_the_promised_types(way: str, matching: int, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = filled({f"s{number}": f"x = {number % 5}" for number in range(40)}, way, monkeypatch)
    answer = engine.match_batch(pa.table({"x": [1] * matching + [9]}))
    assert answer.schema.field("event").type == pa.int64()
    assert answer.schema.field("subscription").type == pa.dictionary(pa.int32(), pa.string())
    assert answer.num_rows == 8 * matching
    assert answer["event"].to_pylist() == sorted(answer["event"].to_pylist())
    answer.validate(full=True)


def test_the_words_of_the_answer_are_distinct(segments: pytest.MonkeyPatch) -> None:
    """An id that came again has two slots; pandas takes no dictionary with a word twice."""
    engine = engine_of("x = 1", "x = 1")
    engine.unsubscribe("s0")
    engine.subscribe("s0", "x = 1")
    answer = engine.match_batch(pa.table({"x": [1] * 10}))
    for chunk in answer["subscription"].chunks:
        words = chunk.dictionary.to_pylist()
        assert len(set(words)) == len(words)
    assert answer.to_pandas()["subscription"].tolist() == ["s1", "s0"] * 10


@pytest.mark.parametrize("way", WAYS)
def test_expired_subscriptions_are_left_out(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = filled({f"s{number}": f"x >= {number}" for number in range(9)}, way, monkeypatch)
    for number in range(0, 9, 2):
        engine.subscribe(f"s{number}", f"x >= {number}", expires=100 + number)
    table = pa.table({"x": [0, 5, None, 9]})
    found = [
        assert_answers_rows(engine, table, now=now) for now in (0, 100, 104, datetime(2026, 1, 1, tzinfo=UTC))
    ]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[1] > found[2] > found[3] > 0
    assert engine.match_batch(table).num_rows == found[3]


# --- both ways for large batches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 511, 512, 513, 1_100])
@pytest.mark.parametrize("nulls", ["missing", "null"])
@pytest.mark.parametrize("masks", MASKS)
def test_masks_and_searches_agree_on_large_batches(
    masks: str, nulls: Any, rows: int, segments: pytest.MonkeyPatch
) -> None:
    for name, value in MASKS[masks].items():
        segments.setattr(batch, name, value)
    filters = boxes(300, 3)
    engine = filled(filters, "one segment", segments)
    for number in range(0, 300, 3):
        engine.unsubscribe(f"s{number}")
    engine.subscribe_many(subscriptions_of({"late": "a0 > 50", "later": "a1 > 50 or a2 < 5"}))
    engine.subscribe("last", "a0 < 50 or a1 < 50")
    table = large_table(rows, 4)
    expected = [
        (row, name) for row, event in enumerate(rows_of(table, nulls)) for name in engine.match(event)
    ]
    assert pairs(engine.match_batch(table, nulls=nulls, ordered=True)) == expected
    assert engine.stats()["segments"] == 2
    assert engine.stats()["masked_segments"] == (1 if masks == "masked" else 0)
    assert sorted(pairs(engine.match_batch(table, nulls=nulls))) == sorted(expected)


def test_parts_that_come_out_of_order_are_laid_out_event_by_event() -> None:
    parts = [
        (2, np.array([1, 2]), np.array([20, 30, 31], np.int32)),
        (0, np.array([2, 0]), np.array([0, 1], np.int32)),
        (1, np.array([1, 1]), np.array([10, 21], np.int32)),
    ]
    counts, slots = join_parts(5, parts)
    assert counts.tolist() == [2, 1, 2, 2, 0]
    assert slots.tolist() == [0, 1, 10, 20, 21, 30, 31]


def test_room_for_matches_runs_out_and_matching_goes_on(segments: pytest.MonkeyPatch) -> None:
    engine = filled(
        {f"s{number}": f"x >= {number % 7} and y <= 900" for number in range(300)}, "one segment", segments
    )
    engine.subscribe("union", "x > 6 or y > 6")
    table = pa.table({"x": np.arange(1_100) % 9, "y": np.arange(1_100)})
    expected = [(row, name) for row, event in enumerate(table.to_pylist()) for name in engine.match(event)]
    rooms = {"searched": [("_ROOM", 1), ("_ROOM", 500)], "masked": [("_MOST_ROWS", 1), ("_MOST_ROWS", 3)]}
    for masks, name, room in [(way, *each) for way, listed in rooms.items() for each in listed]:
        with pytest.MonkeyPatch.context() as patched:
            for forced, value in {**MASKS[masks], name: room}.items():
                patched.setattr(batch, forced, value)
            assert pairs(engine.match_batch(table, ordered=True)) == expected
            assert engine.stats()["masked_segments"] == (1 if masks == "masked" else 0)


def test_room_for_verification_runs_out_and_matching_goes_on(segments: pytest.MonkeyPatch) -> None:
    fences = {f"s{number}": f"within(lat, lon, circle({number}, 0, 300000))" for number in range(30)}
    engine = filled(fences, "one segment", segments)
    rng = np.random.default_rng(5)
    table = pa.table({"lat": rng.uniform(0, 30, 2_000), "lon": rng.uniform(-2, 2, 2_000)})
    before = engine.stats()["verified"]
    answer = pairs(engine.match_batch(table, ordered=True))
    assert engine.stats()["verified"] - before > 4_096
    assert answer == [
        (row, name) for row, event in enumerate(table.to_pylist()) for name in engine.match(event)
    ]


@pytest.mark.parametrize("masks", MASKS)
def test_a_batch_counts_as_its_events_do(masks: str, segments: pytest.MonkeyPatch) -> None:
    for name, value in MASKS[masks].items():
        segments.setattr(batch, name, value)
    engine = filled(boxes(100, 6), "one segment", segments)
    engine.tally()
    table = large_table(600, 7)
    before = engine.stats()
    found = engine.match_batch(table).num_rows
    assert engine.stats()["events"] - before["events"] == 600
    assert engine.stats()["matches"] - before["matches"] == found
    assert sum(engine.tallies()["matches"].to_pylist()) == found


# --- what columns cannot say ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "values"),
    [
        (["x = 5", "x > 3 and x < 5"], pa.array([[1, 5], [4], [2, 6], None, []])),
        (["x.y = 1 and x.z = 4"], pa.array([[{"y": 1, "z": 2}, {"y": 3, "z": 4}], [{"y": 1, "z": 4}], None])),
        (["x.y = 1", "x.y is missing"], pa.array([{"y": 1}, {"y": None}, None])),
        (["time(x) < '2027-01-01'", "x like '2026%'"], pa.array([datetime(2026, 1, 31), None], pa.timestamp("us"))),
        ([f"x = {2**53 + 1}", f"x > {2**53}"], pa.array([2**53, 2**53 + 1, 2**53 + 2, -(2**63)])),
        ([f"x = {2**63 - 1}", "x > 5.5"], pa.array([2**63 - 1, 2**53 + 1, 5, None], pa.uint64())),
        (["lower(x) = 'strasse'", "lower(x) like '%ss%'"], pa.array(["STRASSE", "Straße", "", None, "ẞ"])),
        (["reverse(x) like 'cb%'", "x like '%bc'"], pa.array(["abc", "cba", "", "äbc", None])),
        (["cidr(x, '10.0.0.0/8')", "ip(x) is missing"], pa.array(["10.1.2.3", "9.9.9.9", "::1", "no", None])),
        (["time(x) >= timestamp '2256-01-01'"], pa.array(["2255-06-06", "2256-06-06", "9999-12-31T23:59:59.999999Z", "?"])),
        (["lower(x) = 5", "lower(x) is null", "time(x) is missing"], pa.array([5.0, nan, -0.0, None, inf])),
        (["lower(x) = true", "x = false", "x is distinct from true"], pa.array([True, False, None])),
        (["x like '%b%' and x is unlike '%c%'", "x is unlike '%b%'"], pa.array(["ab", "abc", "", None, "éb"])),
        (["x = '' or x > 'é'", "x < 'a\0'"], pa.array(["", "a", "a\0", "é", "éa", "\U0001f600", None])),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)  # fmt: skip
@pytest.mark.parametrize("way", WAYS)
def test_lists_derived_attributes_and_long_integers(
    way: str, filters: list[str], values: pa.Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = filled({f"s{number}": each for number, each in enumerate(filters)}, way, monkeypatch)
    for table in (
        pa.table({"x": values}),
        pa.table({"x": values, "nobody": values}),
        pa.table({"x": values})[1:],
    ):
        assert_answers_rows(engine, table, "null")
        if not pa.types.is_struct(
            values.type
        ):  # nulls inside an object are left out too, which `rows_of` cannot
            assert_answers_rows(engine, table, "missing")


def test_what_is_verified_sees_attributes_that_no_box_has(segments: pytest.MonkeyPatch) -> None:
    """A filter of more conditions than a box keeps: those left over are verified, and need their columns."""
    engine = engine_of(" and ".join(f"a{number:04} = {number}" for number in range(1_500)))
    event = {f"a{number:04}": number for number in range(1_500)}
    table = pa.table({name: [number, number] for name, number in event.items()})
    assert pairs(engine.match_batch(table)) == [(0, "s0"), (1, "s0")]
    spoiled = table.set_column(1_499, "a1499", pa.array([0, 1_499]))
    assert pairs(engine.match_batch(spoiled)) == [(1, "s0")]


@pytest.mark.parametrize("way", WAYS)
def test_a_table_without_columns_still_has_its_rows(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = filled({"s": "x is missing", "t": "x = 1"}, way, monkeypatch)
    assert pairs(engine.match_batch(pa.table({"x": [1, 2]}).select([]))) == [(0, "s"), (1, "s")]
    assert engine.match_batch(pa.table({})).num_rows == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["x", "nobody"])
def test_a_number_that_no_event_may_have_is_refused_in_any_column(
    way: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = filled({"s": "x = 1"}, way, monkeypatch)
    with pytest.raises(thatch.TableError, match="row 1"):
        engine.match_batch(pa.table({name: pa.array([1, 2**63], pa.uint64())}))


def test_json_and_a_schema_are_read_row_by_row(segments: pytest.MonkeyPatch) -> None:
    schema = thatch.Schema({"x": thatch.Integer(0, 10)})
    engine = engine_of("x > 3", "x is missing", "y = 'a'", schema=schema)
    table = pa.table({"x": [5.0, 5.5, 11.0, None], "y": ["a", None, "b", "a"]})
    assert assert_answers_rows(engine, table) == 6
    assert assert_answers_rows(engine, table, "null") == 5
    assert engine.stats()["misfits"] >= 2
    events: list[dict[str, Any]] = [{"x": 5}, {"x": None}, {"x": [1, 4]}, {"y": {"z": 1}}, {}]
    answer = engine.match_batch(
        pa.table({"e": [json.dumps(each) for each in events]}), json="e", ordered=True
    )
    assert pairs(answer) == [(row, name) for row, event in enumerate(events) for name in engine.match(event)]


@pytest.mark.parametrize(
    "values",
    [pa.array([0.0, None]), pa.array(["a", None]), pa.array(["a", None], pa.string_view())],
    ids=["numbers", "texts", "views of texts"],
)
def test_pieces_of_a_column_may_have_dictionaries_that_hold_null(values: Any) -> None:
    engine = thatch.Engine.from_table(
        pa.table({"subscription": [f"s{number}" for number in range(300)], "filter": ["exists(x)"] * 300})
    )
    piece = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), values)
    table = pa.table({"x": pa.chunked_array([piece, piece])})
    found = engine.match_batch(table)
    assert sorted(set(found.column("event").to_pylist())) == [0, 2]
    assert found.num_rows == 600
