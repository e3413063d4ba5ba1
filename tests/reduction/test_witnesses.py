"""Values that lie where they should: whatever is found fits, and of plain attributes whatever there is is found."""

from __future__ import annotations

from math import inf, isnan, nextafter

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.errors import FilterError
from thatch.model.conjunctions import Conjunction, Dead
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.lines import BOTTOM, above, below, contains, intersect, point, value_at
from thatch.model.matching import holds
from thatch.model.residuals import WildcardCheck, WithinCheck
from thatch.model.schema import Schema
from thatch.model.shapes import Circle
from thatch.model.simplest import simplest_points
from thatch.model.types import Decimal, Enum, Integer, Number, Text
from thatch.model.wildcards import wildcard
from thatch.reduction import witnesses
from thatch.reduction.witnesses import example as example_of


def simplest(text, schema=None):
    """The first value of the one attribute of a filter."""
    ((key, constraint),) = parse(text, schema).conjunctions[0].constraints
    return value_at(next(simplest_points(constraint, schema.line(key) if schema else None)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a > 5", 6),
        ("a >= 5", 5),
        ("a > -5", 0),
        ("a < -5", -6),
        ("a > 100 and a < 200", 110),
        ("a > 1037 and a < 9876", 2000),
        ("a > 0 and a < 1", 0.1),
        ("a > 0.25 and a < 0.3", 0.26),
        ("a > 0.1 and a < 0.10001", 0.100001),
        ("a < 1e-300 and a > 0", 1e-301),
        ("a >= 1e300", 1e300),
        ("a > 9007199254740992 and a < 9007199254740994", 9007199254740993),
        ("a > 9223372036854775806 and a < 9223372036854775808.0", 9223372036854775807),
        ("a > 1.7976931348623157e308", inf),
        ("a < -1.7976931348623157e308", -inf),
        ("a > 5e-324 and a < 1.5e-323", 1e-323),
        ("a is null", None),
        ("a = true", True),
        ("a like 'ab%'", "ab"),
        ("a > 'ab'", "b"),
        ("a > 'ab' and a < 'b'", "ac"),
        ("a > 'ab' and a < 'ac'", "aba"),
        ("a > 'ab' and a < 'ab!'", "ab "),
        ("a > 'ab' and a <= 'ab\0'", "ab\0"),
        ("a < ' '", ""),
        ("a >= ''", "a"),
        ("a > 'zz'", "zza"),
        ("a > '\ud7ff' and a < '\uf000'", "\ud7ffa"),
    ],
)
def test_the_simplest_value_is_easy_to_read(text, value):
    found = simplest(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "line", "value"),
    [
        ("a > 5.5", Integer(), 6),
        ("a > 10", Integer(0, 100), 20),
        ("a > 0.5 and a < 0.6", Decimal(2), 0.51),
        ("a > 2.5", Number(0, 3), 3),
        ("a > 2.5", Number(0, 2.75), 2.6),
        ("a != 1", Enum(1, 7.25), 7.25),
        ("a > 'b'", Enum("a", "xyz"), "xyz"),
        ("a != true", Enum(True, False), False),
        ("exists(a)", Integer(7, 9), None),
        ("a >= ''", Text(), "a"),
    ],
)
def test_declared_types_are_respected(text, line, value):
    assert simplest(text, Schema({"a": line})) == value


@given(make.literals, make.literals, st.booleans(), st.booleans())
@example(2**53, float(2**53 + 2), True, False)
@example(-(2**63), nextafter(-(2.0**63), inf), True, False)
def test_a_value_is_found_exactly_if_there_is_one(first, second, starts_above, ends_above):
    low = above(first) if starts_above else below(first)
    high = above(second) if ends_above else below(second)
    assume(low < high)
    found = [value_at(place) for place in simplest_points((low, high))]
    assert all(low <= point(value) < high for value in found)
    if not found:  # then nothing lies between: neither end, nor what is next to it
        assert type(first) is type(second) or {type(first), type(second)} == {int, float}
        if isinstance(first, str):
            assert not low <= point(first + "\0") < high
        else:
            near = [first, float(first), nextafter(float(first), inf)]
            if abs(first) < 2**63 - 1:
                near += [int(first) + 1, int(first)]
            assert not any(low <= point(value) < high for value in near)


