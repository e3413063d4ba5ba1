"""JSON patterns: what each matcher holds on, and where we deviate from EventBridge (see the module's docstring)."""

from __future__ import annotations

import json
from math import inf, nan
from typing import Any

import pytest
from hypothesis import assume, given

import thatch
from tests import strategies as make
from tests.model.language.eventbridge import patterns, wanted
from thatch.errors import EventError, NeverMatchesError, PatternError
from thatch.matching.reference import flat_events

ABSENT = object()  # the event lacks the field

# --- what each matcher holds on --------------------------------------------------------------------------------

OTHERS: list[Any] = [ABSENT, None, True, False, 0, 5, 5.5, nan, [], {}, {"y": 1}, "other", ""]
NOT_PRESENT: list[Any] = [ABSENT, [], [[]], {}, {"y": "a"}]
PRESENT: list[Any] = [None, True, False, 0, 5.5, nan, inf, "", "zz", ["zz"]]

# The array of a field -> values on which it holds -> values on which it does not, besides those of another kind.
LEAVES: dict[str, tuple[list[Any], list[Any], list[Any]]] = {
    "text": (["a"], ["a", ["b", "a"], [["a"]]], ["A", "ab", " a", ["b"], {"x": "a"}, *OTHERS]),
    "empty text": ([""], [""], [" ", "a", None, ABSENT, 0, False]),
    "text with signs": (["%_\\*é\U0001f600"], ["%_\\*é\U0001f600"], ["a_\\*é\U0001f600"]),
    "number": ([300], [300, 300.0, 3.0e2, [1, 300]], ["300", 301, True, *OTHERS]),
    "number with a fraction": ([0.1], [0.1], [0.1 + 2**-56, "0.1", 0]),
    "zero": ([0], [0, -0.0], [False, "", None, ABSENT]),
    "large number": ([2**53 + 1], [2**53 + 1], [2**53, float(2**53), 2**53 + 2]),
    "true": ([True], [True], [1, "true", False, None]),
    "false": ([False], [False], [0, "false", True, None, ABSENT]),
    "null": ([None], [None, [1, None]], ["null", "", 0, False, ABSENT, [], {}]),
    "several kinds": (["a", 5, None, True], ["a", 5.0, None, True], ["5", False, "null", ABSENT]),
    "prefix": ([{"prefix": "ab"}], ["ab", "abc", ["x", "abx"]], ["a", "Ab", "cab", *OTHERS]),
    "prefix of signs": ([{"prefix": "%_*\\"}], ["%_*\\", "%_*\\x"], ["ab*\\", "%"]),
    "prefix past U+FFFF": ([{"prefix": "\U0010ffff"}], ["\U0010ffff", "\U0010ffffz"], ["\U0010fffe"]),
    "exactly": ([{"exactly": "a"}, {"exactly": "5"}], ["a", "5", ["b", "a"]], ["A", "ab", *OTHERS]),
    "exactly nothing": ([{"exactly": ""}], [""], [" ", "a", None, *NOT_PRESENT]),
    "empty prefix": ([{"prefix": ""}], ["", "a", "é"], [None, 5, True, *NOT_PRESENT]),
    "prefix, any case": ([{"prefix": {"equals-ignore-case": "aB"}}], ["AB", "abc", "Ab"], ["a", "ba", 5]),
    "empty prefix, any case": ([{"prefix": {"equals-ignore-case": ""}}], ["", "A"], [None, *NOT_PRESENT]),
    "suffix": ([{"suffix": ".png"}], ["a.png", ".png"], ["a.PNG", "a.png ", *OTHERS]),
    "empty suffix": ([{"suffix": ""}], ["", "a"], [None, 5, *NOT_PRESENT]),
    "suffix, any case": ([{"suffix": {"equals-ignore-case": ".PnG"}}], ["a.png", ".PNG"], ["png", 5]),
    "any case": ([{"equals-ignore-case": "aLiCe"}], ["alice", "ALICE"], ["alic", "alice ", *OTHERS]),
    "any case, empty": ([{"equals-ignore-case": ""}], [""], ["a", None, *NOT_PRESENT]),
    "wildcard": ([{"wildcard": "a*b*c"}], ["abc", "axxbxxc", "abbcc"], ["ab", "xabc", "Abc", *OTHERS]),
    "wildcard alone": ([{"wildcard": "*"}], ["", "a", "*"], [None, 5, True, *NOT_PRESENT]),
    "wildcard without a star": ([{"wildcard": "a%_b"}], ["a%_b"], ["axyb", "a%_bc"]),
    "empty wildcard": ([{"wildcard": ""}], [""], ["a", "*", None, ABSENT]),
    "escaped star": ([{"wildcard": r"a\*b*"}], ["a*b", "a*bc"], ["axb", "a\\*b"]),
    "escaped backslash": ([{"wildcard": r"a\\*"}], ["a\\", "a\\b"], ["a*", "a"]),
    "escaped star beside a star": ([{"wildcard": r"*\**"}], ["*", "x*y"], ["", "xy"]),
    "exists": ([{"exists": True}], PRESENT, NOT_PRESENT),
    "does not exist": ([{"exists": False}], NOT_PRESENT, PRESENT),
    "exists or not": ([{"exists": True}, {"exists": False}], [*PRESENT, *NOT_PRESENT], []),
    "cidr": ([{"cidr": "10.0.0.0/24"}], ["10.0.0.0", "10.0.0.255"], ["10.0.1.0", "::a00:0", "10.0.0", *OTHERS]),
    "cidr with host bits": ([{"cidr": "10.0.0.77/24"}], ["10.0.0.0", "10.0.0.255"], ["10.0.1.0"]),
    "cidr of everything": ([{"cidr": "0.0.0.0/0"}], ["0.0.0.0", "255.255.255.255"], ["::", "1.2.3.4.5", ABSENT]),
    "cidr of two addresses": ([{"cidr": "10.0.0.2/31"}], ["10.0.0.2", "10.0.0.3"], ["10.0.0.4", "10.0.0.1"]),
    "cidr of IPv6": ([{"cidr": "2001:DB8::/127"}], ["2001:db8::", "2001:db8:0::1"], ["2001:db8::2", "::1", "1.2.3.4"]),
    "cidr of all IPv6": ([{"cidr": "::/0"}], ["::", "ffff::"], ["10.0.0.1", "::1%eth0"]),
    "numeric =": ([{"numeric": ["=", 5]}], [5, 5.0], ["5", 6, True, None, nan, *NOT_PRESENT]),
    "numeric <": ([{"numeric": ["<", 5]}], [4.9, -inf], [5, inf, "4", True, None, nan]),
    "numeric <=": ([{"numeric": ["<=", 5]}], [5, -1], [5.1, "5", False, None]),
    "numeric >": ([{"numeric": [">", 5]}], [5.1, inf, [1, 6]], [5, "6", True, None, nan]),
    "numeric >=": ([{"numeric": [">=", 2**53 + 1]}], [2**53 + 1, 2.0**54], [2**53, float(2**53)]),
    "numeric > <": ([{"numeric": [">", 0, "<", 5]}], [1, 4.9], [0, 5, [0, 5], "3"]),
    "numeric >= <=": ([{"numeric": [">=", 0, "<=", 5.5]}], [0, 5.5, -0.0], [-0.1, 5.6]),
    "numeric > <=": ([{"numeric": [">", 0, "<=", 5]}], [5, 0.1], [0, 5.1]),
    "numeric >= <": ([{"numeric": [">=", 0, "<", 5]}], [0, 4.9], [5, -1]),
    "anything but text": ([{"anything-but": "a"}], [*PRESENT, "A", ["a", "b"]], ["a", ["a", "a"], *NOT_PRESENT]),
    "anything but texts": ([{"anything-but": ["a", ""]}], [None, 5, nan, "b"], ["a", "", ["a", ""], ABSENT]),
    "anything but a number": ([{"anything-but": 5}], ["5", None, nan, True, 5.5, [5, 6]], [5, 5.0, ABSENT]),
    "anything but numbers": ([{"anything-but": [5, 0.5]}], ["5", None, 1, inf], [5, 0.5, [5, 0.5], ABSENT]),
    "anything but a prefix": ([{"anything-but": {"prefix": "a"}}], ["ba", "A", *PRESENT], ["a", "ab", *NOT_PRESENT]),
    "anything but prefixes": ([{"anything-but": {"prefix": ["a", "b"]}}], ["c", None, 5], ["ab", "ba", ABSENT]),
    "anything but a suffix": ([{"anything-but": {"suffix": "a"}}], ["ab", "A", *PRESENT], ["a", "ba", *NOT_PRESENT]),
    "anything but suffixes": ([{"anything-but": {"suffix": ["a", "b"]}}], ["c", None, 5], ["ab", "ba", ABSENT]),
    "anything but, any case": ([{"anything-but": {"equals-ignore-case": "aB"}}], ["abc", *PRESENT], ["AB", "ab", ABSENT]),
    "anything but several, any case": (
        [{"anything-but": {"equals-ignore-case": ["a", "B"]}}], ["ab", None, nan], ["A", "b", "a", ABSENT],
    ),
    "anything but a wildcard": ([{"anything-but": {"wildcard": "a*b"}}], ["a", "abc", *PRESENT], ["ab", "axb", *NOT_PRESENT]),
    "anything but wildcards": (
        [{"anything-but": {"wildcard": ["*a*", "b*", "c"]}}], ["c1", "dd", None, 5], ["xax", "bc", "c", ABSENT],
    ),
    "anything but, or": ([{"anything-but": "a"}, "a", {"exists": False}], [*PRESENT, "a", *NOT_PRESENT], []),
    "matchers side by side": (
        [{"prefix": "a"}, {"suffix": "z"}, {"numeric": ["<", 0]}, {"cidr": "10.0.0.0/8"}, None],
        ["ab", "yz", -1, "10.1.2.3", None],
        ["b", 0, "11.0.0.0", ABSENT],
    ),
}  # fmt: skip


