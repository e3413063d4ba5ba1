"""Explanations: they agree with `matches`, show the best flat event of an event with lists, and read well."""

from __future__ import annotations

from math import nan
from textwrap import dedent

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.errors import EventError, FilterError
from thatch.model.events import Record, read_event
from thatch.model.expressions import Or, Within
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.lines import contains
from thatch.model.printing import printed_conditions
from thatch.model.schema import Schema
from thatch.model.types import Integer

some_events = st.lists(make.events, min_size=1, max_size=4)


def accepted(expression, schema):
    try:
        return Filter.of(expression, schema)
    except FilterError:
        assume(False)


def readable(events, schema):
    """The events that can be read, each with its record."""
    for event in events:
        try:
            yield event, read_event(event, schema)
        except EventError:
            continue


def met(condition, points):
    """Whether a printed condition holds on a flat event, by the definition."""
    flat = Record(dict(points))
    residual = condition.residual
    return all(contains(constraint, flat.point(key)) for key, constraint in condition.constraints) and (
        residual is None or residual.holds([flat.point(key) for key in residual.keys])
    )


@given(make.expressions, make.schemas, some_events)
def test_an_explanation_is_true_exactly_where_the_filter_matches(expression, schema, events):
    made = accepted(expression, schema)
    for event, _ in readable(events, schema):
        explanation = made.explain(event)
        assert bool(explanation) == explanation.matches == made.matches(event)
        assert explanation.matches == any(each.holds for each in explanation.alternatives)
        assert str(explanation).startswith("matches" if explanation else "does not match")


@given(make.expressions, make.schemas, some_events)
def test_an_alternative_holds_exactly_where_all_its_findings_do(expression, schema, events):
    made = accepted(expression, schema)
    for event, _ in readable(events, schema):
        for alternative in made.explain(event).alternatives:
            assert alternative.holds == all(finding.holds for finding in alternative.findings), event


@given(make.expressions, make.schemas, some_events)
def test_no_flat_event_meets_more_conditions_than_the_one_shown(expression, schema, events):
    made = accepted(expression, schema)
    for event, record in readable(events, schema):
        flats = list(record.flat())
        for conjunction, alternative in zip(made.conjunctions, made.explain(event).alternatives, strict=True):
            conditions = printed_conditions(conjunction, schema)
            outcomes = [[met(condition, flat) for condition in conditions] for flat in flats]
            shown = [finding.holds for finding in alternative.findings]
            assert sum(shown) == max(map(sum, outcomes)), (str(made), event)
            assert shown in outcomes


geofences = st.builds(Within, st.just("lat"), st.just("lon"), make.shapes)
places = st.lists(st.sampled_from([0, 0.001, 5, 45, 90, 91, -179.5, 180, None, "a"]), max_size=4)
spread = st.one_of(
    st.fixed_dictionaries({"lat": places, "lon": places}),
    st.fixed_dictionaries({"lat": places, "i": st.lists(st.fixed_dictionaries({"lon": places}), max_size=2)}),
    st.fixed_dictionaries({"i": st.lists(st.fixed_dictionaries({"lat": places, "lon": places}), max_size=3)}),
    st.fixed_dictionaries({"lat": st.sampled_from([0, 5, 45]), "i": st.lists(places, max_size=3)}),
)


@given(geofences, geofences, spread)
def test_two_lists_tied_by_a_geofence_are_looked_at_together(one, other, event):
    inside = [
        Within("lat", "i.lon", one.shape),
        Within("i.lat", "i.lon", other.shape),
        Within("lat", "i", one.shape),
    ]
    made = accepted(Or((one, other, *inside)), None)
    record = read_event(event)
    flats = list(record.flat())
    explanation = made.explain(event)
    assert bool(explanation) == made.matches(event)
    for conjunction, alternative in zip(made.conjunctions, explanation.alternatives, strict=True):
        conditions = printed_conditions(conjunction, None)
        best = max(sum(met(condition, flat) for condition in conditions) for flat in flats)
        assert sum(finding.holds for finding in alternative.findings) == best
        assert alternative.holds == all(finding.holds for finding in alternative.findings)


