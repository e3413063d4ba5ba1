from __future__ import annotations

import json

import pytest

import thatch
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
        ({"bool": {"should": [OTHER], "minimum_should_match": 0}}, True), ({"bool": {"should": [OTHER], "must_not": OTHER}}, False),
        ({"bool": {"must_not": [{"exists": {"field": "gone"}}, {"term": {"absent": 1}}]}}, True),
        ({"bool": {"must_not": {"bool": {"should": [OTHER, OLD]}}}}, False),
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


def test_deviation_one_element_of_a_list_decides():
    assert finds({"bool": {"must_not": {"term": {"tags": "production"}}}})
    assert not finds({"bool": {"must": [{"term": {"tags": "production"}}, {"term": {"tags": "env1"}}]}})


@pytest.mark.parametrize(
    ("query", "words", "where"),
    [
        ({"ids": {"values": [1]}}, "the query 'ids'", ""),
        ({"bool": {"must": [TERM, {"match": {"x": "a b"}}]}}, "the query 'match'", "bool.must[1]"),
        ({"bool": {"must": {"fuzzy": {"x": "a"}}}}, "the query 'fuzzy'", "bool.must"),
        ({"bool": {"musst": TERM}}, "must_not, should, minimum_should_match, got 'musst'", "bool"),
        (
            {"bool": {"should": [TERM, OTHER], "minimum_should_match": 2}},
            "Expected 0 or 1",
            "bool.minimum_should_match",
        ),
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


def test_deep_queries_are_refused():
    query = TERM
    for _ in range(200):
        query = {"bool": {"must": query}}
    with pytest.raises(PatternError, match="levels of nesting"):
        thatch.parse(query, language="elasticsearch")