@given(make.expressions, make.schemas)
def test_an_example_satisfies_its_conjunction(expression, schema):
    try:
        filter = Filter.of(expression, schema)
    except FilterError:
        return
    for conjunction in filter.conjunctions:
        event = example_of(conjunction, schema)
        if event is not None:
            assert holds(conjunction, read_event(event, schema))
            assert filter.matches(event)


@given(make.plain_expressions, make.schemas)
def test_a_plain_conjunction_always_has_an_example_unless_doubles_are_too_few(expression, schema):
    try:
        filter = Filter.of(expression, schema)
    except FilterError:
        return
    for conjunction in filter.conjunctions:
        if example_of(conjunction, schema) is None:
            lines = [
                (constraint, schema.line(key) if schema else None)
                for key, constraint in conjunction.constraints
            ]
            assert any(not list(simplest_points(*each)) for each in lines)


def test_demands_that_depend_on_each_other_stay_together():
    circle = WithinCheck("lat", "lon", Circle(10, 10, 1000))
    form = WildcardCheck("lower(s)", wildcard("%a%b%"))
    found = witnesses.requirements(
        {"a": (below(1), above(1)), "lower(s)": (below("x"), above("y"))}, [circle, form], None
    )
    assert {each.bases for each in found} == {frozenset("a"), frozenset("s"), frozenset(["lat", "lon"])}
    assert [each.is_plain for each in found if each.bases == frozenset("a")] == [True]
    assert [each.is_plain for each in found if each.bases != frozenset("a")] == [False, False]


def test_what_is_proved_to_be_impossible_is_dead():
    sides = {"s": (below("IBM"), above("IBM")), "lower(s)": (below("x"), above("y"))}
    (requirement,) = witnesses.requirements(sides, [], None)
    with pytest.raises(Dead):
        witnesses.find_points(requirement, None)


@pytest.mark.parametrize(
    "text",
    [
        "lower(s) like 'ab%' and s < 'B'",
        "s like 'ab%' and s like '%yz'",
        "lower(s) like '%yz' and s like 'Ab%'",
        "s like 'a%b%c' and s not like '%bb%'",
        "s like '_a_%b'",
        "s like '%a%' and s like '%b%' and s > 'c'",
        "s is unlike '%a%b%'",
        "cidr(s, '10.1.0.0/16')",
        "cidr(s, '2001:db8::/32')",
        "time(s) between timestamp '2026-01-01' and timestamp '2026-01-02'",
        "not exists(ip(s)) and s > '1'",
        "within(lat, lon, circle(45, 7, 1000))",
        "within(lat, lon, polygon((0, 0), (0, 10), (10, 10), (10, 0)))",
        "not within(lat, lon, circle(45, 7, 1000))",
        "within(lat, lon, circle(45, 7, 100000)) and lat > 45.5",
    ],
)
def test_events_are_found_for_derived_attributes_and_checks(text):
    filter = parse(text)
    event = example_of(filter.conjunctions[0], None)
    assert event is not None
    assert filter.matches(event)


def test_degrees_of_a_declared_type_are_of_that_type():
    schema = Schema({"lon": Integer()})
    filter = parse("not within(lat, lon, polygon((0, 0), (0, 10), (10, 10), (10, 0)))", schema)
    event = example_of(filter.conjunctions[0], schema)
    assert filter.matches(event)
    assert event["lon"] == int(event["lon"])


def test_a_missing_attribute_is_left_out():
    assert example_of(parse("a = 1 and not exists(b)").conjunctions[0], None) == {"a": 1}
    assert witnesses.event_at({"a": BOTTOM, "o.p": point("x"), '"d-t"': (1,)}) == {"o.p": "x", "d-t": None}


def test_nan_is_a_value():
    whole = parse("exists(a)").conjunctions[0].constraints[0][1]
    only_nan = intersect(whole, ((4,), (5,)))
    assert contains(only_nan, (4,))
    event = example_of(Conjunction((("a", only_nan),)), None)
    assert isnan(event["a"])
