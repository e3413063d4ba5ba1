from __future__ import annotations

import json

import pytest
from hypothesis import assume, given

import thatch
from tests.model.language.eventbridge import patterns
from thatch.errors import NeverMatchesError, PatternError

ORDER = {  # the attributes of a message, and fields that only a body has
    "store": "example", "event": "order_placed", "sports": ["football", "tennis"], "price": 210.75, "express": True, "note": None,
    "ip": "192.168.1.7", "buyer": {"town": {"name": "Oslo"}, "age": 30}, "mixed": ["a", 5, True, None],
}  # fmt: skip


def accepts(policy, event=None):
    """Whether a policy accepts a message, written in each of the ways in which it can be given."""
    try:
        found = thatch.parse(policy, language="sns")
    except NeverMatchesError:
        return False
    body = {"FilterPolicyScope": "MessageBody", "Owner": "1"}
    for written in (
        json.dumps(policy, indent=1),
        {"FilterPolicy": json.dumps(policy), **body},
        {"Attributes": {"FilterPolicy": json.dumps(policy), **body}},
        json.dumps({"FilterPolicy": policy, **body}),
    ):
        assert thatch.parse(written, language="sns") == found
    return found.matches(ORDER if event is None else event)


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ({}, True), ({"store": ["example"]}, True), ({"store": ["Example"]}, False), ({"store": ["x", "example"], "price": [1]}, False),
        # attributes of type String.Array: one element decides
        ({"sports": ["tennis"]}, True), ({"sports": ["rugby"]}, False), ({"sports": ["rugby", "football"]}, True),
        ({"sports": [{"prefix": "foot"}]}, True), ({"mixed": [5]}, True), ({"mixed": [None]}, True), ({"mixed": [True]}, True), ({"mixed": ["5"]}, False),
        ({"sports": [{"anything-but": ["football"]}]}, True), ({"sports": [{"anything-but": ["football", "tennis"]}]}, False),
        ({"sports": [{"anything-but": {"prefix": "foot"}}]}, True),
        # text
        ({"store": [{"prefix": "exa"}]}, True), ({"store": [{"suffix": "ple"}]}, True), ({"store": [{"equals-ignore-case": "EXAMPLE"}]}, True),
        ({"event": [{"anything-but": "order_cancelled"}]}, True), ({"event": [{"anything-but": {"prefix": "order_"}}]}, False),
        ({"event": [{"anything-but": {"suffix": "_placed"}}]}, False), ({"event": [{"wildcard": "order*d"}]}, True),
        ({"event": [{"anything-but": {"wildcard": "*_pl*"}}]}, False), ({"ip": [{"cidr": "192.168.1.0/24"}]}, True), ({"store": [{"cidr": "0.0.0.0/0"}]}, False),
        # numbers: by value, however they are written
        ({"price": [210.75]}, True), ({"price": ["210.75"]}, False), ({"price": [{"numeric": ["=", 210.750]}]}, True),
        ({"price": [{"numeric": [">", 100, "<=", 300]}]}, True), ({"price": [{"numeric": [">", 300]}]}, False), ({"price": [{"anything-but": [100, 210.75]}]}, False),
        ({"price": [{"anything-but": 100}]}, True), ({"store": [{"numeric": ["<", 5]}]}, False),
        # the keywords
        ({"express": [True]}, True), ({"express": ["true"]}, False), ({"note": [None]}, True), ({"none": [None]}, False), ({"note": ["null"]}, False),
        # keys
        ({"store": [{"exists": True}]}, True), ({"none": [{"exists": True}]}, False), ({"none": [{"exists": False}]}, True), ({"store": [{"exists": False}]}, False),
        ({"none": [{"anything-but": "a"}]}, False), ({"none": [{"anything-but": "a"}, {"exists": False}]}, True),
        # bodies: nested fields
        ({"buyer": {"town": {"name": ["Oslo"]}, "age": [{"numeric": [">=", 30]}]}}, True), ({"buyer": {"town": {"name": ["Rome"]}}}, False),
        ({"buyer": {"$or": [{"age": [1]}, {"town": {"name": [{"prefix": "O"}]}}]}}, True),
        # or
        ({"$or": [{"store": ["x"]}, {"price": [210.75]}], "express": [True]}, True), ({"$or": [{"store": ["x"]}, {"price": [1]}]}, False),
    ],
)  # fmt: skip
def test_a_policy_accepts_what_it_says(policy, wanted):
    assert accepts(policy) is wanted


