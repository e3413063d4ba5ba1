from __future__ import annotations

import pytest
from hypothesis import given

import thatch
from tests.model.language import kibana
from thatch.errors import FilterSyntaxError, NeverMatchesError

PAGE = {
    "http": {"request": {"method": "GET", "body.content": 'a "b" *c'}, "response": {"status_code": 404}},
    "bytes": 1200, "port": "443", "agent": "curl/8.1", "os": "windows 11", "tags": ["warning", "security"], "ok": True,
    "@timestamp": "2026-03-01T12:00:00Z", "user": [{"first": "Alice", "last": "White"}, {"first": "John", "last": "Smith"}],
    "gone": None, "ratio": 0.5, "machine": {"os": "win7"}, "odd name": 1, "word": "true", "and": "x",
}  # fmt: skip


def finds(query, event=None):
    """Whether a query matches; one that no event can match does not."""
    try:
        return thatch.parse(query, language="kql").matches(PAGE if event is None else event)
    except NeverMatchesError:
        return False


@pytest.mark.parametrize(
    ("query", "wanted"),
    [  # the forms of Kibana's documentation, and corner cases
        ("", True), ("*", True), ("*:*", True), ("* : *", True),
        ("http.request.method: *", True), ("http.request.method: GET", True), ("http.request.method: get", False),
        ('http.request.method: "GET"', True), ('http.request.body.content: "a \\"b\\" *c"', True),
        ("http.response.status_code: 404", True), ("http.response.status_code: 400", False),
        ("http.response.status_code: (400 or 404)", True), ("http.response.status_code: (400 or 401)", False),
        ("http.response.status_code >= 400 and http.response.status_code < 500", True), ("bytes > 1200", False),
        ("bytes <= 1.2e3", True), ("bytes>1000", True), ("ratio: .5", True), ("ok: true", True), ("ok: false", False),
        ("word: true", True), ("port: 443", True), ('port: "443"', True), ("port: 0443", False), ("bytes: 1200.0", True),
        ('bytes: "1200"', False), ("agent: curl*", True), ("agent: *8*", True), ("agent: wget*", False), ("agent: curl", False),
        ("os: windows 11", True), ("os: windows   11", True), ('os: "windows 11"', True), ("os: win* 11", True), ("os: 11", False),
        ("not agent: curl*", False), ("NOT agent: wget*", True), ("not not ok: true", True),
        ("agent: wget* or bytes: 1200", True), ("agent: wget* OR bytes: 1200 AND ok: false", False),
        ("(agent: wget* or bytes: 1200) and ok: true", True), ("not (agent: wget* or ok: false)", True),
        ("http.response.status_code: (not 400)", True), ("agent: (curl* and *8.1)", True), ("agent: (curl* and not *8.1)", False),
        ('@timestamp >= "2026-03-01"', True), ("@timestamp < 2026-03-01", False), ('@timestamp < "2026-03-01T13:00:00+01:00"', False),
        ("agent > b", True), ('agent < "b"', False), ("tags: security", True), ("tags: (warning or none)", True),
        ("user: { first: Alice and last: White }", True), ("user: { first: Alice and last: Smith }", False),
        ("user:{first: (Bob or John)} and ok: true", True), ("user: { first: Alice } and user: { last: White }", True),
        ('"odd name": 1', True), ("odd\\ name: 1", True), ("\\and: x", True), ("gone: *", False), ("absent: *", False),
    ],
)  # fmt: skip
def test_a_query_finds_what_kibana_does(query, wanted):
    assert finds(query) is wanted


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("warning", True), ("warn", False), ("warn*", True), ('"warn*"', False), ("Alice", True), ('"a \\"b\\" *c"', True), ("windows 11", True), ("win* 11", True),
        ("1200", False), ("443", True), ("not security", False), ("not absent", True), ("security and (none or ok: true)", True), ("none or Smith", True), ("true", True),
    ],
)  # fmt: skip
def test_a_value_without_a_field_is_looked_for_in_all_texts(query, wanted):
    assert finds(query) is wanted


