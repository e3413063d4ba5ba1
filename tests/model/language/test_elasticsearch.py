from __future__ import annotations

import json

import pytest
from hypothesis import given

import thatch
from tests.model.language import kibana
from thatch.errors import NeverMatchesError, PatternError

KIM = {
    "user": {"id": "kimchy", "name": "Kim"}, "age": 15, "tags": ["production", "env1"], "ok": True, "gone": None,
    "time": "2026-03-01T12:00:00Z", "file": "a*b?c", "empty": [],
}  # fmt: skip


def finds(query, event=None):
    """Whether a query matches, as an object and as JSON text; one that no event can match does not."""
    try:
        found = thatch.parse(query, language="elasticsearch")
    except NeverMatchesError:
        return False
    assert thatch.parse(json.dumps({"query": query}), language="elasticsearch") == found
    return found.matches(KIM if event is None else event)


TERM, OTHER, OLD = (
    {"term": {"user.id": "kimchy"}},
    {"term": {"tags": "none"}},
    {"range": {"age": {"gte": 10, "lte": 20}}},
)
BOOL = {  # as in the documentation of boolean queries
    "must": {"term": {"user.id": "kimchy"}}, "filter": {"term": {"tags": "production"}},
    "must_not": {"range": {"age": {"gte": 10, "lte": 20}}}, "should": [{"term": {"user.name": "Kim"}}, {"term": {"user.name": "x"}}],
    "minimum_should_match": 1, "boost": 1.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (TERM, True), (OTHER, False), (OLD, True), ({"match_all": {}}, True), ({"match_all": {"boost": 1.2}}, True),
        ({"match_none": {}}, False), ({"term": {"user.id": {"value": "kimchy", "boost": 1.0}}}, True),
        ({"term": {"user.id": "Kimchy"}}, False), ({"term": {"user.id": {"value": "KIMCHY", "case_insensitive": True}}}, True),
        ({"term": {"age": 15}}, True), ({"term": {"age": 15.0}}, True), ({"term": {"age": "15"}}, False), ({"term": {"ok": True}}, True),
        ({"terms": {"user.id": ["kimchy", "elkbee"], "boost": 1.0}}, True), ({"terms": {"user.id": []}}, False),
        ({"terms": {"age": [1, "a", 15]}}, True), ({"range": {"age": {"gt": 15}}}, False), ({"range": {"age": {}}}, True),
        ({"range": {"time": {"gte": "2026-03-01", "lt": "2026-03-02"}}}, True), ({"range": {"user.id": {"lt": "l"}}}, True),
        ({"range": {"time": {"lt": "2026-03-01T13:00:00+01:00"}}}, False),
        ({"wildcard": {"user.id": {"value": "ki*y", "rewrite": "constant_score"}}}, True), ({"wildcard": {"user.id": "k?mchy"}}, True),
        ({"wildcard": {"user.id": {"wildcard": "KI*", "case_insensitive": True}}}, True), ({"wildcard": {"file": "a\\*b\\?c"}}, True),
        ({"wildcard": {"user.id": "kimch"}}, False), ({"wildcard": {"file": "a\\*%"}}, False),
        ({"prefix": {"user.id": {"value": "ki"}}}, True), ({"prefix": {"user.id": "k*"}}, False),
        ({"exists": {"field": "age"}}, True), ({"exists": {"field": "gone"}}, False), ({"exists": {"field": "empty"}}, False),
        ({"bool": BOOL}, False), ({"bool": {**BOOL, "must_not": []}}, True), ({"bool": {**BOOL, "must_not": OTHER}}, True),
        ({"bool": {}}, True), ({"bool": {"should": [OTHER, OLD]}}, True), ({"bool": {"should": [OTHER]}}, False),
        ({"bool": {"should": [OTHER], "must": TERM}}, True), ({"bool": {"should": [OTHER], "filter": [TERM]}}, True),
        ({"bool": {"should": [OTHER], "must": TERM, "minimum_should_match": "1"}}, False),
        ({"bool": {"should": [OTHER], "minimum_should_match": 0}}, False), ({"bool": {"should": [OTHER], "must_not": OTHER}}, False),
        ({"bool": {"must_not": [{"exists": {"field": "gone"}}, {"term": {"absent": 1}}]}}, True),
        ({"bool": {"must_not": {"bool": {"should": [OTHER, OLD]}}}}, False),
        ({"bool": {"must_not": {"bool": {"must_not": TERM}}}}, True), ({"bool": {"must_not": {"bool": {"must_not": {"term": {"absent": 1}}}}}}, False),
        ({"range": {"age": {"gte": None, "lt": 20, "boost": 2}}}, True), ({"range": {"age": {"gte": None, "lte": None}}}, True),
        ({"constant_score": {"filter": TERM, "boost": 1.2}}, True), ({"constant_score": {"filter": {"bool": {"must_not": TERM}}}}, False),
        ({"dis_max": {"queries": [OTHER, TERM], "tie_breaker": 0.7}}, True), ({"dis_max": {"queries": []}}, False),
        ({"nested": {"path": "user", "query": TERM, "score_mode": "avg"}}, True), ({"nested": {"path": "user", "query": OTHER, "_name": "n"}}, False),
        ({"match_phrase": {"user.name": "Kim"}}, True), ({"match_phrase": {"user.name": {"query": "Kim C", "slop": 1}}}, False),
        ({"ids": {"values": ["a", "b"]}}, False), ({"bool": {"must_not": {"ids": {"values": ["a"]}}}}, True),
        ({"term": {"user.id": {"value": "kimchy", "_name": "who"}}}, True), ({"exists": {"field": "age", "_name": "n", "boost": 1}}, True),
        ({"regexp": {"user.id": "k.*y"}}, True), ({"regexp": {"user.id": "im"}}, False), ({"regexp": {"user.id": {"value": "KIM[a-d]h?y", "case_insensitive": True}}}, True),
        ({"regexp": {"file": {"value": 'a\\*"b?"c', "flags": "ALL", "max_determinized_states": 10_000}}}, True), ({"regexp": {"age": "15"}}, False),
        ({"bool": {"must_not": {"regexp": {"user.id": "k.*"}}}}, False), ({"bool": {"must_not": {"regexp": {"absent": "k.*"}}}}, True),
    ],
)  # fmt: skip
def test_a_query_finds_what_elasticsearch_does(query, wanted):
    assert finds(query) is wanted


