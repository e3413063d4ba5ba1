"""Filters planned, and plans carried out on events."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import thatch
from tests.examples import examples
from tests.strategies import combined, conditions, events, is_refused_not_in
from thatch import EventError
from thatch.errors import NeverMatchesError, ParameterError, SchemaError
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.profile import Profile
from thatch.planning import FilterSet, paired_chances, plan, plan_as_given


def filters_of(*texts: str, schema: thatch.Schema | None = None) -> dict[str, Filter]:
    return {f"s{number}": thatch.parse(text, schema) for number, text in enumerate(texts)}


QUOTES = filters_of(
    "symbol = 'IBM' and price < 100",
    "symbol = 'IBM' and price > 150 and volume > 1000",
    "symbol = 'IBM' and note like '%split%'",
    "symbol = 'AAPL' or price > 150 and volume > 1000",
)


def parsed(expression):
    assume(not is_refused_not_in(expression))
    try:
        return Filter.of(expression)
    except NeverMatchesError:
        return None


def is_event(event):
    try:
        read_event(event)
    except EventError:
        return False
    return True


@examples(60)
@given(st.lists(combined(conditions(), max_leaves=4), min_size=1, max_size=5), st.lists(events, max_size=4))
def test_plans_match_what_filters_match_lists_and_checks_included(expressions, given_events):
    filters = {f"s{number}": each for number, each in enumerate(map(parsed, expressions)) if each is not None}
    assume(filters)
    for answer in ("list", "any"):
        wanted = FilterSet(filters, answer=answer)
        for each in (plan(wanted.problem), plan_as_given(wanted.problem)):
            for event in filter(is_event, given_events):
                expected = [name for name, filter in filters.items() if filter.matches(event)]
                if answer == "any" and len(filters) > 1:
                    expected = list(filters) if expected else []
                assert wanted.match(each, event) == expected


@examples(40)
@given(st.lists(combined(conditions(), max_leaves=3), min_size=1, max_size=4), st.lists(events, max_size=6))
def test_columns_are_what_predicates_say_of_each_event(expressions, given_events):
    filters = {f"s{number}": each for number, each in enumerate(map(parsed, expressions)) if each is not None}
    assume(filters)
    wanted = FilterSet(filters)
    flat = [record for record in map(read_event, filter(is_event, given_events)) if not record.choices]
    columns = wanted.columns(flat)
    for place, record in enumerate(flat):
        evaluated = wanted.execute(plan_as_given(wanted.problem), record).evaluated
        truth = wanted._truth(record)
        assert [column >> place & 1 for column in columns] == [
            truth(number) for number in range(len(columns))
        ]
        assert set(evaluated) <= set(range(len(columns)))


def test_a_predicate_is_known_by_its_text():
    wanted = FilterSet(QUOTES)
    assert wanted.problem.names == (
        "price < 100",
        "symbol = 'IBM'",
        "price > 150",
        "volume > 1000",
        "note like '%split%'",
        "symbol = 'AAPL'",
    )
    assert wanted.problem.owners == (0, 1, 2, 3, 3)


def test_an_event_with_lists_has_no_column():
    wanted = FilterSet(QUOTES)
    assert wanted.match(plan(wanted.problem), {"symbol": ["AAPL", "IBM"], "price": 5}) == ["s0", "s3"]
    with pytest.raises(ParameterError, match="Events with lists are not supported here - at event 1"):
        wanted.columns([read_event({}), read_event({"symbol": ["IBM"]})])


def test_a_profile_gives_measured_selectivities_and_else_those_of_distributions():
    log = [{"symbol": "IBM" if number % 4 else "AAPL", "price": number} for number in range(200)]
    measured = FilterSet(QUOTES, Profile.of(log, QUOTES))
    guessed = FilterSet(QUOTES, Profile.of(log))
    names = measured.problem.names
    exact = dict(zip(names, measured.problem.selectivities, strict=True))
    assert exact["symbol = 'IBM'"] == 0.75
    assert exact["price < 100"] == 0.5
    assert exact["volume > 1000"] == exact["note like '%split%'"] == 0
    for name, share in zip(names, guessed.problem.selectivities, strict=True):
        assert share == pytest.approx(exact[name], abs=0.02)


def test_pairs_of_a_profile_tell_what_depends_on_what():
    log = [{"a": number % 2, "b": number % 2, "c": number % 3} for number in range(60)]
    filters = filters_of("a = 1 and b = 1 and c = 0", "a = 1 and b = 0 and c = 1")
    profile = Profile.of(log, filters)
    wanted = FilterSet(filters, profile)
    chances = paired_chances(wanted.problem, profile)
    a, b, other = (wanted.problem.names.index(name) for name in ("a = 1", "b = 1", "b = 0"))
    assert wanted.problem.selectivities[b] == 0.5
    assert chances(b, [a]) == 1
    assert chances(other, [a]) == 0
    assert chances(b, []) == 0.5


def test_without_a_history_declared_domains_are_even():
    schema = thatch.Schema(
        {"n": thatch.Integer(1, 10), "x": thatch.Number(0, 4), "e": thatch.Enum("a", "b", "c", True)}
    )
    wanted = FilterSet(
        filters_of(
            "n <= 3 and x < 1",
            "n = 7 and e = 'a'",
            "n > 10.5 or n > 2 and n < 5",
            "e in ('b', 'c') and x >= 3 or e = true",
            "exists(x) and n != 4",
            schema=schema,
        )
    )
    shares = dict(zip(wanted.problem.names, wanted.problem.selectivities, strict=True))
    assert shares["n <= 3"] == pytest.approx(0.3)
    assert shares["n = 7"] == pytest.approx(0.1)
    assert shares["n between 3 and 4"] == pytest.approx(0.2)
    assert shares["n != 4"] == pytest.approx(0.9)
    assert shares["x < 1"] == shares["x >= 3"] == shares["e = 'a'"] == shares["e = true"] == 0.25
    assert shares["e != 'a'"] == 0.5
    assert shares["exists(x)"] == 1


def test_without_any_domain_what_the_filters_name_is_one():
    wanted = FilterSet(
        filters_of(
            "symbol = 'a' and price < 30 and flag = true",
            "symbol = 'b' and price between 10 and 20 and flag is null",
            "symbol in ('a', 'c') and price > 25 and k = 5 and z < 1",
            "symbol = 'd' and price > 0 and k = 6 and note like '%x%y%'",
        )
    )
    shares = dict(zip(wanted.problem.names, wanted.problem.selectivities, strict=True))
    # Four texts are named, and all others count as a fifth.
    assert shares["symbol = 'a'"] == pytest.approx(0.2)
    assert shares["symbol in ('a', 'c')"] == pytest.approx(0.4)
    # From 0 to 30 there are five numbers, 7.5 apart in the mean: the domain reaches from -7.5 to 37.5.
    assert shares["price between 10 and 20"] == pytest.approx(10 / 45)
    assert shares["price < 30"] == shares["price > 0"] == pytest.approx(37.5 / 45)
    assert shares["k = 5"] == pytest.approx(1 / 3)
    assert shares["flag = true"] == 0.25  # null is as likely as a boolean
    assert shares["z < 1"] == 0.5
    assert shares["note like '%x%y%'"] == 1.0  # any text


def test_costs_are_given_by_text():
    dear = FilterSet(QUOTES, costs={"note like '%split%'": 20.0})
    assert plan(dear.problem).cost > plan(FilterSet(QUOTES).problem).cost
    with pytest.raises(ParameterError, match="a finite cost above 0"):
        FilterSet(QUOTES, costs={"price < 100": 0})


def test_filters_of_two_schemas_or_none_at_all_are_refused():
    with pytest.raises(ParameterError, match="at least one filter, got none"):
        FilterSet({})
    schema = thatch.Schema({"n": thatch.Integer(1, 10)})
    with pytest.raises(SchemaError, match="filters with the same schema"):
        FilterSet({**QUOTES, "other": thatch.parse("n = 1", schema)})


def test_predicates_of_one_member_must_hold_on_one_element_of_a_list():
    wanted = FilterSet(filters_of("x.p = 1 and x.q = 1", "x.p = 1"))
    apart, together = [{"p": 1, "q": 2}, {"p": 2, "q": 1}], [{"p": 1, "q": 1}]
    assert wanted.match(plan(wanted.problem), {"x": apart}) == ["s1"]
    assert sorted(wanted.match(plan(wanted.problem), {"x": together})) == ["s0", "s1"]