def event_of(value: Any) -> dict[str, Any]:
    return {} if value is ABSENT else {"x": value}


@pytest.mark.parametrize("name", LEAVES)
def test_an_array_of_matchers_holds_on_exactly_these_values(name):
    entries, matching, others = LEAVES[name]
    filter = thatch.parse({"x": entries})
    assert [value for value in matching if not filter.matches(event_of(value))] == []
    assert [value for value in others if filter.matches(event_of(value))] == []


WHOLE = [
    # Everything in an object must hold; nesting and dots are the same.
    ({"x": ["a"], "y": [1]}, {"x": "a", "y": 1}, True),
    ({"x": ["a"], "y": [1]}, {"x": "a"}, False),
    ({"o": {"p": ["a"], "q": [1]}}, {"o": {"p": "a", "q": 1}}, True),
    ({"o": {"p": ["a"], "q": [1]}}, {"o.p": "a", "o": {"q": 1}}, True),
    ({"o.p": ["a"]}, {"o": {"p": "a"}}, True),
    ({"o.p": ["a"]}, {"o.p": "a"}, True),
    ({"a": {"b.c": {"d": [1]}}}, {"a.b": {"c": {"d": 1}}}, True),
    ({"o.p": ["a"]}, {"p": "a"}, False),
    ({"detail-type": ["a"], "a b": [{"exists": False}]}, {"detail-type": "a"}, True),
    ({"": ["a"]}, {"": "a"}, True),
    ({"": {"a": [1]}}, {"": {"a": 1}}, True),
    ({"": {"a": [1]}}, {"a": 1}, False),
    ({"a": {"": [1]}}, {"a.": 1}, True),
    # Words of the language are plain names where no matcher can stand.
    ({"prefix": ["a"], "numeric": {"exists": [1]}}, {"prefix": "a", "numeric": {"exists": 1}}, True),
    # An object is no value.
    ({"o": [{"exists": True}]}, {"o": {"p": 1}}, False),
    ({"o": [{"exists": False}]}, {"o": {"p": 1}}, True),
    ({"o": {"p": [{"exists": False}]}}, {"o": 5}, True),
    # Any element of a list; objects of one list in the same element; lists side by side each on their own.
    ({"x": ["a"], "y": ["b"]}, {"x": ["c", "a"], "y": ["b", "d"]}, True),
    ({"o": {"p": [1], "q": [2]}}, {"o": [{"p": 1, "q": 2}, {"p": 3, "q": 4}]}, True),
    ({"o": {"p": [1], "q": [4]}}, {"o": [{"p": 1, "q": 2}, {"p": 3, "q": 4}]}, False),
    ({"o": {"p": [1], "q": [{"exists": False}]}}, {"o": [{"p": 1}, {"q": 2}]}, True),
    ({"o": {"p": {"r": [1]}, "q": [2]}}, {"o": [[{"p": [{"r": 0}, {"r": 1}], "q": [2]}], {"q": 5}]}, True),
    # $or: one of its objects, beside other fields, below a name, inside another.
    ({"$or": [{"x": [1]}, {"y": [2]}]}, {"y": 2}, True),
    ({"$or": [{"x": [1]}, {"y": [2]}]}, {"x": 2, "y": 1}, False),
    ({"$or": [{"x": [1]}, {"y": [2]}], "z": [3]}, {"x": 1}, False),
    ({"$or": [{"x": [1]}, {"y": [2]}], "z": [3]}, {"x": 1, "z": 3}, True),
    ({"o": {"$or": [{"p": [1]}, {"q": [2]}], "r": [3]}}, {"o": {"q": 2, "r": 3}}, True),
    ({"o": {"$or": [{"p": [1]}, {"q": [2]}]}}, {"q": 2}, False),
    ({"$or": [{"x": [1], "y": [2]}, {"z": [3]}]}, {"x": 1}, False),
    ({"$or": [{"$or": [{"x": [1]}, {"y": [2]}], "z": [3]}, {"z": [4]}]}, {"y": 2, "z": 3}, True),
    ({"$or": [{"$or": [{"x": [1]}, {"y": [2]}], "z": [3]}, {"z": [4]}]}, {"y": 2, "z": 5}, False),
    ({"$or": [{"o": {"p": [1]}}, {"o": {"q": [2]}}]}, {"o": {"q": 2}}, True),
    ({"$or": ({"x": (1,)}, {"y": (2, 3)})}, {"y": 3}, True),
]


