"""One estimate of how likely a predicate is, and that all who need one use it."""

from __future__ import annotations

from itertools import pairwise
from math import nan
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import thatch
from tests import strategies as make
from thatch.engine.hints import hints_of
from thatch.model.lines import BOTTOM, EMPTY, MISSING, PRESENT, TOP, WHOLE, Constraint, intersect, union
from thatch.model.printing import PrintedCondition
from thatch.model.profile import STEPS, AttributeProfile, Profile
from thatch.model.selectivity import NamedValues, Selectivity
from thatch.placement.event_space import count_sides, event_space
from thatch.planning import FilterSet
from thatch.reduction.merging import ExpectedTraffic


def constraint_of(text: str, schema: thatch.Schema | None = None) -> tuple[str, Constraint]:
    ((key, constraint),) = thatch.parse(text, schema=schema).conjunctions[0].constraints
    return key, constraint


def assumed(*texts: str, schema: thatch.Schema | None = None) -> Selectivity:
    found = Selectivity(schema=schema)
    for text in texts:
        found.observe(thatch.parse(text, schema=schema).conjunctions[0])
    return found


# --- with a profile ----------------------------------------------------------------------------------------------


def test_a_measured_predicate_is_answered_exactly():
    events = [{"x": each} for each in range(997)]
    profile = Profile.of(events, {"a": thatch.parse("x < 123")})
    assert Selectivity(profile).estimate(*constraint_of("x < 123")) == 123 / 997


@pytest.mark.parametrize(
    "text", ["x < 123.4", "x between 100 and 800", "x >= 990", "x != 5", "x in (1, 2, 900)"]
)
def test_an_interval_is_answered_to_within_two_steps(text):
    events = [{"x": (each * 7919) % 1000} for each in range(5_000)]
    true = sum(map(thatch.parse(text).matches, events)) / len(events)
    assert Selectivity(Profile.of(events)).estimate(*constraint_of(text)) == pytest.approx(
        true, abs=2 / STEPS
    )


def test_frequent_values_and_types_are_answered_exactly():
    events = [{"x": value} for value in [1, 1, 1, 2, "a", "a", True, None, nan]] + [{}]
    profile = Profile.of(events)
    for text in (
        "x = 1",
        "x = 'a'",
        "x = true",
        "x is null",
        "x < 2",
        "exists(x)",
        "x is missing",
        "x is distinct from 1",
    ):
        true = sum(map(thatch.parse(text).matches, events)) / len(events)
        assert Selectivity(profile).estimate(*constraint_of(text)) == pytest.approx(true), text


def test_what_is_derived_is_answered_from_frequent_values_and_a_sample():
    words = ["IBM", "ibm", "Apple", "10.0.0.1", "2026-01-31", 5, None]
    events = [{"x": word} for word in words]
    profile = Profile.of(events)
    for text in (
        "lower(x) = 'ibm'",
        "x like '%m'",
        "ip(x) = '10.0.0.1'",
        "time(x) > '2026-01-01'",
        "lower(x) = 5",
    ):
        true = sum(map(thatch.parse(text).matches, events)) / len(events)
        key, constraint = constraint_of(text)
        assert Selectivity(profile).estimate(key, constraint) == pytest.approx(true), text
    assert Selectivity(profile).estimate("ip(x)", MISSING) == pytest.approx(6 / 7)


def test_elements_of_a_list_are_taken_to_be_independent():
    profile = Profile.of([{"x": [1, 2]}] * 10 + [{}] * 10)
    assert Selectivity(profile).estimate(*constraint_of("x = 1")) == pytest.approx(0.5 * 0.75)


def test_a_value_that_is_not_frequent_is_as_likely_as_others_of_its_kind():
    known = AttributeProfile(
        key="x",
        events=1_000,
        values=1_000,
        numbers=1_000,
        distinct=101,
        quantiles=(0.0,) * 9 + (1.0,),
        heavy=((0, 900),),
    )
    rare = Selectivity(Profile(events=1_000, attributes=(known,)))
    assert rare.estimate(*constraint_of("x = 0.5")) == pytest.approx(0.1 / 100)
    assert rare.estimate(*constraint_of("x = 7")) == 0.0  # beyond the greatest
    assert rare.upper(*constraint_of("x > 0.5 and x < 0.500001")) == pytest.approx(0.1 / 100)


def test_shares_of_infinite_numbers_and_texts():
    known = AttributeProfile(
        key="x", events=10, values=10, numbers=10, distinct=10, quantiles=(-float("inf"), 0.0, float("inf"))
    )
    ends = Selectivity(Profile(events=10, attributes=(known,)))
    assert ends.estimate(*constraint_of("x <= 0")) == pytest.approx(0.5)
    texts = Selectivity(Profile.of([{"x": each} for each in "abcdefghij"]))
    assert texts.estimate(*constraint_of("x < 'f'")) == pytest.approx(0.5)
    assert texts.estimate("x", EMPTY) == 0.0
    never = AttributeProfile(key="x", events=0, values=0, distinct=0)
    assert Selectivity(Profile(events=1, attributes=(never,))).estimate("lower(x)", PRESENT) == 0.0


