"""Patterns that are refused: bad entries with their place, bad JSON, rubbish; nothing but our errors comes out."""

from __future__ import annotations

import json
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests.model.language.eventbridge import patterns
from thatch.errors import FilterSyntaxError, NeverMatchesError, PatternError, ThatchError

# --- refusals --------------------------------------------------------------------------------------------------

# What stands in the array of `x`, refused at that place below x.
BAD_ENTRIES: list[tuple[Any, str]] = [
    ({}, ""),
    ([], ""),
    (["a"], ""),
    ({"Prefix": "a"}, ""),
    ({"PREFIX": "a"}, ""),
    ({"starts-with": "a"}, ""),
    ({"regex": "a"}, ""),
    ({"$or": [{"prefix": "a"}, {"suffix": "b"}]}, ""),
    ({"prefix": "a", "suffix": "b"}, ""),
    ({5: "a"}, ""),
    (nan, ""),
    (inf, ""),
    (2**63, ""),
    (-(2**63) - 1, ""),
    (b"a", ""),
    ("\ud800", ""),
    ({"prefix": 5}, ".prefix"),
    ({"prefix": None}, ".prefix"),
    ({"prefix": ["a"]}, ".prefix"),
    ({"prefix": "\udfff"}, ".prefix"),
    ({"prefix": {}}, ".prefix"),
    ({"prefix": {"suffix": "a"}}, ".prefix"),
    ({"prefix": {"equals-ignore-case": "a", "wildcard": "b"}}, ".prefix"),
    ({"prefix": {"equals-ignore-case": ["a"]}}, ".prefix.equals-ignore-case"),
    ({"prefix": {"equals-ignore-case": 5}}, ".prefix.equals-ignore-case"),
    ({"suffix": True}, ".suffix"),
    ({"suffix": ["a", "b"]}, ".suffix"),
    ({"suffix": {"prefix": "a"}}, ".suffix"),
    ({"suffix": {"equals-ignore-case": None}}, ".suffix.equals-ignore-case"),
    ({"equals-ignore-case": 5}, ".equals-ignore-case"),
    ({"equals-ignore-case": ["a"]}, ".equals-ignore-case"),
    ({"equals-ignore-case": {"prefix": "a"}}, ".equals-ignore-case"),
    ({"wildcard": 5}, ".wildcard"),
    ({"wildcard": ["*"]}, ".wildcard"),
    ({"wildcard": {"equals-ignore-case": "*"}}, ".wildcard"),
    ({"wildcard": "**"}, ".wildcard"),
    ({"wildcard": "a**b"}, ".wildcard"),
    ({"wildcard": "a\\"}, ".wildcard"),
    ({"wildcard": "a\\b"}, ".wildcard"),
    ({"wildcard": r"\\\a"}, ".wildcard"),
    ({"exists": "true"}, ".exists"),
    ({"exists": 1}, ".exists"),
    ({"exists": None}, ".exists"),
    ({"exists": [True]}, ".exists"),
    *(({"cidr": network}, ".cidr") for network in (
        5, None, ["10.0.0.0/8"], "", "10.0.0.0", "10.0.0.0/", "10.0.0.0/32", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/a",
        "10.0.0.0/8/8", "10.0.0/8", "10.0.0.256/8", "10.0.0.0/255.0.0.0", "10.0.0.0/8 ", " 10.0.0.0/8", "/8", "a/8",
        "10.0.0.0/٨", "::/128", "::/129", "fe80::1%eth0/64", "::ffff:10.0.0.1/120", "1::2::3/64", "::", "::/ 8",
    )),
    *(({"numeric": operand}, ".numeric") for operand in (
        5, "=", None, {}, [], ["="], [5], [5, "="], ["==", 5], ["!=", 5], ["<>", 5], ["=", "5"], ["=", None], ["=", True],
        ["<", 5, ">", 0], [">", 0, ">", 5], [">", 0, "=", 5], ["=", 0, "<", 5], [">", 5, "<", 5], [">=", 5, "<=", 5],
        [">", 5, "<", 0], [">", 0, "<"], [">", 0, "<", 5, "<", 6], [">", 0, "<", "5"], [[">"], 0], [">", 0, ["<"], 5],
        ["=", nan], ["<", inf], [">", -inf], ["=", 2**63], [">", 0, "<", 2**64],
    )),
    *(({"anything-but": operand}, ".anything-but") for operand in (
        None, True, False, [], [None], [True], ["a", 5], ["a", None], [5, False], [["a"]], [{"prefix": "a"}], [nan],
        {}, {"prefix": "a", "suffix": "b"}, {"numeric": ["=", 5]}, {"cidr": "10.0.0.0/8"}, {"exists": True},
        {"anything-but": "a"}, {"exactly": "a"}, {"Prefix": "a"}, inf, 2**63, "\ud800",
    )),
    *(({"anything-but": {name: operand}}, f".anything-but.{name}")
      for name in ("prefix", "suffix", "equals-ignore-case", "wildcard")
      for operand in (5, None, True, [], ["a", 5], [["a"]], {"equals-ignore-case": "a"}, ["a", None])),
    ({"anything-but": {"prefix": ""}}, ".anything-but.prefix"),
    ({"anything-but": {"prefix": ["a", ""]}}, ".anything-but.prefix"),
    ({"anything-but": {"suffix": ""}}, ".anything-but.suffix"),
    ({"anything-but": {"suffix": ["", "a"]}}, ".anything-but.suffix"),
    ({"anything-but": {"wildcard": "a**"}}, ".anything-but.wildcard"),
    ({"anything-but": {"wildcard": ["a", "\\x"]}}, ".anything-but.wildcard"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "below"), BAD_ENTRIES, ids=ascii)