@pytest.mark.parametrize(
    ("policy", "event"),
    [
        ({"$or": ["a", "b"]}, {"$or": "b"}),
        ({"$or": {"x": ["a"]}}, {"$or": {"x": "a"}}),
        ({"$or": [{"prefix": "a"}, {"suffix": "z"}]}, {"$or": "xyz"}),
        ({"$or": [{"exists": False}], "x": ["a"]}, {"x": "a"}),
        ({"x": {"$or": [{"numeric": [">", 5]}, {"numeric": ["<", 0]}]}}, {"x": {"$or": -1}}),
    ],
)
def test_or_is_a_name_unless_it_joins_two_or_more_objects_of_fields(policy, event):
    assert accepts(policy, event)
    assert not accepts(policy, {"$or": "other", "x": 5})


@given(patterns)
def test_a_policy_means_what_the_same_pattern_of_eventbridge_means(pattern):
    try:
        found = thatch.parse(pattern)
    except NeverMatchesError:
        assume(False)
    assert thatch.parse(pattern, language="sns") == found


def test_attributes_of_a_subscription_without_a_policy_accept_every_message():
    assert thatch.parse(
        {"Attributes": {"FilterPolicyScope": "MessageAttributes", "Owner": "1"}}, language="sns"
    ).matches({})
    assert thatch.parse({"FilterPolicy": "{}"}, language="sns").matches({})
    assert thatch.parse({"FilterPolicy": ["x"]}, language="sns") == thatch.parse("FilterPolicy = 'x'")


@pytest.mark.parametrize(
    ("policy", "words", "where"),
    [
        ([], "a filter policy as an object", ""),
        ({"x": "a"}, "an object or an array", "x"),
        ({"x": []}, "at least one value in an array", "x"),
        ({"x": {}}, "at least one field in an object", "x"),
        ({"x": [["a"]]}, "an array in an array", "x"),
        ({"x": [{"like": "a"}]}, "the match type 'like'", "x"),
        ({"x": [{"prefix": "a", "suffix": "b"}]}, "a match object with one key", "x"),
        ({"x": [{"numeric": [">", 5, "<", 5]}]}, "a lower end below the upper end", "x.numeric"),
        ({"x": [{"numeric": ["=", "5"]}]}, "Expected a number", "x.numeric"),
        ({"x": [{"anything-but": []}]}, "an array of only texts or only numbers", "x.anything-but"),
        ({"x": [{"exists": "yes"}]}, "true or false", "x.exists"),
        ({"x": [{"cidr": "10.0.0.0"}]}, "a network", "x.cidr"),
        ({"$or": [{"x": ["a"]}, {"prefix": ["b"]}]}, "the match type 'x'", "$or[0]"),
        ({"FilterPolicy": {"x": ["a"]}, "FilterPolicyScope": "Body"}, "MessageAttributes, MessageBody", "FilterPolicyScope"),
        ({"FilterPolicy": "[]"}, "a filter policy as an object", "FilterPolicy"),
        ({"FilterPolicy": '{"x": {"y": ["a"]}}'}, "only policies with the scope MessageBody have nested fields", "x"),
        ({"FilterPolicy": '{"$or": [{"x": ["a"]}, {"y": {"z": [1]}}]}'}, "the scope MessageBody", "y"),
    ],
)  # fmt: skip
def test_what_is_no_policy_is_refused_with_its_path(policy, words, where):
    with pytest.raises(PatternError) as caught:
        thatch.parse(policy if isinstance(policy, dict) else json.dumps(policy), language="sns")
    assert words in str(caught.value)
    assert caught.value.where == where
