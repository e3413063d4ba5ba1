"""The kernel that reads dicts writes what Python writes, or leaves an event to Python."""

from __future__ import annotations

import builtins
import sys
import threading
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thatch import parse
from thatch.compiled.cpython import is_readable
from thatch.errors import EventError
from thatch.matching.segments import SegmentIndex, encoding, reading
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.encoding import Encoder
from thatch.matching.segments.reading import OTHER, PlainReader
from thatch.model.derived import derive
from thatch.model.events import MAX_PARTS, read_event
from thatch.model.lines import point
from thatch.model.names import ANYWHERE

pytestmark = pytest.mark.skipif(not is_readable(), reason="the compiler is off")

KEYS = ["x", "y", "z", "o.p", '"é"', "reverse(y)", "lower(z)"]


class OddText(str):
    """A text that says of itself what it likes."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash("x")

    def __eq__(self, other: object) -> bool:
        return True


class OddNumber(int):
    """A number that says of itself what it likes."""

    def __bool__(self) -> bool:
        raise ZeroDivisionError


class OddList(list[Any]):
    """A list that is none."""

    def __len__(self) -> int:
        return 0


texts = st.one_of(st.text("abé\U0001f600\0", max_size=5), st.sampled_from(["", "x" * 3_000, "é" * 3_000]))
numbers = st.one_of(
    st.integers(-5, 5),
    st.integers(-(2**64), 2**64),
    st.sampled_from([2**53, 2**53 + 1, 2**53 + 2, 2**62, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**400]),
    st.floats(),
)
odd = st.sampled_from(
    [b"x", "\ud800", "a\udfff", OddText("x"), OddNumber(1), OddList([1]), (1,), {}, {"a": 1}, [], [[1]], object(), 1j]
)  # fmt: skip
plain = st.one_of(texts, numbers, st.sampled_from([None, True, False]))
values = st.one_of(plain, plain, plain, plain, st.lists(plain, max_size=3), odd)
names = st.sampled_from(
    ["x", "y", "z", "o.p", "é", "else", "unknown", "\ud800", OddText("x"), "", "a..b", "w" * 300]
)
events = st.dictionaries(names, values, max_size=6)


def encoders(keys: list[str]) -> tuple[Encoder, Encoder, PlainReader]:
    """One for Python and one for the kernel, with the same attributes."""
    python, kernel = Encoder(), Encoder()
    python.attributes = kernel.attributes = Attributes(keys)
    return python, kernel, PlainReader()


def read(reader: PlainReader, event: dict[Any, Any], encoder: Encoder) -> int:
    """How many rows the kernel writes, or OTHER; buffers grow as the encoder lets them."""
    count = reader.read(event, encoder.attributes, encoder.buffers)
    while count < OTHER:
        encoder._make_room(2 * len(event) + 2)
        count = reader.read(event, encoder.attributes, encoder.buffers)
    return count


@given(event=events, keys=st.permutations(KEYS).map(lambda keys: keys[:5]))
def test_the_kernel_writes_what_python_writes(event: dict[Any, Any], keys: list[str]) -> None:
    python, kernel, reader = encoders(keys)
    count = OTHER
    kernel._reader = reader
    for _ in range(2):  # a second time, when names are known
        count = read(reader, event, kernel)
    if count != OTHER:
        assert python._plain(event) == count
        rows = [sorted(decoded(each, count, of_rules=False) or [], key=repr) for each in (python, kernel)]
        assert rows[0] == rows[1]  # in another order: the kernel has what is derived first
        assert not python.is_listed


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"x": "text", "y": "text", "unknown": [1, "é", None, 2**63 - 1], "other": 0.5},
        {"x": None, "y": "", "o.p": -0.0, "é": True},
        {"x": 2**62, "é": float("nan"), "o.p": -(2**63)},
        {"x": "é" * 5_000},
        {f"k{number}": number for number in range(5_000)},
    ],
    ids=range(6),
)
def test_the_kernel_reads_plain_events_itself(event: dict[str, Any]) -> None:
    _, kernel, reader = encoders(["x", "y", "o.p", '"é"', "reverse(y)"])
    kernel._reader = reader
    count = read(reader, event, kernel)
    assert count >= 0


@pytest.mark.parametrize(
    "event",
    [{"x": 10**400}, {"x": 2**62 + 512}, {"x": -(2**62) - 512}, {"x": OddNumber(1)}, {OddText("x"): 1}, {"x": "\ud800"}, {"else": "\ud800"}, {"\ud800": 1}, {1: 1}],
    ids=range(9),
)  # fmt: skip
def test_what_is_no_plain_value_is_left_to_python(event: dict[Any, Any]) -> None:
    _, kernel, reader = encoders(KEYS)
    assert reader.read(event, kernel.attributes, kernel.buffers) == OTHER


def test_what_is_read_is_neither_kept_nor_let_go() -> None:
    _, kernel, reader = encoders(KEYS)
    values: list[Any] = ["é" * 10, 2**80, 1.25e300, 10**6, "\ud800a", [1.25e301, "é" * 11]]
    for value in values:
        for name in ("x", "y", "else", "Ω"):
            event = {name: value}
            before = sys.getrefcount(value), sys.getrefcount(event), sys.getrefcount(name)
            for _ in range(100):
                reader.read(event, kernel.attributes, kernel.buffers)
            assert (sys.getrefcount(value), sys.getrefcount(event), sys.getrefcount(name)) == before


def test_names_that_come_later_are_known_at_once() -> None:
    _, kernel, reader = encoders(["x"])
    assert reader.read({"x": 1, "y": "ab"}, kernel.attributes, kernel.buffers) == 1
    kernel.attributes.number["y"] = 1
    kernel.attributes.learn()
    assert reader.read({"x": 1, "y": "ab"}, kernel.attributes, kernel.buffers) == 2
    kernel.attributes.number["reverse(y)"] = 2
    kernel.attributes.learn()
    assert reader.read({"x": 1, "y": "ab"}, kernel.attributes, kernel.buffers) == 3
    kernel.attributes.number["lower(y)"] = 3
    kernel.attributes.learn()
    assert reader.read({"x": 1, "y": "ab"}, kernel.attributes, kernel.buffers) == 4


def test_events_of_too_many_parts_are_read_with_care() -> None:
    python, kernel, reader = encoders(["x"])
    many = {"a": [0] * 1_000}
    assert reader.read(many, kernel.attributes, kernel.buffers) == 0
    many |= {f"k{number}": [0] * 1_000 for number in range(100)}
    assert reader.read(many, kernel.attributes, kernel.buffers) == OTHER
    assert python._plain(many) == 0
    shared = [0] * 100_000
    assert python._plain({f"k{number}": shared for number in range(MAX_PARTS // len(shared) - 1)}) == 0
    assert python._plain({f"k{number}": shared for number in range(MAX_PARTS // len(shared))}) == -1


def test_more_text_than_kernels_can_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "_MOST_TEXT", 100_000)
    index = SegmentIndex()
    index.extend({0: parse("x = 'a'"), 1: parse("lower(x) like '%c%'")})
    for _ in range(40):
        assert index.view.match_plain({"x": "c"}, list) == [1]
        for event in ({"x": "c" * 110_000}, {"x": ["c" * 60_000, "c" * 60_000]}):
            with pytest.raises(EventError, match="more than 50,000 bytes"):
                index.view.match_plain(event, list)
    assert len(index._pool.every) <= 1


def test_events_that_other_threads_change_are_read_without_harm() -> None:
    """Readers hold the GIL, so that an event is that of one moment; what matches is what one of its moments says."""
    index = SegmentIndex()
    index.extend({0: parse("x = 'a'"), 1: parse("x = 'b'"), 2: parse("lower(x) like '%c%'")})
    event: dict[str, Any] = {"x": "a", "else": ["é" * 9]}
    for _ in range(40):  # from then on the kernel reads
        index.view.match_plain(event, len)
    is_done = threading.Event()

    def change() -> None:
        while not is_done.is_set():
            event["x"] = "b"
            event.update((f"k{number}", [number, "é" * number]) for number in range(200))
            event["x"] = "C"
            for number in range(200):
                del event[f"k{number}"]
            event["x"] = "a"

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(3_000):
            assert index.view.match_plain(event, lambda slots: tuple(slots.tolist())) in {(0,), (1,), (2,)}
    finally:
        is_done.set()
        thread.join()
    assert np.array_equal(index.view.match_plain({"x": "cC"}, list), [2])


# --- the definition --------------------------------------------------------------------------------------------------

Rows = list[tuple[int, Any]]  # the code of each row, with its number or text


def decoded(encoder: Encoder, count: int, *, of_rules: bool = True) -> Rows | None:
    """The rows that stand in the buffers of an encoder."""
    if count == OTHER:
        return None
    info, doubles = encoder.buffers["row_info"].tolist(), encoder.buffers["row_numbers"].tolist()
    words, at, number, rows = encoder.buffers["words"].tobytes(), 0, 0, []
    for row in range(count):
        code = info[2 * count + row]
        value: Any = None
        if code & 7 == 6:
            size = info[3 * count + number]
            value, at, number = words[at : at + size].decode(), at + size, number + 1
        elif code & 7 == 5:
            value = doubles[row]
        elif code & 7 == 4:
            assert isnan(doubles[row]) or not of_rules, "rules read the number of this class, too"
        rows.append((code, value))
    return rows


def is_plain(value: Any) -> bool:
    """Whether a value is exactly of one of the plain types, and one that an event may have."""
    if type(value) is str:
        return not any("\ud800" <= letter <= "\udfff" for letter in value)
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return value is None or type(value) in (float, bool)


def rows_of(event: dict[Any, Any], attributes: Attributes) -> Rows | None:
    """What the kernel is to write, None if it is to leave the event to Python: the slow definition."""
    rows = derived_rows_of(event, attributes)
    if rows is None:
        return None
    for name, value in event.items():
        if type(name) is not str or not is_plain(name):
            return None
        is_named = attributes.by_name.get(name, -8) >= 0 or name in attributes.texts_by_name
        more = (
            rows_of_named(name, value, attributes)
            if is_named
            else rows_of_other(value, attributes, len(rows))
        )
        if more is None:
            return None
        rows += more
    return rows


def derived_rows_of(event: dict[Any, Any], attributes: Attributes) -> Rows | None:
    """The rows of what is derived from values, but of reversed text alone."""
    rows: Rows = []
    names = dict.fromkeys([*attributes.by_name, *attributes.derived_by_name])
    for name in names:
        if name not in event or name in attributes.texts_by_name:
            continue
        keys = attributes.derived_by_name.get(name, ())
        value = event[name]
        if keys and (not is_plain(value) or (type(value) is int and abs(value) > 2**53)):
            return None
        for key, number in keys:
            place = derive(key, point(value))
            rows.append((8 * number + place[0], place[1] if place[0] in (5, 6) else None))
    return rows


def rows_of_other(value: Any, attributes: Attributes, before: int) -> Rows | None:
    """The rows of a value that no filter names, behind those of others."""
    values = value if type(value) is list and 0 < len(value) <= 1_000 else [value]
    if not all(map(is_plain, values)):
        return None
    if attributes.anywhere < 0:
        return []
    texts = [(attributes.anywhere + 6, each) for each in values if type(each) is str]
    return None if type(value) is list and texts and before + len(texts) + 1 > encoding._ROWS else texts


def rows_of_named(name: str, value: Any, attributes: Attributes) -> Rows | None:
    """The rows of a value of an attribute."""
    codes = attributes.texts_by_name.get(name, (attributes.by_name[name] + 6,))
    if not is_plain(value):
        return None
    code = codes[0] - 6
    if type(value) is str:
        if len(codes) == 1:
            return [(codes[0], value)]
        return [(codes[0], value), (codes[1], value[::-1])] if value.isascii() else None
    if len(codes) > 1:
        return None
    if type(value) is float:
        return [(code + 4, None) if isnan(value) else (code + 5, value)]
    if type(value) is int:
        is_surely_double = abs(value) <= 2**53 or value % 2**11 == 0
        return [(code + 5, float(value))] if is_surely_double else None
    return [(code + (1 if value is None else 2 + value), None)]


@given(
    keys=st.lists(st.sampled_from([*KEYS, ANYWHERE]), unique=True),
    some=st.lists(events, min_size=1, max_size=4),
)
@example(keys=["x"], some=[{"x": 0.5, "y": [None] * 1_000}, {"x": 1, "y": [None] * 1_001}])
@example(keys=["x"], some=[{"x": 2**53 + 1}, {"x": 2**53 + 2}, {"x": -(2**53) - 1}, {"x": 2**53 + 2**11}])
@example(keys=["y", "reverse(y)"], some=[{"y": "ab"}, {"y": "é"}, {"y": 5}, {"y": None}, {"y": ""}])
@example(keys=["reverse(y)"], some=[{"y": "ab"}, {"q": 1}])
@example(keys=["x"], some=[{"y": 10**400}, {"y": [1, "\ud800"]}, {"y": []}, {"y": [[]]}, {"\ud800": 1}])
@example(
    keys=[ANYWHERE, "x"],
    some=[
        {"q": ["a", 1, "b"], "x": "c"},
        {"q": ["a"] * 255},
        {"q": ["a"] * 256},
        {"q": ["a", "\ud800"]},
        {"q": [[]]},
    ],
)
@example(
    keys=[ANYWHERE, "x"], some=[{"q": "a", "x": "b", "r": 1}, {"q": [1]}, {"q": "\ud800"}, {"q": 10**400}]
)
def test_the_kernel_writes_what_is_defined_and_leaves_the_rest(
    keys: list[str], some: list[dict[Any, Any]]
) -> None:
    _, kernel, reader = encoders(keys)
    for event in some:
        assert decoded(kernel, read(reader, event, kernel)) == rows_of(event, kernel.attributes)


@given(event=events)
def test_the_kernel_writes_the_values_that_an_event_has(event: dict[Any, Any]) -> None:
    _, kernel, reader = encoders(KEYS[:5])
    rows = decoded(kernel, read(reader, event, kernel))
    if rows is not None:
        points, number = read_event(event).points, kernel.attributes.number
        assert {code >> 3: (code & 7, value) for code, value in rows} == {
            number[key]: (place[0], place[1] if len(place) > 1 else None)
            for key, place in points.items()
            if key in number
        }


def test_many_names_in_one_table_are_told_apart() -> None:
    _, kernel, reader = encoders([f"a{number}" for number in range(3_000)])
    count = read(reader, {f"a{number}": number for number in range(0, 4_000, 7)}, kernel)
    assert decoded(kernel, count) == [(8 * number + 5, float(number)) for number in range(0, 3_000, 7)]


def test_names_with_the_same_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "hash", lambda _: builtins.hash("y"), raising=False)
    event = {"y": "a", "q": 1}
    for keys, rows in ((["x", "yy", "y", "z"], [(22, "a")]), (["x", "yy", "z"], [])):
        _, kernel, reader = encoders(keys)
        assert decoded(kernel, read(reader, event, kernel)) == rows


def test_the_names_of_another_index_are_read_as_that_numbers_them() -> None:
    _, kernel, reader = encoders(["x", "y"])
    event = {"x": 1, "y": "a"}
    assert decoded(kernel, read(reader, event, kernel)) == [(5, 1.0), (14, "a")]
    kernel.attributes = Attributes(["y", "x"])
    assert decoded(kernel, read(reader, event, kernel)) == [(13, 1.0), (6, "a")]


@pytest.mark.parametrize(
    "event",
    [
        {f"a{number}": number for number in range(2_000)},
        {f"a{number}": "word" * number for number in range(300)},
        {"a1": "x" * 200_000, "a2": "é" * 100_000, "a3": None},
        {"a1": "", "y": "ab" * 5_000},
    ],
    ids=["rows", "texts", "long texts", "reversed text"],
)
def test_buffers_grow_until_an_event_fits(event: dict[str, Any]) -> None:
    _, kernel, reader = encoders([*(f"a{number}" for number in range(2_000)), "y", "reverse(y)"])
    assert reader.read(event, kernel.attributes, kernel.buffers) < OTHER
    assert decoded(kernel, read(reader, event, kernel)) == rows_of(event, kernel.attributes)
    assert decoded(kernel, read(reader, {"a1": 2}, kernel)) == [(13, 2.0)]
