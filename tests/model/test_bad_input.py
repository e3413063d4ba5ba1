"""Whatever comes in, only our own errors come out, soon, and each says what was expected and what came."""

from __future__ import annotations

from contextlib import contextmanager, suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import strategies as make
from tests.written import text_of
from thatch.errors import (
    EventError,
    FilterError,
    FilterSyntaxError,
    FilterTooLargeError,
    SchemaError,
    ThatchError,
)
from thatch.model import schema as declared
from thatch.model.expressions import And, Compare, In, Not, Or
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.language.python import attr, circle, polygon, within
from thatch.model.language.text import expression_of_text
from thatch.model.names import KEYWORDS


@contextmanager
def refused(kind=ThatchError):
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.expected
    assert caught.value.got or caught.value.expected[0].isupper()  # two fields, or a sentence
    assert len(str(caught.value)) < 2_000
    str(caught.value).encode()


def parsed(text):
    return Filter.of(expression_of_text(text))


def accepted_or_refused(text):
    """The filter, or the message of our own error; both ways through the parser."""
    try:
        parse(text)
    except ThatchError as error:
        assert not isinstance(error, EventError)  # noqa: PT017 - one that belongs to filters
    try:
        return parsed(text)
    except ThatchError as error:
        return str(error)


BAD_TEXTS = [
    "", "   ", "x", "x =", "= 5", "x = 5 and", "x = 5 or or y = 1", "(x = 5", "x = 5)", "not", "x == 5", "x =! 5", "5 = x",
    "x = x", "time(x) < y", 'x < "y"', "x in (y, z)", "x = attr(y", "x = 'a", '"x = 5', "x in ()", "x in (1,", "x in 5", "x between 1", "x between 1 and",
    "x between null and 1", "x < null", "x like 5", "x like 'a\\'", "x like", "x is", "x is not", "x is 5",
    "x is distinct 5", "exists x", "exists()", "exists(5)", "lower(x)", "lower() = 1", "upper(x) = 'a'",
    "lower(lower(x)) = 'a'", "ip(lower(x)) = '::1'", "ip(x) = 5", "ip(x) = 'a'", "ip(x) like 'a%'", "time(x) < 5",
    "time(x) < 'soon'", "x < timestamp 'soon'", "x < timestamp 5", "x in (timestamp '2026-01-01', 5)",
    "cidr(x, '10.0.0.0')", "cidr(x, '10.0.0.0/33')", "cidr(x, 5)", "cidr(x)", "cidr(ip(x), '10.0.0.0/8')",
    "within(x, y)", "within(x, y, square(1))", "within(x, y, circle(1, 2))", "within(x, y, circle(91, 0, 1))",
    "within(x, x, circle(1, 2, 3))", "within(x, y, polygon((1, 2)))", "within(x, y, circle(1, 2, '3'))",
    "x = nan", "x = NaN", "x = 1e400", "x = 9223372036854775808", "x = -9223372036854775809", "x = 0x10", "x = 1_000",
    "x = +-5", "x =~ 'a'", "x ~ '(a'", "x regexp 'a'", "x = \ud800", "x = '\ud800'", "x ; drop table", "x = 5 5",
    "null = 5", "true = true", "and = 5", "x = \x00", "x not 5", "x not null", "x = 'a' 'b'", "é = 5",
    "exists(é)", "x = ٣", "x = ²", "x <> ", "x = infinity y", "x = --infinity", "x in (1 2)", ".x = 5", "x..y", "x is unlike 5",
]  # fmt: skip


@pytest.mark.parametrize("text", BAD_TEXTS)
def test_bad_text_is_refused_with_its_place(text):
    with refused(FilterSyntaxError) as caught:
        parsed(text)
    assert caught.value.line == 1
    assert 1 <= caught.value.column <= len(text) + 1
    assert caught.value.where


VALUES = ["unlike", "x", "y", '"d-t"', "'a'", "'10.0.0.0/8'", "'2026-01-01'", "'%a'", "5", "-1.5", "1e3"]
SIGNS = [
    "(",
    ")",
    ",",
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "<>",
    "'",
    '"',
    "-",
    "+",
    ".",
    "é",
    "\\",
    ";",
    "\x00",
]
words = st.sampled_from([*VALUES, *SIGNS, *sorted(KEYWORDS)])


@given(st.lists(words, max_size=15).map(" ".join))
@example("é = 5")
def test_mixed_up_words_are_refused_by_our_own_errors(text):
    made = accepted_or_refused(text)
    assert isinstance(made, str) or parsed(str(made)) == made


@given(st.text(max_size=40))
def test_random_text_is_refused_by_our_own_errors(text):
    assert accepted_or_refused(text)