def test_an_attribute_that_a_profile_lacks_is_missing_and_may_be_anything():
    for profile in (Profile.of([{"y": 1}]), Profile.of([])):
        found = Selectivity(profile)
        found.observe(thatch.parse("x > 5 and x < 15").conjunctions[0])
        assert found.estimate(*constraint_of("x > 5")) == 0.0
        assert found.estimate("x", MISSING) == found.estimate("x", WHOLE) == 1.0
        assert found.upper(*constraint_of("x < 10")) == assumed("x > 5 and x < 15").upper(
            *constraint_of("x < 10")
        )
        assert found.stand_ins("x") == {BOTTOM: 1.0}


# --- without a profile -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "estimate", "upper"),
    [
        ("price between 0 and 100.5", 1 / 3, 1.0),  # from -100.5 to 201
        ("side = 'buy'", 1 / 4, 1 / 4),  # of three that are named, and all others
        ("halted = true", 1 / 2, 1 / 2),
        ("exists(side)", 1.0, 1.0),
        ("n = 7", 0.1, 0.1),
        ("n between 3 and 4", 0.2, 0.2),
        ("rate < 1", 0.25, 1 / 2),  # one of two named numbers, at least
        ("kind = 'a'", 1 / 3, 1 / 3),
        ("code = 5", 1 / 4, 1 / 4),
        ("code = 8", 1 / 5, 1 / 8999),
        ("big = 3", 1 / 2 + 1 / 12, 1.0),  # half for itself, and its share of the rest, from 0 to 6
    ],
)
def test_what_is_assumed_follows_from_declared_types_and_named_values(text, estimate, upper):
    schema = thatch.Schema(
        {
            "n": thatch.Integer(1, 10),
            "rate": thatch.Number(0, 4),
            "kind": thatch.Enum("a", "b", 3),
            "big": thatch.Integer(),
        }
    )
    found = assumed(
        "price between 0 and 100.5",
        "side in ('buy', 'sell')",
        "side = 'short'",
        "halted = true",
        "rate between 1 and 3",
        "code in (1, 5, 8999)",
        "big = 3",
        schema=schema,
    )
    assert found.estimate(*constraint_of(text, schema)) == pytest.approx(estimate)
    assert found.upper(*constraint_of(text, schema)) == pytest.approx(max(estimate, upper))


def test_parts_of_the_line_that_filters_ask_about_are_equally_likely():
    found = assumed("x is missing", "x is null", "x = true", "x < 5")
    for text in ("x is missing", "x is null", "exists(x)"):
        assert found.estimate(*constraint_of(text)) == pytest.approx(0.75 if "exists" in text else 0.25)
    assert found.estimate(*constraint_of("x = false")) == pytest.approx(0.125)
    unknown = assumed("y is missing")
    assert unknown.estimate("y", MISSING) == 0.5
    assert unknown.estimate("y", ((6,), TOP)) == pytest.approx(1 / 6)
    enum = assumed("e is null", schema=thatch.Schema({"e": thatch.Enum("a", True)}))
    assert enum.estimate(*constraint_of("e = 'a'")) == enum.estimate(*constraint_of("e = true")) == 0.25


def test_texts_between_named_ones_are_equally_likely():
    found = assumed("name like 'I%'")
    assert found.estimate(*constraint_of("name like 'I%'")) == pytest.approx(1 / 3)
    assert found.upper(*constraint_of("name like 'I%'")) == pytest.approx(2 / 3)
    assert found.estimate(*constraint_of("name < 'IBM'")) == pytest.approx(1 / 2)


def test_a_check_that_is_no_interval_counts_as_what_it_implies():
    wanted = FilterSet(
        {"a": thatch.parse("within(lat, lon, circle(0, 0, 1000))"), "b": thatch.parse("s like '%a%b'")}
    )
    geofence, wildcard = wanted.problem.selectivities
    assert 0.0 < geofence <= 1.0
    assert 0.0 < wildcard < 1.0
    assert Selectivity().of_condition(PrintedCondition("check", ())) == 0.5


def test_named_values_are_merged_and_sampled_whatever_the_order():
    parts = [NamedValues() for _ in range(3)]
    whole = NamedValues()
    for number in range(1_000):
        constraint = constraint_of(f"x < {number / 2}" if number % 2 else f"x = {number}")[1]
        parts[number % 3].add(constraint)
        whole.add(constraint)
    assert not whole.add(constraint_of("x = 4")[1])
    joined = NamedValues()
    for part in parts:
        part.thin(64)
        joined.update(part)
    joined.thin(64)
    whole.thin(64)
    assert (joined.points, joined.singles, joined.is_whole) == (whole.points, whole.singles, False)
    assert (whole.points[0][1], whole.points[-1][1]) == (0, 998)


# --- what holds of all of them -----------------------------------------------------------------------------------