DRAWINGS = {
    "all conditions hold": (
        "price < 150 and symbol = 'IBM'",
        {"symbol": "IBM", "price": 120},
        """
        matches
        ├ yes price < 150     saw 120
        └ yes symbol = 'IBM'  saw 'IBM'
        """,
    ),
    "one condition fails": (
        "price < 150 and symbol = 'IBM'",
        {"symbol": "IBM", "price": 151.5},
        """
        does not match
        ├ no  price < 150     saw 151.5
        └ yes symbol = 'IBM'  saw 'IBM'
        """,
    ),
    "missing and null": (
        "price < 150 and symbol = 'IBM'",
        {"symbol": None},
        """
        does not match
        ├ no  price < 150     saw missing
        └ no  symbol = 'IBM'  saw null
        """,
    ),
    "NaN": (
        "x < 5",
        {"x": nan},
        """
        does not match
        └ no  x < 5  saw NaN
        """,
    ),
    "another type": (
        "x < 5",
        {"x": "5"},
        """
        does not match
        └ no  x < 5  saw '5'
        """,
    ),
    "present": (
        "x is missing",
        {"x": True},
        """
        does not match
        └ no  x is missing  saw true
        """,
    ),
    "nothing is asked": (
        "true",
        {"x": 1},
        """
        matches
        └ yes true
        """,
    ),
    "one alternative of two": (
        "x = 1 or y = 2",
        {"x": 1, "y": 3},
        """
        matches: one of 2 alternatives holds
        ├ yes alternative 1
        │ └ yes x = 1  saw 1
        └ no  alternative 2
          └ no  y = 2  saw 3
        """,
    ),
    "both alternatives": (
        "x = 1 or y = 2",
        {"x": 1, "y": 2},
        """
        matches: 2 of 2 alternatives hold
        ├ yes alternative 1
        │ └ yes x = 1  saw 1
        └ yes alternative 2
          └ yes y = 2  saw 2
        """,
    ),
    "no alternative": (
        "x = 1 and z = 1 or y = 2",
        {"x": 2},
        """
        does not match: none of 2 alternatives holds
        ├ no  alternative 1
        │ ├ no  x = 1  saw 2
        │ └ no  z = 1  saw missing
        └ no  alternative 2
          └ no  y = 2  saw missing
        """,
    ),
    "an element of a list": (
        "x = 2",
        {"x": [1, 2, 3]},
        """
        matches
          with element 1 of x (3 elements)
        └ yes x = 2  saw 2
        """,
    ),
    "a list of one": (
        "x = 2",
        {"x": [1]},
        """
        does not match
          with element 0 of x (1 element)
        └ no  x = 2  saw 1
        """,
    ),
    "an empty list": (
        "x = 2",
        {"x": []},
        """
        does not match
        └ no  x = 2  saw missing
        """,
    ),
    "a list that nothing is asked of": (
        "x = 2",
        {"x": [1, 3], "y": [1, 2]},
        """
        does not match
          with element 0 of x (2 elements)
        └ no  x = 2  saw 1
        """,
    ),
    "a list in an object of a list": (
        "i.sku = 'b' and i.qty > 1 and i.tags = 'new'",
        {"i": [{"sku": "b", "qty": 1}, {"sku": "b", "qty": 9, "tags": ["old", ["new", "hot"]]}, {"qty": 5}]},
        """
        matches
          with element 1 of i (3 elements)
          with element 1 of i.tags (3 elements)
        ├ yes i.qty > 1       saw 9
        ├ yes i.sku = 'b'     saw 'b'
        └ yes i.tags = 'new'  saw 'new'
        """,
    ),
    "two lists": (
        "i.sku = 'a' and i.qty > 1 and paid = true",
        {"i": [{"sku": "a", "qty": 1}, {"sku": "b", "qty": 9}], "paid": [False, True]},
        """
        does not match
          with element 0 of i (2 elements)
          with element 1 of paid (2 elements)
        ├ no  i.qty > 1    saw 1
        ├ yes i.sku = 'a'  saw 'a'
        └ yes paid = true  saw true
        """,
    ),
    "derived attributes show what they are derived from": (
        "lower(symbol) = 'ibm' and cidr(peer, '10.0.0.0/8')",
        {"symbol": "iBm", "peer": "11.0.0.1"},
        """
        does not match
        ├ no  ip(peer) between '10.0.0.0' and '10.255.255.255'  saw '11.0.0.1'
        └ yes lower(symbol) = 'ibm'                             saw 'iBm'
        """,
    ),
    "a moment and a suffix": (
        "at >= timestamp '2026-01-31' and name like '%son'",
        {"at": "yesterday", "name": "Johnson"},
        """
        does not match
        ├ yes name like '%son'                    saw 'Johnson'
        └ no  time(at) >= '2026-01-31T00:00:00Z'  saw 'yesterday'
        """,
    ),
    "a residual check": (
        "x like '%b%'",
        {"x": "it's"},
        """
        does not match
        └ no  x like '%b%'  saw 'it''s'
        """,
    ),
    "residual checks of two kinds": (
        "x like 'a_c%e' and y is unlike '%b%'",
        {"x": "abcde", "y": 5},
        """
        matches
        ├ yes exists(y)          saw 5
        ├ yes x like 'a_c%e'     saw 'abcde'
        └ yes y is unlike '%b%'  saw 5
        """,
    ),
    "two lists tied by a geofence": (
        "within(lat, lon, circle(0, 0, 1000))",
        {"lat": [5, 0], "lon": [0.001, 7]},
        """
        matches
          with element 1 of lat (2 elements)
          with element 0 of lon (2 elements)
        └ yes within(lat, lon, circle(0, 0, 1000))  saw 0, 0.001
        """,
    ),
    "a pair of coordinates that is none": (
        "not within(lat, lon, circle(0, 0, 1000))",
        {"lat": 91},
        """
        does not match
        └ no  not within(lat, lon, circle(0, 0, 1000))  saw 91, missing
        """,
    ),
    "a quoted name": (
        "\"detail-type\" = 'x'",
        {"detail-type": "y"},
        """
        does not match
        └ no  "detail-type" = 'x'  saw 'y'
        """,
    ),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_how_an_explanation_is_drawn(name):
    text, event, wanted = DRAWINGS[name]
    assert str(parse(text).explain(event)) == dedent(wanted).strip()


def test_a_misfit_is_shown_as_missing():
    explanation = parse("qty > 5", Schema({"qty": Integer(0, 9)})).explain({"qty": 10})
    assert explanation.alternatives[0].findings[0].seen == "missing"


def test_what_a_list_gives_only_sometimes_is_missing_in_the_other_elements():
    explanation = parse("i.a = 1 and lower(i.b) = 'x'").explain({"i": [{"a": 1}, {"b": "X"}, {"b": "y"}]})
    (alternative,) = explanation.alternatives
    assert alternative.chosen == ("element 0 of i (3 elements)",)
    assert [finding.seen for finding in alternative.findings] == ["1", "missing"]


def test_a_pattern_counts_as_one_condition_however_much_of_it_holds():
    """It begins and ends as the pattern says, and does not fit; the other element meets one condition of two."""
    explanation = parse("i.x like 'a%b%c' and i.y = 1").explain({"i": [{"x": "ac"}, {"y": 1}]})
    assert explanation.alternatives[0].chosen == ("element 1 of i (2 elements)",)


def test_a_place_in_the_corner_of_the_box_around_a_circle_is_not_taken_for_one_inside():
    explanation = parse("within(lat, lon, circle(0, 0, 1000))").explain({"lat": [0.0085, 0], "lon": [0.0085]})
    assert explanation
    assert explanation.alternatives[0].chosen == (
        "element 1 of lat (2 elements)",
        "element 0 of lon (1 element)",
    )


def test_long_lists_are_explained_without_their_product():
    event = {f"l{number}": list(range(100)) for number in range(30)}
    text = " and ".join(f"l{number} = 99" for number in range(30))
    assert parse(text).explain(event)
    assert not parse(text + " and z = 1").explain(event)