@given(make.expressions, st.data())
def test_a_damaged_filter_text_is_refused_by_our_own_errors(expression, data):
    text = text_of(expression)
    place = data.draw(st.integers(0, len(text)))
    damage = data.draw(st.sampled_from(["", "(", ")", "'", '"', " not ", ",", "\0", "5", "é"]))
    length = data.draw(st.integers(0, 3))
    assert accepted_or_refused(text[:place] + damage + text[place + length :])


def test_the_place_of_an_error_is_pointed_at():
    with refused(FilterSyntaxError) as caught:
        parsed("x = 5 and\n y == 3")
    assert (caught.value.line, caught.value.column) == (2, 4)
    assert "^" in str(caught.value)
    assert "=" in caught.value.suggestion


# --- size ------------------------------------------------------------------------------------------------------

LARGE_TEXTS = {
    "eight million spaces": " " * 8_000_000,
    "a condition before eight million spaces": "x =" + " " * 8_000_000,
    "33 megabytes of text": "x = '" + "a" * 33_000_000 + "'",
    "ten million signs": "x in (" + "1," * 5_000_000 + "1)",
    "a pattern of two million characters": "x like '" + "a%" * 1_000_000 + "'",
    "eight million brackets": "(" * 7_999_999,
    "brackets 10,000 deep": "(" * 10_000 + "x = 1" + ")" * 10_000,
    "negations 10,000 deep": "not " * 10_000 + "x = 1",
    "functions 10,000 deep": "lower(" * 10_000 + "x" + ")" * 10_000 + " = 'a'",
    "quotes without end": "'" * 7_999_999,
    "digits without end": "x = " + "1" * 1_000_000,
    "a million digits that are one": "x = " + "0" * 1_000_000 + "1",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE_TEXTS)
def test_a_text_too_large_or_deep_is_refused_soon(name):
    with refused(FilterError):
        parsed(LARGE_TEXTS[name])


def _chained(count, step):
    expression = attr("x") == 0
    for number in range(1, count):
        expression = step(expression, number)
    return expression


STEPS = {
    "and": lambda expression, number: expression & (attr("x") != number),
    "or": lambda expression, number: expression | (attr("x") == number),
    "not": lambda expression, number: ~expression,
    "all": lambda expression, number: ~(expression & (attr("x") != number)) | (attr("y") == number),
}


@pytest.mark.parametrize("count", [100, 480, 600, 10_000])
@pytest.mark.parametrize("name", STEPS)
def test_a_deep_python_expression_is_accepted_or_refused_by_our_own_error(name, count):
    with suppress(FilterTooLargeError):
        Filter.of(_chained(count, STEPS[name]))


def _conditions(count):
    return tuple(Compare("x", "=", number) for number in range(count))


LARGE_EXPRESSIONS = {
    "many alternatives on one attribute": lambda: Or(_conditions(150_000)),
    "many alternatives on many attributes": lambda: Or(
        tuple(Compare(f"x{number}", "=", 1) for number in range(150_000))
    ),
    "many alternatives of two conditions": lambda: Or(
        tuple(And((Compare("x", "=", number), Compare("y", "=", number))) for number in range(150_000))
    ),
    "a list of more than a million values": lambda: In("x", tuple(range(1_000_001))),
    "a product of 2 ** 12": lambda: And(
        tuple(Or((Compare(f"a{number}", "=", 1), Compare(f"b{number}", "=", 1))) for number in range(12))
    ),
    "a product of 2 ** 40": lambda: And(
        tuple(Or((Compare(f"a{number}", "=", 1), Compare(f"b{number}", "=", 1))) for number in range(40))
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE_EXPRESSIONS)
def test_an_expression_too_large_is_refused_soon_with_its_count(name):
    expression = LARGE_EXPRESSIONS[name]()
    with refused(FilterTooLargeError) as caught:
        list(Filter.of(expression).boxes())
    assert caught.value.count > caught.value.limit


MANY = tuple(f"A{number}" for number in range(3_000))
LONG = {
    "values that a derived condition rules out": And((In("x", MANY), Compare("lower(x)", "=", "a1"))),
    "values that lower never gives": In("lower(x)", (*MANY, "b")),
    "values each ruled out on its own": And(tuple(Compare("x", "!=", value) for value in MANY)),
}


@pytest.mark.parametrize("name", LONG)
def test_many_values_are_read_in_about_linear_time(name):
    Filter.of(LONG[name])


# --- Python ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make_it",
    [
        lambda: attr(5),
        lambda: attr("\ud800"),
        lambda: attr("x") == attr("x"),
        lambda: attr("x").time() < attr("y"),
        lambda: attr("x") == [1],
        lambda: attr("x") < None,
        lambda: attr("x").is_in([]),
        lambda: attr("x").is_in(5),
        lambda: attr("x").is_in([1, object()]),
        lambda: attr("x").like(5),
        lambda: attr("x").like("a\\"),
        lambda: attr("x").ip().like("a%"),
        lambda: attr("x").ip() == "a",
        lambda: attr("x").time() < 5,
        lambda: attr("x").lower().lower(),
        lambda: attr("x").cidr("10.0.0.0"),
        lambda: attr("x").cidr(5),
        lambda: within("x", "x", circle(0, 0, 1)),
        lambda: within("x", "y", "circle"),
        lambda: circle("a", 0, 1),
        lambda: circle(0, 0, object()),
        lambda: polygon((1, 2), 3, 4),
        lambda: expression_of_text(5),
        lambda: expression_of_text(None),
        lambda: expression_of_text(b"x = 5"),
        lambda: Filter.of(Not(In("x", (1, "a")))),
    ],
)
def test_a_wrong_python_expression_is_refused(make_it):
    with refused(ThatchError):
        make_it()