def test_a_bad_entry_is_refused_with_its_place(entry, below):
    for pattern, where in (
        ({"x": [entry]}, f"x{below}"),
        ({"x": ["a", entry]}, f"x[1]{below}"),
        ({"o": {"p": [entry]}}, f"o.p{below}"),
        ({"$or": [{"y": [1]}, {"o.p": [entry, None]}]}, f"$or[1].o.p[0]{below}"),
    ):
        with pytest.raises(PatternError) as caught:
            thatch.parse(pattern)
        assert caught.value.where == where


BAD_PATTERNS: list[tuple[Any, str]] = [
    ({}, ""),
    ({"x": {}}, "x"),
    ({"o": {"p": {}}, "x": [1]}, "o.p"),
    ({"x": []}, "x"),
    ({"x": "a"}, "x"),
    ({"x": 5}, "x"),
    ({"x": None}, "x"),
    ({"x": True}, "x"),
    ({"o": {"p": "a"}}, "o.p"),
    ({"": {"": 5}}, "."),
    ({5: ["a"]}, ""),
    ({"o": {None: ["a"]}}, "o"),
    ({"\ud800": ["a"]}, ""),
    ({"x": {"a"}}, "x"),
    ({"$or": {}}, "$or"),
    ({"$or": "a"}, "$or"),
    ({"$or": []}, "$or"),
    ({"$or": [{"x": [1]}]}, "$or"),
    ({"$or": [{"x": [1]}, 5]}, "$or[1]"),
    ({"$or": [{"x": [1]}, ["x"]]}, "$or[1]"),
    ({"$or": [{"x": [1]}, {}]}, "$or[1]"),
    ({"$or": [{"x": [1]}, {"y": {}}]}, "$or[1].y"),
    ({"o": {"$or": [{"x": [1]}, {"$or": [{"y": [1]}]}]}}, "o.$or[1].$or"),
    *(({"$or": [{name: [1]}, {"x": [1]}]}, f"$or[0].{name}") for name in (
        "prefix", "suffix", "equals-ignore-case", "anything-but", "exists", "wildcard", "numeric", "cidr", "exactly",
        "=", "<", "<=", ">", ">=", "regex", "not-wildcard", "date-after", "in-date-range", "ip-address-in-range",
    )),
    ({"$or": [{"x": {"prefix": [1]}}, {"x": [1]}]}, "$or[0].x.prefix"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "where"), BAD_PATTERNS, ids=ascii)
def test_a_bad_pattern_is_refused_with_its_place(pattern, where):
    with pytest.raises(PatternError) as caught:
        thatch.parse(pattern)
    assert caught.value.where == where


@pytest.mark.parametrize("source", [None, 5, True, ["x"], [{"x": ["a"]}, {}], (), b"{}", {"x"}], ids=ascii)
def test_a_root_that_is_no_object_is_refused(source):
    with pytest.raises(thatch.FilterError):
        thatch.parse(source)


def test_a_pattern_that_no_event_can_match_is_refused_with_the_reason():
    with pytest.raises(NeverMatchesError, match="exclude each other"):
        thatch.parse({"x": [1], "$or": [{"x": [2]}, {"x": [3]}]})


# --- JSON text -------------------------------------------------------------------------------------------------