@pytest.mark.parametrize(("pattern", "event", "matches"), WHOLE, ids=str)
def test_a_pattern_holds_when_everything_in_it_does(pattern, event, matches):
    assert thatch.parse(pattern).matches(event) is matches
    assert thatch.parse(f" \n{json.dumps(pattern)}\n ").matches(event) is matches


@given(patterns, make.events)
def test_a_pattern_matches_what_its_words_say(pattern, event):
    try:
        flat = list(flat_events(event))
    except EventError:
        assume(False)
    expected = any(wanted(pattern, each) for each in flat)
    try:
        filter = thatch.parse(pattern)
    except NeverMatchesError:
        assert not expected
    else:
        assert filter.matches(event) == expected


@given(patterns)
def test_a_pattern_as_json_text_is_the_same_filter(pattern):
    try:
        filter = thatch.parse(pattern)
    except NeverMatchesError:
        assume(False)
    assert thatch.parse(json.dumps(pattern)) == filter
    assert thatch.parse(json.dumps(pattern, ensure_ascii=False, indent=1)) == filter


# --- deviations ------------------------------------------------------------------------------------------------


def test_deviation_case_is_ignored_by_unicode_case_folding():
    assert thatch.parse({"x": [{"equals-ignore-case": "STRASSE"}]}).matches({"x": "straße"})
    assert thatch.parse({"x": [{"prefix": {"equals-ignore-case": "ß"}}]}).matches({"x": "SSx"})
    assert thatch.parse({"x": [{"suffix": {"equals-ignore-case": "ς"}}]}).matches({"x": "ΟΔΟΣ"})
    assert not thatch.parse({"x": [{"anything-but": {"equals-ignore-case": "ÉTÉ"}}]}).matches({"x": "été"})