@pytest.mark.parametrize(
    "make_it",
    [
        lambda: declared.Schema(5),
        lambda: declared.Schema({5: declared.Text()}),
        lambda: declared.Schema({"x": int}),
        lambda: declared.Integer(5, 1),
        lambda: declared.Integer(0.5),
        lambda: declared.Integer("a"),
        lambda: declared.Number(float("nan")),
        lambda: declared.Decimal(16),
        lambda: declared.Decimal(True),
        declared.Enum,
        lambda: declared.Enum(None),
        lambda: declared.Enum(float("nan")),
        lambda: declared.Enum(b"a"),
        lambda: declared.Enum([1]),
    ],
)
def test_a_wrong_schema_is_refused(make_it):
    with refused(SchemaError):
        make_it()


# --- events ----------------------------------------------------------------------------------------------------


def _nested(wrap, depth):
    value = 1
    for _ in range(depth):
        value = wrap(value)
    return value


def _cyclic():
    event = {}
    event["a"] = event
    return event


def _cyclic_list():
    elements = []
    elements.append(elements)
    return {"a": elements}


def _shared():
    value = [1] * 10
    for _ in range(30):
        value = [value] * 10
    return {"a": value}


BAD_EVENTS = {
    "text": lambda: "x",
    "none": lambda: None,
    "list": lambda: [("x", 1)],
    "bytes": lambda: {"x": b"a"},
    "set": lambda: {"x": {1}},
    "name of another type": lambda: {5: 1},
    "name of another type below": lambda: {"a": {None: 1}},
    "lone surrogate": lambda: {"x": "\ud800"},
    "lone surrogate in a name": lambda: {"\ud800": 1},
    "integer of 65 bits": lambda: {"x": 2**63},
    "path twice": lambda: {"a.b": 1, "a": {"b": 2}},
    "path twice in a list": lambda: {"a": [{"b": 1}], "a.b": 2},
    "path twice before a list": lambda: {"a.b": 2, "a": [{"b": 1}]},
    "path twice in an element": lambda: {"a": [{"b.c": 1, "b": {"c": 2}}]},
    "objects 10,000 deep": lambda: _nested(lambda value: {"a": value}, 10_000),
    "lists 10,000 deep": lambda: {"a": _nested(lambda value: [value, 1], 10_000)},
    "both 10,000 deep": lambda: _nested(lambda value: {"a": [value]}, 10_000),
    "cyclic object": _cyclic,
    "cyclic list": _cyclic_list,
    "lists that share and multiply": _shared,
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name == "lists that share and multiply" else name
        for name in BAD_EVENTS
    ],
)
def test_a_bad_event_is_refused_soon(name):
    made = parsed("x = 1")
    event = BAD_EVENTS[name]()
    with refused(EventError):
        made.matches(event)


@pytest.mark.slow
def test_many_lists_in_one_event_cost_linear_time():
    event = {f"l{number}": [1] for number in range(10_000)}
    assert parsed("l5 = 1").matches(event)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("größe > 5", "größe"), ("x = 1 and straße.nr = 4", "straße.nr"), ("é = 5", "é"), ("exists(日本)", "日本"),
        ("lower(naïve) like 'a'", "naïve"), ("detail-type = 'a'", "detail-type"), ("not(a@b = 1)", "a@b"),
    ],
)  # fmt: skip
def test_a_name_that_needs_quotes_gets_the_advice_to_quote_it(text, name):
    with pytest.raises(FilterSyntaxError) as caught:
        parse(text)
    assert f'An attribute called {name} stands in double quotes: "{name}".' in str(caught.value)
    parse(text.replace(name, f'"{name}"'))