@pytest.mark.parametrize(
    "event", [{}, {"x": None}, {"x": 5}, {"x": 9}, {"x": "abc"}, {"x": True}, {"x": "2027-01-01"}]
)
@pytest.mark.parametrize(
    "query",
    [
        {"term": {"x": 5}}, {"terms": {"x": [5, "abc"]}}, {"range": {"x": {"gt": 5}}}, {"range": {"x": {"gt": 1, "lt": 7}}},
        {"range": {"x": {"gt": "2026-01-01"}}}, {"range": {"x": {"gte": "b"}}}, {"prefix": {"x": "a"}}, {"exists": {"field": "x"}},
        {"wildcard": {"x": {"value": "A?C", "case_insensitive": True}}},
    ],
)  # fmt: skip
def test_every_query_or_its_opposite_finds_an_event(query, event):
    assert finds(query, event) != finds({"bool": {"must_not": query}}, event)


@given(kibana.trees, kibana.events)
def test_a_query_means_what_its_conditions_say(tree, event):
    assert finds(kibana.as_query(tree), event) == kibana.holds(tree, event, words_are_loose=False)


def test_deviation_one_element_of_a_list_decides():
    assert finds({"bool": {"must_not": {"term": {"tags": "production"}}}})
    assert not finds({"bool": {"must": [{"term": {"tags": "production"}}, {"term": {"tags": "env1"}}]}})


