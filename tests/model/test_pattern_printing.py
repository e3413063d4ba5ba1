"""Filters as JSON patterns: the pattern reads back as an equal filter, or the condition it cannot say is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given

import thatch
from tests import strategies as make
from tests.model.language.eventbridge import patterns
from thatch.errors import FilterError, PatternError
from thatch.model.filters import Filter


def accepted(source, schema=None):
    """The filter of a source; examples that are refused say nothing here."""
    try:
        return thatch.parse(source, schema)
    except FilterError:
        assume(False)


def printed(filter: Filter):
    """The pattern of a filter; examples that the pattern language cannot say are tested below."""
    try:
        return filter.to_pattern()
    except PatternError:
        assume(False)


@given(patterns, make.schemas)
def test_a_printed_pattern_reads_back_as_an_equal_filter(pattern, schema):
    filter = accepted(pattern, schema)
    again = printed(filter)
    assert thatch.parse(again, schema) == filter
    assert thatch.parse(json.dumps(again, allow_nan=False), schema) == filter


@given(make.expressions, make.schemas)
def test_the_pattern_of_any_filter_reads_back_as_an_equal_filter(expression, schema):
    filter = accepted(expression, schema)
    assert thatch.parse(printed(filter), schema) == filter


# One pattern for each form; it is printed as it stands here.
FORMS = [
    {"x": ["a"]},
    {"x": [None, False, True, 5, "", "a"]},
    {"x": [{"exists": True}]},
    {"x": [{"exists": False}]},
    {"x": [{"exists": False}, None, 5]},
    {"x": [{"prefix": "ab"}]},
    {"x": [{"prefix": ""}]},
    {"x": [{"prefix": {"equals-ignore-case": "ab"}}]},
    {"x": [{"suffix": "ab"}]},
    {"x": [{"suffix": {"equals-ignore-case": "ab"}}]},
    {"x": [{"equals-ignore-case": "ab"}]},
    {"x": [{"wildcard": "a*b*c"}]},
    {"x": [{"wildcard": r"*\**\\*"}]},
    {"x": [{"cidr": "10.0.0.0/8"}]},
    {"x": [{"cidr": "2001:db8::/32"}]},
    {"x": [{"cidr": "10.0.0.0/8"}, {"cidr": "12.0.0.0/31"}]},
    {"x": [{"numeric": ["<", 5]}]},
    {"x": [{"numeric": ["<=", 0.5]}]},
    {"x": [{"numeric": [">", -5]}]},
    {"x": [{"numeric": [">=", 2**53 + 1]}]},
    {"x": [{"numeric": [">", 0, "<=", 5.5]}, {"numeric": [">=", 7, "<", 8]}]},
    {"x": [{"anything-but": "a"}]},
    {"x": [{"anything-but": ["", "a", "b"]}]},
    {"x": [{"anything-but": 5}]},
    {"x": [{"anything-but": [0.5, 5]}]},
    {"x": [{"exists": False}, {"anything-but": 5}]},
    {"x": [{"anything-but": {"prefix": "a"}}]},
    {"x": [{"anything-but": {"prefix": ["a", "c"]}}]},
    {"x": [{"anything-but": {"suffix": "ab"}}]},
    {"x": [{"anything-but": {"suffix": ["a", "c"]}}]},
    {"x": [{"anything-but": {"equals-ignore-case": "a"}}]},
    {"x": [{"anything-but": {"equals-ignore-case": ["a", "b"]}}]},
    {"x": [{"anything-but": {"wildcard": "a*b"}}]},
    {"d-t": ["a"], "o.p": [1], "x": [{"exists": False}]},
    {"": ["a"]},
    {"$or": [{"x": [1]}, {"y": [1]}]},
    {"$or": [{"x": [1], "y": [2]}, {"x": [3], "y": [4]}]},
    {"$or": [{"x": [{"suffix": "a"}]}, {"x": [{"wildcard": "*b*"}]}]},
]


@pytest.mark.parametrize("pattern", FORMS, ids=str)
def test_each_form_is_printed_as_it_was_written(pattern):
    assert thatch.parse(pattern).to_pattern() == pattern


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("x between 1 and 5 and o.p like 'a%'", {"o.p": [{"prefix": "a"}], "x": [{"numeric": [">=", 1, "<=", 5]}]}),
        ("x in (1, 2.0, 'a') or x is null", {"x": [None, 1, 2, "a"]}),
        ("x = 1 or y = 2", {"$or": [{"x": [1]}, {"y": [2]}]}),
        ("x != 5", {"x": [{"numeric": ["<", 5]}, {"numeric": [">", 5]}]}),
        ("x is distinct from 5", {"x": [{"anything-but": 5}]}),
        ("lower(x) = 'ab'", {"x": [{"equals-ignore-case": "ab"}]}),
        ("x like '%a%'", {"x": [{"wildcard": "*a*"}]}),
        ("x is unlike '%a%'", {"x": [{"anything-but": {"wildcard": "*a*"}}]}),
        ("cidr(x, '10.0.0.0/9') or cidr(x, '10.128.0.0/9')", {"x": [{"cidr": "10.0.0.0/8"}]}),
        ('"$or" = 1 or x = 1', None),
    ],
)  # fmt: skip
def test_text_is_printed_in_the_words_of_patterns(text, pattern):
    filter = thatch.parse(text)
    if pattern is None:
        with pytest.raises(PatternError):
            filter.to_pattern()
    else:
        assert filter.to_pattern() == pattern


def test_declared_types_are_printed_by_their_own_values():
    schema = thatch.Schema({"qty": thatch.Integer(0, 9), "side": thatch.Enum("buy", "sell")})
    for text, pattern in (
        ("qty > 2.5", {"qty": [{"numeric": [">=", 3]}]}),
        ("qty between 3 and 3.5", {"qty": [3]}),
        ("qty > 1 and qty < 5", {"qty": [{"numeric": [">=", 2, "<=", 4]}]}),
        ("side != 'buy'", {"side": ["sell"]}),
        ("exists(side)", {"side": [{"exists": True}]}),
    ):
        filter = thatch.parse(text, schema)
        assert filter.to_pattern() == pattern
        assert thatch.parse(pattern, schema) == filter


UNSAID = [
    "true",
    "x < 'b'",
    "x between 'a' and 'b'",
    "x != 'a'",
    "x <= infinity",
    "x = infinity",
    "x is distinct from infinity",
    "x is not null",
    "x is distinct from true",
    "x is distinct from 5 and x is distinct from 'a'",
    "x like 'a_'",
    "x like '%a_b%'",
    "x not like '%a%'",
    "x not like 'is unlike%a'",
    "x is unlike '%'",
    "x like 'a%' and x like '%b%c%'",
    "x like 'a%' and lower(x) = 'ab'",
    "lower(x) like '%a%b'",
    "lower(x) < 'b'",
    "reverse(x) = 'ab'",
    "reverse(lower(x)) >= 'b'",
    "ip(x) > '10.0.0.1'",
    "ip(x) = '10.0.0.1'",
    "exists(ip(x))",
    "time(x) > '2026-01-01'",
    "within(lat, lon, circle(0, 0, 1000))",
]


@pytest.mark.parametrize("text", UNSAID)
def test_what_patterns_cannot_say_is_refused_by_name(text):
    filter = thatch.parse(text)
    with pytest.raises(PatternError, match="conditions that a JSON pattern can express") as caught:
        filter.to_pattern()
    assert caught.value.got.strip("`") in str(filter) or text == "true"