def test_deviation_text_that_looks_like_an_address_is_compared_as_text():
    assert thatch.parse({"x": ["::1"]}).matches({"x": "::1"})
    assert not thatch.parse({"x": ["::1"]}).matches({"x": "0:0:0:0:0:0:0:1"})
    assert thatch.parse({"x": [{"anything-but": "::1"}]}).matches({"x": "0::1"})


@pytest.mark.parametrize(
    ("pattern", "where"),
    [
        ({"o": {"p": [1]}, "o.p": [2]}, "o.p"),
        ({"o.p": {"r": [1]}, "o": {"p.r": [1]}}, "o.p.r"),
        ({"$or": [{"x": [1]}, {"o": {"p": [1]}, "o.p": [1]}]}, "$or[1].o.p"),
    ],
    ids=str,
)
def test_deviation_a_path_given_twice_is_refused(pattern, where):
    with pytest.raises(PatternError, match="each path once") as caught:
        thatch.parse(pattern)
    assert caught.value.where == where


def test_deviation_a_path_inside_and_outside_of_or_must_hold_twice():
    inside_last = thatch.parse(
        {"x": [{"numeric": [">", 0]}], "$or": [{"x": [{"numeric": ["<", 5]}]}, {"y": [1]}]}
    )
    inside_first = thatch.parse(
        {"$or": [{"x": [{"numeric": ["<", 5]}]}, {"y": [1]}], "x": [{"numeric": [">", 0]}]}
    )
    assert inside_last == inside_first == thatch.parse("x > 0 and (x < 5 or y = 1)")


@pytest.mark.parametrize("operand", [5, None, True, ["a"], {"prefix": "a"}])
def test_exactly_takes_text(operand):
    with pytest.raises(PatternError, match="Expected text") as caught:
        thatch.parse({"x": [{"exactly": operand}]})
    assert caught.value.where == "x.exactly"