_SCHEMAS = (
    None,
    thatch.Schema({"x": thatch.Integer(-3, 3)}),
    thatch.Schema({"x": thatch.Number(-10, 10)}),
    thatch.Schema({"x": thatch.Enum("a", "b", 1, 2, True)}),
    thatch.Schema({"x": thatch.Decimal(1, minimum=0)}),
    thatch.Schema({"x": thatch.Integer()}),
)
_scalars = st.one_of(
    st.integers(-5, 5), st.sampled_from([0.5, 2.25, True, False, None, nan, "", "a", "ab", "b", "10.0.0.1"])
)
_conditions = st.one_of(
    st.sampled_from(
        [
            f"x {operator} {value}"
            for operator in ("=", "<", ">=", "!=")
            for value in (-2, 0, 0.5, 3, "'a'", "'ab'")
        ]
    ),
    st.sampled_from(
        [
            "x is missing",
            "x is null",
            "x = true",
            "exists(x)",
            "x in (1, 2)",
            "x in ('a', 'b')",
            "x like 'a%'",
        ]
    ),
)


@given(
    st.lists(st.fixed_dictionaries({}, optional={"x": _scalars}), max_size=30),
    st.lists(_conditions, min_size=1, max_size=6),
    st.sampled_from(_SCHEMAS),
    st.booleans(),
)
def test_estimates_are_shares_that_grow_and_add_up_and_agree_with_counting(
    events, texts, schema, is_profiled
):
    constraints = []
    for text in texts:
        try:
            constraints.append(constraint_of(text, schema)[1])
        except thatch.FilterError:
            continue
    assume(constraints)
    profile = Profile.of(events, schema=schema) if is_profiled else None
    found = Selectivity(profile, schema)
    cuts = sorted({BOTTOM, TOP, *(cut for each in constraints for cut in each)})
    pieces = list(pairwise(cuts))
    for piece in pieces:
        found.name("x", piece)
    shares = [found.estimate("x", each) for each in pieces]
    below = found.below("x", cuts)
    assert below == sorted(below)
    assert sum(shares) == pytest.approx(1.0)
    for constraint in constraints:
        estimate = found.estimate("x", constraint)
        assert -1e-9 <= estimate <= found.upper("x", constraint) + 1e-9 <= 1.0 + 2e-9
        inside = [intersect(constraint, each) == each for each in pieces]
        assert estimate == pytest.approx(
            sum(share for share, is_in in zip(shares, inside, strict=True) if is_in)
        )
        for other in constraints:
            assert found.estimate("x", union((constraint, other))) >= estimate - 1e-9
    if profile is not None and profile.attribute("x") is not None:
        for constraint in constraints:
            filter = thatch.Filter((thatch.model.conjunctions.Conjunction((("x", constraint),)),), schema, ())
            counted_share = sum(map(filter.matches, events)) / profile.events
            assert found.estimate("x", constraint) == pytest.approx(counted_share)
            assert found.upper("x", constraint) == pytest.approx(counted_share)


@given(st.lists(make.events, max_size=20))
def test_presence_is_answered_exactly(events):
    profile = Profile.of(events)
    for each in profile.attributes:
        found = Selectivity(profile)
        assert found.estimate(each.key, PRESENT) == pytest.approx(profile.present(each.key))
        assert found.estimate(each.key, WHOLE) == pytest.approx(1.0)


# --- everybody who asks ------------------------------------------------------------------------------------------

_ASKED = [
    "price between 0 and 100.5",
    "price < 50",
    "side = 'buy'",
    "side in ('sell', 'short')",
    "halted = true",
    "volume > 10",
    "unheard = 5",
]
_LOG: list[dict[str, Any]] = [
    {
        "price": n * 1.5,
        "side": ("buy", "sell")[n % 2],
        **({"halted": n % 3 == 0} if n % 4 else {}),
        "volume": n,
    }
    for n in range(90)
]


@pytest.mark.parametrize("profile", [None, Profile.of(_LOG)], ids=["no profile", "profile"])
def test_planning_placement_merging_and_indexes_give_the_same_number(profile):
    filters = {text: thatch.parse(text) for text in _ASKED}
    own = Selectivity(profile)
    for each in filters.values():
        own.observe(each.conjunctions[0])
    planned = FilterSet(filters, profile)
    by_plan = dict(zip(planned.problem.names, planned.problem.selectivities, strict=True))
    space = event_space(count_sides(filters.values()), profile, most=10)
    traffic = ExpectedTraffic(own)
    spread = None if profile is None else hints_of(profile)
    for text, filter in filters.items():
        ((key, constraint),) = filter.conjunctions[0].constraints
        estimate = own.estimate(key, constraint)
        assert by_plan[str(filter)] == pytest.approx(estimate), text
        number = [axis.key for axis in space.axes].index(key)
        widths = [row[len(space.axes) + number] - row[number] for row in space.boxes_of(filter)]
        assert sum(widths) == pytest.approx(estimate, abs=1e-9), text
        assert traffic.mass({key: constraint}) == own.upper(key, constraint) >= estimate - 1e-9, text
        known = None if spread is None else spread.spread(key)
        if known is not None:
            assert known.share(constraint) == pytest.approx(estimate, abs=2 / STEPS), text
