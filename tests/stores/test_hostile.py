"""What a hostile subscriber may send: every store takes it, answers exactly, and gives it back as it was."""

from __future__ import annotations

import random

import pytest

from tests.stores.databases import KINDS, cold, made, opener, record
from thatch import StoreError
from thatch.model.events import read_event
from thatch.tiering.problem import Home
from thatch.tiering.reference import PlainColdTier


def drawn_name(seed: int, length: int = 6_000, letters: str = "abcdefghijklmnopqrstuvwxyz0123456789") -> str:
    """A name that no database can compress to a size that it can index."""
    return "".join(random.Random(seed).choices(letters, k=length))


LONG, OTHER = drawn_name(1), drawn_name(1, 5_999) + "?"
WIDE = drawn_name(2, letters="".join(map(chr, range(0x1F300, 0x1F3FF))))
MANY = {f"a{number}": number for number in range(300)}
EDGES = [-(2**63), -(2**63) + 1, -(2**53) - 1, 2**53, 2**53 + 1, 2**63 - 1, -1e308, 1e308, 5e-324]

# Of each family, filters and events; every filter of a family is asked about each of its events.
FAMILIES = {
    "long names": (
        [f'"{name}" {rest}' for name in (LONG, OTHER, WIDE) for rest in ("> 5", "= 7", "like 'ab%'", "is missing")]
        + [f"lower(\"{LONG}\") = 'ab'", f'"{LONG}" > 5 and "{WIDE}" < 5'],
        [{LONG: 7}, {OTHER: 7, WIDE: 1}, {LONG: "abc", WIDE: "AB"}, {LONG: "AB"}, {LONG: 6, WIDE: 4}, {}],
    ),
    "long texts": (
        [f"x {op} '{text}'" for text in (LONG * 20, OTHER * 20, WIDE) for op in ("=", ">", "!=")]
        + [f"x like '{LONG}%'", f"x in ('{LONG}', '{WIDE}')"],
        [{"x": text} for text in (LONG * 20, OTHER * 20, WIDE, LONG, "")],
    ),
    "nul and backslashes": (
        [f"x {op} '{text}'" for text in ("a\0b", "\0", "a\\\\0b", "a\\\\") for op in ("=", "<=")]
        + ['"n\0m" = 1', "x like '\0%'", "lower(x) = 'a\0b'"],
        [{"x": text, "n\0m": 1} for text in ("a\0b", "\0", "a\\0b", "a\\\\0b", "A\0B", "a\\")],
    ),
    "the edges of 64 bits": (
        [f"x {op} {edge}" for edge in EDGES for op in ("=", "<", ">=")],
        [{"x": edge} for edge in EDGES],
    ),
    "numbers written in two ways": (
        [f"x {op} {number}" for number in ("5", "7.5", "0", "1e18", "9007199254740993") for op in ("=", "<=")],
        [{"x": number} for number in (5.0, 5, 7.5, -0.0, 0, 1e18, 10**18, 2**53 + 1, 2.0**53)],
    ),
    "texts, booleans and numbers": (
        [f"x {op}" for op in ("> 5", "< 'b'", ">= 'b'", "= true", "is null", "is missing", "is distinct from 5")]
        + ["not (x > 5)", "not (x < 'b')"],
        [{"x": value} for value in (6, 5, "a", "b", True, None, float("nan"))] + [{}],
    ),
    "many attributes": (
        [
            " and ".join(f"{name} = {number}" for name, number in MANY.items()),
            " and ".join(f"{name} >= {number}" for name, number in MANY.items()),
            " or ".join(f"{name} > {number}" for name, number in MANY.items()),
        ],
        [MANY, MANY | {"a299": 300}, MANY | {"a0": -1}],
    ),
}  # fmt: skip


@pytest.fixture(params=KINDS)
def store(request, tmp_path_factory):
    opened = opener(request.param, request, tmp_path_factory)()
    yield opened
    opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_a_store_takes_whatever_is_a_filter_and_answers_exactly(store, family):
    filters, events = FAMILIES[family]
    many = [made(f"s{number}", text) for number, text in enumerate(filters)]
    plain = PlainColdTier()
    plain.put([(each, cold()) for each in many], [record()])
    store.put([(each, Home(0, is_cold=False)) for each in many], [record(is_cold=False)])
    store.move(record(), many)
    for event in map(read_event, events):
        assert store.match(event) == plain.match(event)
    assert [each.subscription for each in store.members(0)] == many
    store.put([(each, cold()) for each in many], [record()])
    store.remove([each.identity for each in many[1:]])
    assert list(store.identities()) == ["s0"]


def test_what_a_driver_cannot_write_is_an_error_of_the_store_and_changes_nothing(store):
    store.put([(made("a", "x = 1"), cold())], [record()])
    with pytest.raises(StoreError, match="surrogates not allowed"):
        store.put([(made("b", "x = 1"), cold()), (made("c", "x = 1", "half \ud800"), cold())], [])
    assert list(store.identities()) == ["a"]
    store.put([(made("b", "x = 1"), cold())], [])
    assert [each.identity for each in store.match(read_event({"x": 1}))] == ["a", "b"]
