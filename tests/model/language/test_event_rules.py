from __future__ import annotations

import json

import pytest

import thatch
from thatch.errors import FilterError
from thatch.model.expressions import Expression
from thatch.model.filters import Filter
from thatch.model.language.event_rules import rules_of_lists

BIG = {
    "Name": "big-orders", "Arn": "arn:aws:events:eu-central-1:1:rule/big-orders", "State": "ENABLED", "EventBusName": "default",
    "EventPattern": '{"detail": {"price": [{"numeric": [">", 100]}]}}', "Description": "orders over 100",
}  # fmt: skip


def read(*rules, **more):
    return [*rules_of_lists([("rules.json", json.dumps({"Rules": list(rules), **more}))])]


def test_a_rule_has_its_name_its_pattern_and_what_is_said_of_it():
    (found,) = read(BIG)
    assert isinstance(found.found, Expression)
    assert Filter.of(found.found) == thatch.parse("detail.price > 100")
    assert (found.where, found.identity) == ("rules.json", "big-orders")
    assert found.payload == {
        "description": "orders over 100", "arn": "arn:aws:events:eu-central-1:1:rule/big-orders", "bus": "default"
    }  # fmt: skip


def test_a_pattern_counts_whatever_the_schedule_and_the_kind_of_enabling():
    for more in (
        {"State": "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS"},
        {"ScheduleExpression": "rate(1 day)"},
        {"EventPattern": {"detail": {"price": [{"numeric": [">", 100]}]}}},
    ):
        assert isinstance(read({**BIG, **more})[0].found, Expression)


@pytest.mark.parametrize(
    ("rule", "words", "identity"),
    [
        ({**BIG, "State": "DISABLED"}, "This rule is disabled and left out", "big-orders"),
        (
            {"Name": "nightly", "State": "ENABLED", "ScheduleExpression": "rate(1 day)"},
            "runs on a schedule, 'rate(1 day)'",
            "nightly",
        ),
        ({"Name": "odd", "State": "ENABLED"}, "a pattern as text, got None - at EventPattern", "odd"),
        (
            {**BIG, "EventPattern": '{"a": [{"b": 1}]}'},
            "the match type 'b' - at a, line 1, column 2",
            "big-orders",
        ),
        ({**BIG, "EventPattern": "{"}, "Expected JSON", "big-orders"),
        ({"EventPattern": "{}"}, "text as the `Name` of a rule, got None - at Rules[0]", ""),
        ({**BIG, "Name": "\ud800"}, "text as the `Name` of a rule", ""),
        ("big", "a rule as an object, got 'big' - at Rules[0]", ""),
    ],
)
def test_what_selects_no_events_is_told(rule, words, identity):
    good, bad = read(rule, BIG)[::-1]
    assert isinstance(good.found, Expression)
    assert isinstance(bad.found, FilterError)
    assert words in str(bad.found)
    assert bad.identity == identity


def test_a_page_of_a_longer_list_is_told():
    good, rest = read(BIG, NextToken="abc")
    assert isinstance(good.found, Expression)
    assert "Expected the whole list" in str(rest.found)


@pytest.mark.parametrize(
    "text", ["{", "[]", "5", '{"Rules": {}}', '{"Rules": [], "Rules": []}', "[" * 100_000, '{"Rules": [NaN]}']
)
def test_what_is_no_list_is_one_bad_rule(text):
    (found,) = rules_of_lists([("a.json", text)])
    assert isinstance(found.found, FilterError)
