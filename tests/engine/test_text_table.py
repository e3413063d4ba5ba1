"""A table of texts beside a plain list and a plain dictionary."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from thatch.engine.texts import TextTable, table
from thatch.errors import SubscriptionError

ODD = ["", "\0", "\0\0", "a", "a\0", "ä", "é", "e\u0301", "日本", "🙂", "12345678", "123456789", "x" * 3_000]
TEXTS = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LISTS = st.lists(TEXTS, max_size=9)


@pytest.fixture(autouse=True)
def small_tables_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fold after three texts, so that every test meets the base."""
    monkeypatch.setattr(table, "RECENT", 3)


def table_of(texts: list[str], seed: int = 0) -> TextTable:
    made = TextTable(seed)
    for text in texts:
        made.add(text)
    return made


def numbers_of(*numbers: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(numbers, np.int64)


def ids(count: int) -> list[str]:
    return [f"s{number}" for number in range(count)]


def copied(held: TextTable) -> dict[str, Any]:
    return {name: array.copy() for name, array in held.arrays().items()}


# --- against the model ---------------------------------------------------------------------------------------------


def repetitions(known: dict[str, int], texts: list[str]) -> list[int]:
    return [place for place, text in enumerate(texts) if text in known or text in texts[:place]]


class TextTableHistory(RuleBasedStateMachine):
    """The table beside a list of all texts and a dictionary of those that can be found."""

    @initialize(seed=st.integers(0, 2**64 - 1))
    def start(self, seed: int) -> None:
        self.table = TextTable(seed)
        self.texts: list[str] = []
        self.known: dict[str, int] = {}

    @rule(text=TEXTS)
    def add(self, text: str) -> None:
        if text not in self.known:
            assert self.table.add(text) == len(self.texts)
            self.known[text] = len(self.texts)
            self.texts.append(text)

    @rule(texts=LISTS, as_array=st.booleans())
    def extend(self, texts: list[str], as_array: bool) -> None:
        repeated = self.table.extend(pa.array(texts, pa.string()) if as_array else texts)
        assert repeated.tolist() == repetitions(self.known, texts)
        if len(repeated) == 0:
            self.known |= {text: len(self.texts) + place for place, text in enumerate(texts)}
            self.texts += texts

    @rule(text=TEXTS)
    def find(self, text: str) -> None:
        assert self.table.find(text) == self.known.get(text, -1)

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.texts:
            number = data.draw(st.integers(0, len(self.texts) - 1))
            self.table.remove(number)
            if self.known.get(self.texts[number]) == number:
                del self.known[self.texts[number]]

    @rule(data=st.data())
    def names(self, data: st.DataObject) -> None:
        places = st.integers(0, len(self.texts) - 1)
        numbers = data.draw(st.lists(places, max_size=9)) if self.texts else []
        assert self.table.names(numbers_of(*numbers)) == [self.texts[number] for number in numbers]

    @rule(is_writable=st.booleans())
    def save_and_open(self, is_writable: bool) -> None:
        arrays = copied(self.table)
        for array in arrays.values():
            array.setflags(write=is_writable)
        self.table = TextTable.from_arrays(arrays)

    @rule()
    def compact(self) -> None:
        numbers = sorted(self.known.values())
        self.table = self.table.take(numbers_of(*numbers))
        self.texts = [self.texts[number] for number in numbers]
        self.known = {text: number for number, text in enumerate(self.texts)}

    @invariant()
    def all_is_told_alike(self) -> None:
        if hasattr(self, "table"):
            assert len(self.table) == len(self.texts)
            assert [self.table.text(number) for number in range(len(self.texts))] == self.texts
            assert [self.table.find(text) for text in self.known] == list(self.known.values())
            assert self.table.arrow().equals(pa.array(self.texts, pa.string()))


TestTextTableHistory = TextTableHistory.TestCase


# --- numbers and texts -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_table_of_few_texts_loads_no_kernels() -> None:
    code = """
import sys
import numpy as np
from thatch.engine.texts import TextTable
table = TextTable(7)
table.extend([f"s{number}" for number in range(4_000)])
table.add("x")
table.remove(table.find("s5"))
assert table.find("s5") == -1 and len(table.arrow()) == 4_001
assert len(table.take(np.arange(9))) == 9 and table.names(np.arange(2)) == ["s0", "s1"]
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("count", [0, 1, 3, 4, 100])
def test_texts_are_numbered_in_the_order_of_their_coming(count: int) -> None:
    held = table_of(ids(count))
    assert len(held) == count
    assert [held.find(text) for text in ids(count)] == list(range(count))
    assert held.names(np.arange(count)) == ids(count)


def test_texts_that_differ_only_in_zero_bytes_or_in_length_are_told_apart() -> None:
    texts = ["\0" * length for length in range(40)] + ["x" * length for length in range(1, 40)]
    held = table_of(texts)
    assert [held.find(text) for text in texts] == list(range(len(texts)))
    assert held.find("\0" * 40) == -1


def test_a_very_long_text_is_found_by_all_of_its_bytes() -> None:
    held = table_of(["y" * 3_000_000, "b", "c", "d", "e"])
    assert held.find("y" * 3_000_000) == 0
    assert held.find("y" * 2_999_999 + "z") == -1
    assert len(held.text(0)) == 3_000_000


def test_a_removed_text_keeps_its_number_and_gets_another_when_it_comes_again() -> None:
    held = table_of(ids(8))
    held.remove(2)
    held.remove(7)
    assert (held.find("s2"), held.find("s7")) == (-1, -1)
    assert (held.text(2), held.text(7)) == ("s2", "s7")
    assert (held.add("s2"), held.add("s7")) == (8, 9)
    held.remove(2)
    assert (held.find("s2"), held.find("s7")) == (8, 9)


def test_adding_and_removing_for_long_needs_no_more_buckets() -> None:
    held = table_of(ids(100))
    before = held.sizes()["buckets"]
    for turn in range(2_000):
        held.remove(held.add(f"turn {turn}"))
    assert held.sizes()["buckets"] <= 2 * before
    assert held.find("turn 5") == -1
    assert [held.find(text) for text in ids(100)] == list(range(100))


def test_names_are_the_same_objects_each_time() -> None:
    held = table_of([*ids(9), ""])
    first = held.names(numbers_of(3, 9, 8, 3))
    again = held.names(numbers_of(3, 9, 8, 3))
    assert first == ["s3", "", "s8", "s3"]
    assert all(one is other for one, other in zip(first, again, strict=True))


@pytest.mark.parametrize("number", [-1, 5, 1_000])
def test_a_number_that_was_never_given_has_no_text(number: int) -> None:
    held = table_of(ids(5))
    with pytest.raises(IndexError):
        held.text(number)
    with pytest.raises(IndexError):
        held.remove(number)
    with pytest.raises(IndexError):
        held.names(numbers_of(number))


def test_a_lone_surrogate_is_refused_and_never_found() -> None:
    held = table_of(ids(5))
    with pytest.raises(SubscriptionError, match="Unicode"):
        held.add("\ud800")
    with pytest.raises(SubscriptionError, match="Unicode"):
        held.extend(["a", "\ud800"])
    assert held.find("\ud800") == -1
    assert len(held) == 5


def test_more_bytes_than_offsets_can_tell_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST", 12)
    held = table_of(["abcd", "ä", "efgh"])
    with pytest.raises(SubscriptionError, match="12 bytes"):
        held.add("xyz")
    with pytest.raises(SubscriptionError, match="12 bytes"):
        held.extend(["x", "y", "z"])
    assert (len(held), held.find("x")) == (3, -1)
    assert held.add("xy") == 3
    assert held.extend([""]).tolist() == []


def test_more_texts_than_buckets_can_tell_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST", 8)
    held = table_of(["", "a", "b", "c", "d"])
    with pytest.raises(SubscriptionError, match="fewer than 8"):
        held.extend(["e", "f", "g"])
    held.extend(["e", "f"])
    with pytest.raises(SubscriptionError, match="fewer than 8"):
        held.add("g")
    assert len(held) == 7


# --- extend ----------------------------------------------------------------------------------------------------------


def sliced(texts: list[str]) -> pa.Array:
    return pa.array(["before", *texts, "after"]).slice(1, len(texts))


VARIANTS = {
    "string": pa.array,
    "large string": lambda texts: pa.array(texts, pa.large_string()),
    "string view": lambda texts: pa.array(texts, pa.string_view()),
    "sliced": sliced,
    "sliced large": lambda texts: sliced(texts).cast(pa.large_string()),
    "dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "sliced dictionary": lambda texts: sliced(texts).dictionary_encode(),
    "chunked": lambda texts: pa.chunked_array([texts[:3], [], texts[3:4], texts[4:]], pa.string()),
    "chunks of slices": lambda texts: pa.chunked_array([sliced(texts[:5]), sliced(texts[5:])]),
    "chunked dictionary": lambda texts: pa.chunked_array([texts[:5], texts[5:]]).dictionary_encode(),
    "list": list,
    "tuple": tuple,
}


@pytest.mark.parametrize("recent", [3, 1_000])
@pytest.mark.parametrize("variant", VARIANTS)
def test_texts_come_from_every_kind_of_arrow_array(
    variant: str, recent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "RECENT", recent)
    held = table_of(ids(5))
    assert held.extend(VARIANTS[variant](ODD[1:])).tolist() == []
    assert held.arrow().to_pylist() == ids(5) + ODD[1:]
    assert [held.find(text) for text in ODD[1:]] == list(range(5, 5 + len(ODD) - 1))


def test_an_array_of_empty_texts_only_may_have_no_bytes() -> None:
    held = table_of(ids(4))
    assert held.extend(pa.array([""])).tolist() == []
    assert held.extend(pa.array(["", "", "", ""])).tolist() == [0, 1, 2, 3]
    assert held.extend(pa.array([], pa.string())).tolist() == []
    assert held.find("") == 4


@given(known=LISTS, texts=LISTS)
def test_an_extension_with_repetitions_changes_nothing(known: list[str], texts: list[str]) -> None:
    held = TextTable(5)
    held.extend(list(dict.fromkeys(known)))
    texts += texts[:1] + known[-1:]
    before = copied(held)
    expected = repetitions(dict.fromkeys(known, 0), texts)
    assert held.extend(texts).tolist() == expected
    if expected:
        assert all((before[name] == array).all() for name, array in held.arrays().items())
        assert len(held) == len(set(known))


def test_a_large_extension_finds_the_repetitions_among_many() -> None:
    held = TextTable(1)
    assert len(held.extend(pa.array(ids(50_000)))) == 0
    before = held.sizes()
    assert held.extend(pa.array([*ids(50_003)[49_999:], "s50000", "t"])).tolist() == [0, 4]
    assert held.extend(pa.array([f"t{number}" for number in range(90_000)] + ["s7"])).tolist() == [90_000]
    assert held.sizes() == before
    assert held.find("s50000") == held.find("t5") == -1
    assert held.find("s49999") == 49_999


@pytest.mark.parametrize(
    "texts",
    [
        ["a", "b", None],
        pa.array(["a", "b", None]),
        pa.array(["a", "b", None, "c", "d"]),
        pa.chunked_array([["a", "b"], [None]]),
        pa.array(["a", "b", None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 0, 1]), pa.array(["a", None])),
    ],
)
def test_nulls_are_refused_with_their_row(texts: Any) -> None:
    held = table_of(ids(5))
    with pytest.raises(ValueError, match="row 2"):
        held.extend(texts)
    assert len(held) == 5


@pytest.mark.parametrize(
    "texts", [[1, 2], [b"a"], pa.array([1]), pa.array([b"a"]), pa.array([1]).dictionary_encode()]
)
def test_what_is_no_text_is_refused(texts: Any) -> None:
    with pytest.raises(SubscriptionError, match="Expected text"):
        TextTable().extend(texts)


def test_arrow_arrays_with_damaged_buffers_are_refused() -> None:
    buffers = [None, pa.py_buffer(np.array([0, 900, 2], np.int32)), pa.py_buffer(b"ab")]
    with pytest.raises(SubscriptionError, match="Unicode"):
        TextTable().extend(pa.Array.from_buffers(pa.string(), 2, buffers))
    with pytest.raises(SubscriptionError, match="Unicode"):
        TextTable().extend(pa.array([b"\xff"]).view(pa.string()))


# --- all at once -----------------------------------------------------------------------------------------------------


def test_the_arrow_array_of_a_folded_table_is_no_copy() -> None:
    held = table_of(ids(8))
    held.fold()
    assert held.arrow().buffers()[2].address == held.arrays()["blob"].ctypes.data


def test_an_arrow_array_stays_as_it_was_while_the_table_grows() -> None:
    held = table_of(ids(8))
    held.fold()
    taken = held.arrow()
    for text in ids(1_000)[8:]:
        held.add(text)
    taken.validate(full=True)
    assert taken.to_pylist() == ids(8)


def test_kept_texts_are_numbered_anew_and_found_even_if_they_were_removed() -> None:
    held = table_of(ids(9))
    held.remove(6)
    kept = held.take(numbers_of(8, 0, 6, 1, 2))
    assert kept.arrow().to_pylist() == ["s8", "s0", "s6", "s1", "s2"]
    assert [kept.find(text) for text in ("s8", "s6", "s3")] == [0, 2, -1]
    assert len(held.take(numbers_of())) == 0


def test_a_text_is_kept_once_only() -> None:
    with pytest.raises(ValueError, match="'s3' twice - at number 3"):
        table_of(ids(9)).take(numbers_of(3, 4, 3))
    with pytest.raises(IndexError):
        table_of(ids(9)).take(numbers_of(3, 9))


def test_sizes_count_every_part() -> None:
    held = TextTable(1)
    held.extend(pa.array(ids(10_000)))
    empty = held.sizes()
    assert set(empty) == {"texts", "buckets", "names", "recent"}
    assert empty["texts"] + empty["buckets"] < 30 * 10_000
    assert empty["names"] == 0
    held.names(np.arange(100))
    held.add("another")
    full = held.sizes()
    objects = sum(map(sys.getsizeof, ids(100)))
    assert objects <= full["names"] - 9 * 10_000 <= 2 * objects
    assert full["recent"] > empty["recent"]
