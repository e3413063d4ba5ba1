"""The kernel that reads dicts writes what Python writes, or leaves an event to Python."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch import parse
from thatch.compiled.cpython import is_readable
from thatch.matching.segments import SegmentIndex
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.encoding import Encoder
from thatch.matching.segments.reading import OTHER, PlainReader
from thatch.model.events import MAX_PARTS

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


def written(encoder: Encoder, rows: int) -> tuple[object, ...]:
    """The rows in an encoder's buffers, and their texts."""
    info, numbers = encoder.buffers["row_info"], encoder.buffers["row_numbers"]
    codes = info[2 * rows : 3 * rows].tolist()
    count = sum(code & 7 == 6 for code in codes)
    lengths = info[3 * rows : 3 * rows + count].tolist()
    own = [numbers[row].tobytes() for row, code in enumerate(codes) if code & 7 == 5]
    return codes, lengths, own, encoder.buffers["words"][: sum(lengths)].tobytes()


def encoders(keys: list[str]) -> tuple[Encoder, Encoder, PlainReader]:
    """One for Python and one for the kernel, with the same attributes."""
    python, kernel = Encoder(), Encoder()
    python.attributes = kernel.attributes = Attributes(keys)
    return python, kernel, PlainReader()


@given(event=events, keys=st.permutations(KEYS).map(lambda keys: keys[:5]))
def test_the_kernel_writes_what_python_writes(event: dict[Any, Any], keys: list[str]) -> None:
    python, kernel, reader = encoders(keys)
    count = OTHER
    kernel._reader = reader
    for _ in range(2):  # a second time, when names are known
        count = reader.read(event, kernel.attributes, kernel.buffers)
        while count < OTHER:
            kernel._make_room(2 * len(event) + 2)
            count = reader.read(event, kernel.attributes, kernel.buffers)
    if count != OTHER:
        assert python._plain(event) == count
        assert written(python, count) == written(kernel, count)
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
    count = reader.read(event, kernel.attributes, kernel.buffers)
    while count < OTHER:
        kernel._make_room(2 * len(event) + 2)
        count = reader.read(event, kernel.attributes, kernel.buffers)
    assert count >= 0


@pytest.mark.parametrize(
    "event",
    [{"x": 10**400}, {"x": OddNumber(1)}, {OddText("x"): 1}, {"x": "\ud800"}, {"else": "\ud800"}, {"\ud800": 1}, {1: 1}],
    ids=range(7),
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
    assert reader.read({"x": 1, "y": "ab"}, kernel.attributes, kernel.buffers) == OTHER


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