@pytest.mark.parametrize(
    ("query", "words", "where"),
    [
        ({"match": {"x": "a b"}}, "the query 'match'", ""),
        ({"ids": {"values": "a"}}, "an array of values", "ids._id"),
        ({"ids": {}}, "`values`", "ids"),
        ({"constant_score": {"query": TERM}}, "one of filter, got 'query'", "constant_score"),
        ({"constant_score": {"filter": {"fuzzy": {}}}}, "the query 'fuzzy'", "constant_score.filter"),
        ({"dis_max": {"queries": [TERM, {"term": {}}]}}, "one field", "dis_max.queries[1].term"),
        ({"nested": {"query": TERM}}, "the name of one field", "nested.path"),
        ({"match_phrase": {"x": {"query": "a", "fuzziness": 1}}}, "got 'fuzziness'", "match_phrase.x"),
        ({"regexp": {"x": "a<1-9>"}}, "without the operator <", "regexp.x"),
        ({"regexp": {"x": "a("}}, "a regular expression", "regexp.x"),
        ({"regexp": {"x": "(?i)a"}}, "without `(?`", "regexp.x"),
        ({"regexp": {"x": "a" * 10_001}}, "at most 10,000 characters", "regexp.x"),
        ({"regexp": {"x": {"value": "a", "flags": "COMPLEMENT"}}}, "ALL or NONE", "regexp.x.flags"),
        ({"regexp": {"x": 5}}, "Expected text", "regexp.x"),
        ({"bool": {"must": [TERM, {"match": {"x": "a b"}}]}}, "the query 'match'", "bool.must[1]"),
        ({"bool": {"must": {"fuzzy": {"x": "a"}}}}, "the query 'fuzzy'", "bool.must"),
        ({"bool": {"musst": TERM}}, "must_not, should, minimum_should_match, got 'musst'", "bool"),
        ({"bool": {"minimum_should_match": "most"}}, "a percentage such as 75%", "bool.minimum_should_match"),
        ({"bool": {"minimum_should_match": 1.5}}, "a number such as 2", "bool.minimum_should_match"),
        ({"bool": {"minimum_should_match": True}}, "a number such as 2", "bool.minimum_should_match"),
        ({"bool": {"minimum_should_match": "3<"}}, "or 3<75%", "bool.minimum_should_match"),
        ({"bool": {"minimum_should_match": ""}}, "or 3<75%", "bool.minimum_should_match"),
        ({"bool": [TERM]}, "an object", "bool"),
        ({"term": {"x": 1, "y": 2}}, "one field, got 2 names", "term"),
        ({"term": {"x": None}}, "text, a number, true or false", "term.x"),
        ({"term": {"x": [1]}}, "text, a number, true or false", "term.x"),
        ({"term": {"x": {"valu": 1}}}, "got 'valu'", "term.x"),
        ({"term": {"x": {}}}, "one `value`", "term.x"),
        ({"terms": {"x": {"index": "i"}}}, "an array of values", "terms.x"),
        ({"range": {"x": {"gte": "now-1d"}}}, "a fixed time", "range.x.gte"),
        ({"range": {"x": {"gte": "2026-01-01||/M"}}}, "a fixed time", "range.x.gte"),
        ({"range": {"x": {"gte": 1, "format": "yyyy"}}}, "one of gt, gte, lt, lte, got 'format'", "range.x"),
        ({"range": {"x": {"gte": True}}}, "a number or text", "range.x.gte"),
        ({"prefix": {"x": 5}}, "Expected text", "prefix.x"),
        (
            {"prefix": {"x": {"value": "a", "case_insensitive": 1}}},
            "true or false",
            "prefix.x.case_insensitive",
        ),
        ({"exists": {"field": "x*"}}, "the name of one field", "exists.field"),
        ({"exists": {"name": "x"}}, "`field`", "exists"),
        ({"match_all": {"x": 1}}, "an empty object", "match_all"),
        ({}, "an empty object", ""),
        ({"query": {"term": 5}}, "an object", "query.term"),
        ("[]", "an object", ""),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_path(query, words, where):
    with pytest.raises(PatternError) as caught:
        thatch.parse(query, language="elasticsearch")
    assert words in str(caught.value)
    assert caught.value.where == where


COUNTS = {  # by the number of clauses, how many must hold
    2: [(3, 2), (1, 2)], "2": [(3, 2)], -1: [(3, 2), (1, 1)], "75%": [(4, 3), (3, 2), (2, 1)], "-25%": [(4, 3), (3, 3)], "3<90%": [(3, 3), (4, 3)],
    "2<-25% 9<-3": [(1, 1), (2, 2), (4, 3), (9, 7), (10, 7)], " 3 < 1 ": [(2, 2), (4, 1)], -9: [(2, 1)], "-100%": [(3, 1)],
}  # fmt: skip


@pytest.mark.parametrize(
    "asked",
    [pytest.param(asked, marks=pytest.mark.slow) if asked == "2<-25% 9<-3" else asked for asked in COUNTS],
)
def test_as_many_clauses_as_asked_must_hold(asked):
    for count, least in COUNTS[asked]:
        clauses = [{"term": {f"x{number}": 1}} for number in range(count)]
        query = {"bool": {"should": clauses, "minimum_should_match": asked}}
        for true in range(count + 1):
            event = {f"x{number}": 1 for number in range(true)}
            assert finds(query, event) == (true >= least)
            assert finds({"bool": {"must_not": query}}, event) == (true < least)


def test_zero_clauses_must_hold_only_beside_others():
    query = {"should": [OTHER], "minimum_should_match": 0}
    assert finds({"bool": {**query, "filter": TERM}})
    assert not finds({"bool": query})
    assert not finds({"bool": {"minimum_should_match": 1}})


def test_too_many_choices_of_clauses_are_refused():
    clauses = [{"term": {f"x{number}": 1}} for number in range(1_000)]
    with pytest.raises(thatch.FilterError, match="at most 1,000 choices of 500 clauses"):
        thatch.parse({"bool": {"should": clauses, "minimum_should_match": 500}}, language="elasticsearch")


def test_objects_in_a_list_are_chosen_as_nested_queries_ask():
    event = {"user": [{"first": "John", "last": "Smith"}, {"first": "Alice", "last": "White"}]}
    wanted = [{"term": {"user.first": "Alice"}}, {"term": {"user.last": "Smith"}}]
    assert not finds({"nested": {"path": "user", "query": {"bool": {"must": wanted}}}}, event)
    wanted[1] = {"term": {"user.last": "White"}}
    assert finds({"nested": {"path": "user", "query": {"bool": {"must": wanted}}}}, event)


def test_deep_queries_are_refused():
    query = TERM
    for _ in range(200):
        query = {"bool": {"must": query}}
    with pytest.raises(PatternError, match="levels of nesting"):
        thatch.parse(query, language="elasticsearch")