def test_a_word_that_looks_like_a_number_is_the_number_and_the_text():
    assert thatch.parse("x: 200", language="kql") == thatch.parse("x in (200, '200')")
    assert thatch.parse("x: true", language="kql") == thatch.parse("x in (true, 'true')")
    assert thatch.parse("x: null", language="kql") == thatch.parse("x = 'null'")
    assert thatch.parse("x: 99999999999999999999", language="kql") == thatch.parse(
        "x = '99999999999999999999'"
    )
    assert thatch.parse(r"x: a\*_%b*", language="kql") == thatch.parse(r"x like 'a*\_\%b%'")


@pytest.mark.parametrize(
    "event", [{}, {"x": None}, {"x": 4}, {"x": 9}, {"x": "a"}, {"x": "5"}, {"x": True}, {"x": "2027-01-01"}]
)
@pytest.mark.parametrize(
    "query", ["x: 5", "x > 5", "x: a*", "x: *", 'x: "a"', "x > a", "x > 2026-01-01", "x: (4 or a)"]
)
def test_every_query_or_its_opposite_finds_an_event(query, event):
    assert finds(query, event) != finds(f"not {query}", event)


@given(kibana.trees, kibana.events)
def test_a_query_means_what_its_conditions_say(tree, event):
    assert finds(kibana.as_kql(tree), event) == kibana.holds(tree, event, words_are_loose=True)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (r"x: a\tb\nc", "x = 'a\tb\nc'"),
        (r'x: "\u00e9\u0041"', "x = 'éA'"),
        (r"x: \ud83d\ude42*", "x like '🙂%'"),
        (r"x: \and", "x = 'and'"),
        (r"x: \not", "x = 'not'"),
        (r"x: a\:b\(c\)\<\>\{\}", "x = 'a:b(c)<>{}'"),
        (r"x: \*", "x = '*'"),
        (r'x: "a*"', "x = 'a*'"),
        (r"x: a\\", r"x = 'a\'"),
        (r"a\u002eb: c", "a.b = 'c'"),
    ],
)
def test_escapes_are_those_of_kibana(query, text):
    assert thatch.parse(query, language="kql") == thatch.parse(text)


def test_deviation_one_element_of_a_list_decides():
    assert finds("not tags: security")
    assert not finds("tags: (warning and security)")


@pytest.mark.parametrize(
    ("query", "words", "column"),
    [
        ("x: { y }", "in braces every value needs its field, got `}`", 8),
        ("windows 11 x: 2", "`and`, `or` or the end, got `x`", 12),
        ('ok: "a" failed', "`and`, `or` or the end", 9),
        ("x: (a or b", "Expected `)`", 11),
        ("x: { y: 1", "Expected `}`", 10),
        ("x:", "Expected a value, got the end of the query", 3),
        ("x: and y: 1", "Expected a value, got `and`", 4),
        ("and x: 1", "Expected a field, got `and`", 1),
        ("x* : 1", "the name of one field", 1),
        ("* : 1", "Expected `*`", 5),
        ('x: "a', "text that is not closed", 4),
        ("x > now-1d", "no filter, got `now-1d`", 5),
        ("x > 2026-13-01", "2026-13-01", 5),
        ("x: 1 or", "Expected a field, got the end", 8),
        (r"x: \ud83d", "text without lone surrogates", 4),
        (r'"\ude42": 1', "text without lone surrogates", 1),
        ("x: not", "Expected a value, got `not`", 4),
        ("x: 1)", "`and`, `or` or the end", 5),
        ("x: 1\n  and {", "Expected a field, got `{`", 7),
    ],
)
def test_what_is_no_query_is_refused_with_its_place(query, words, column):
    with pytest.raises(FilterSyntaxError) as caught:
        thatch.parse(query, language="kql")
    assert words in str(caught.value)
    assert caught.value.column == column


def test_deep_queries_are_refused():
    for query in ("(" * 100_000, "a: {" * 1_000):
        with pytest.raises(thatch.FilterError, match="levels of nesting"):
            thatch.parse(query, language="kql")