BAD_TEXTS = {
    "a name twice": ('{"x": ["a"], "x": ["b"]}', "each name once"),
    "a name twice below": ('{"o": {"x": ["a"], "x": ["a"]}}', "each name once"),
    "a matcher twice": ('{"x": [{"prefix": "a", "prefix": "b"}]}', "each name once"),
    "a name twice, written differently": ('{"x": ["a"], "\\u0078": ["b"]}', "each name once"),
    "text after it": ('{"x": ["a"]} x', "JSON"),
    "a second object": ('{"x": ["a"]}{"x": ["b"]}', "JSON"),
    "NaN": ('{"x": [NaN]}', "a JSON number"),
    "NaN before other letters": ('{"x":NaNnull]}', "a JSON number"),
    "infinity": ('{"x": [{"numeric": ["<", Infinity]}]}', "a JSON number"),
    "minus infinity": ('{"x": [-Infinity]}', "a JSON number"),
    "a number past every double": ('{"x": [1e999]}', "range of a double"),
    "an integer past 64 bits": ('{"x": [18446744073709551616]}', "a number"),
    "an integer of 5,000 digits": ('{"x": [' + "9" * 5_000 + "]}", "JSON"),
    "an unfinished one": ('{"x": ["a"', "JSON"),
    "a lone brace": ("{", "JSON"),
    "single quotes": ("{'x': ['a']}", "JSON"),
    "a comma too many": ('{"x": ["a",]}', "JSON"),
    "a comment": ('{"x": ["a"]} // no', "JSON"),
    "a raw line break in a text": ('{"x": ["a\nb"]}', "JSON"),
    "a lone surrogate": ('{"x": ["\\ud800"]}', "a number"),
    "a lone surrogate in a name": ('{"\\ud800": ["a"]}', "names as text"),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_bad_json_is_refused(name):
    text, expected = BAD_TEXTS[name]
    with pytest.raises(PatternError) as caught:
        thatch.parse(text)
    assert expected in caught.value.expected
    assert len(str(caught.value)) < 400


def test_json_text_of_another_kind_is_read_as_filter_text():
    for text in ('["x"]', '"x"', "null", "5", ""):
        with pytest.raises(FilterSyntaxError):
            thatch.parse(text)


LARGE = {
    "objects 10,000 deep": lambda: '{"a":' * 10_000 + "[1]" + "}" * 10_000,
    "objects 201 deep": lambda: '{"a":' * 202 + "[1]" + "}" * 202,
    "arrays 10,000 deep": lambda: '{"a":' + "[" * 10_000 + "]" * 10_000 + "}",
    "$or 10,000 deep": lambda: '{"$or":[{"a":[1]},' * 10_000 + "{}" + "]}" * 10_000,
    "only braces": lambda: '{"a":' * 1_000_000,
    "33 MB": lambda: '{"a": ["' + "x" * 33_000_000 + '"]}',
    "a long name above many fields": lambda: json.dumps({"n" * 1_000_000: {str(number): [1] for number in range(100_000)}}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_json_too_large_or_deep_is_refused_soon(name):
    with pytest.raises(PatternError) as caught:
        thatch.parse(LARGE[name]())
    assert len(str(caught.value)) < 400


def test_objects_200_deep_are_a_pattern():
    assert thatch.parse('{"a":' * 201 + "[1]" + "}" * 201) == thatch.parse({".".join("a" * 201): [1]})


def test_a_large_pattern_within_the_limit_is_read():
    text = "x" * 900_000
    assert thatch.parse(json.dumps({"a": [{"wildcard": text + "*"}]})).matches({"a": text})


def shared() -> dict[str, Any]:
    pattern: dict[str, Any] = {"x": [1]}
    for _ in range(150):
        pattern = {"a": pattern, "b": pattern}
    return pattern


def cyclic(*, through_or: bool = False) -> dict[str, Any]:
    pattern: dict[str, Any] = {}
    pattern.update({"$or": [pattern, pattern]} if through_or else {"a": pattern, "b": pattern})
    return pattern


def cyclic_list() -> dict[str, Any]:
    entries: list[Any] = []
    entries.append(entries)
    return {"x": entries}


@pytest.mark.parametrize(
    "pattern", [shared(), cyclic(), cyclic(through_or=True), cyclic_list()], ids=range(4)
)
def test_shared_and_cyclic_objects_are_refused_soon(pattern):
    with pytest.raises(PatternError):
        thatch.parse(pattern)


# --- rubbish ---------------------------------------------------------------------------------------------------

WORDS = (
    "x", "o.p", "$or", "prefix", "suffix", "equals-ignore-case", "anything-but", "numeric", "exists", "cidr", "wildcard",
    "=", "<", ">=", "a*", "**", "\\", "10.0.0.0/8", "::/0", "", "\ud800", "exactly",
)  # fmt: skip
scalars = st.sampled_from([None, True, False, 0, 5, -1, 2**63, 1e300, nan, inf, *WORDS]) | st.text(max_size=3)
rubbish = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
        st.tuples(st.sampled_from(WORDS), inner).map(lambda pair: [{pair[0]: pair[1]}]),
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(WORDS), rubbish, max_size=4))
def test_rubbish_is_accepted_or_refused_by_our_own_errors(pattern):
    results = []
    for source in (pattern, json.dumps(pattern)):
        try:
            results.append(thatch.parse(source))
        except ThatchError as error:
            results.append(type(error))
    assert results[0] == results[1]


@given(patterns, st.data())
def test_damaged_json_is_accepted_or_refused_by_our_own_errors(pattern, data):
    text = json.dumps(pattern)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    damage = data.draw(
        st.sampled_from(["", ",", "{", "}", "[", "]", '"', "\\", "NaN", "1e999", "null", "\ud800"])
    )
    try:
        thatch.parse(text[:start] + damage + text[end:])
    except ThatchError:
        return
