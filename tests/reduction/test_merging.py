"""Merging: what is forwarded holds what is wanted, and no more events beyond it than the mergers' records say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests.strategies import combined, conditions, events, expressions
from thatch.errors import (
    EventError,
    FilterError,
    ParameterError,
    SubscriptionError,
    UnknownSubscriptionError,
)
from thatch.model.profile import Profile
from thatch.reduction import ForwardingSet, Merging

# --- li2005 ---------------------------------------------------------------------------------------------------------

ALL = 1.0  # a threshold that allows every merger


def _link(policy: Merging, *filters: str, schema: thatch.Schema | None = None) -> ForwardingSet:
    link = ForwardingSet(policy, schema=schema)
    for number, each in enumerate(filters, 1):
        link.add(f"S{number}", each)
    return link


def _texts(link: ForwardingSet) -> list[str]:
    return sorted(map(str, link.active.values()))


def test_figure_5_two_outputs_above_one_tail_become_one() -> None:
    tail = "day = 'July 20, 2004' and destination = 'Ottawa'"
    link = _link(Merging(), f"price = 150 and {tail}", f"price < 150 and {tail}")
    assert list(link.active.values()) == [thatch.parse(f"price <= 150 and {tail}")]


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("x < 5", "x = 5", "x <= 5"),
        ("x > 5", "x = 5", "x >= 5"),
        ("x < 5", "x > 5", "x != 5"),
        ("x <= 5", "x > 3", "x < 0 or x >= 0"),
        ("x != 5", "x = 5", "x < 0 or x >= 0"),
        ("x != 5", "x != 6", "x < 0 or x >= 0"),
        ("x between 1 and 3", "x between 3 and 4", "x between 1 and 4"),
    ],
)
def test_perfect_rules(first: str, second: str, wanted: str) -> None:
    link = _link(Merging(), f"{first} and t = 1", f"{second} and t = 1")
    assert list(link.active.values()) == [thatch.parse(f"({wanted}) and t = 1")]
    assert [degree.threshold for _, degree in link.mergers.values()] == [0.0]


def test_whole_numbers_that_follow_each_other_touch() -> None:
    schema = thatch.Schema({"x": thatch.Integer(0, 9)})
    assert _texts(_link(Merging(), "x <= 4", "x = 5", schema=schema)) == [
        str(thatch.parse("x <= 5", schema=schema))
    ]
    assert len(_texts(_link(Merging(), "x <= 4", "x = 6", schema=schema))) == 2


def test_values_become_a_list_where_a_predicate_may_have_more_intervals() -> None:
    link = _link(
        Merging(intervals=3), "x = 1 and y = 1", "x = 3 and y = 1", "x = 5 and y = 1", "x = 7 and y = 1"
    )
    assert _texts(link) == ["x = 7 and y = 1", "x in (1, 3, 5) and y = 1"]


@pytest.mark.parametrize(
    ("first", "second", "wanted", "extra"),
    [
        ("x < 3", "x > 7", "x between 0 and 9", 5),
        ("x < 3", "x = 5", "x <= 5", 2),
        ("x > 7", "x = 5", "x >= 5", 2),
    ],
)
def test_table_1_with_the_values_that_are_let_through_in_vain(
    first: str, second: str, wanted: str, extra: int
) -> None:
    schema = thatch.Schema({"x": thatch.Integer(0, 9)})
    link = _link(Merging(threshold=ALL), first, second, schema=schema)
    (filter,) = link.active.values()
    assert filter.covers(thatch.parse(wanted, schema=schema))
    ((parts, degree),) = link.mergers.values()
    assert parts == ("S1", "S2")
    assert degree.threshold == pytest.approx(extra / 10)
    assert len(_texts(_link(Merging(threshold=extra / 10 - 0.01), first, second, schema=schema))) == 2


def test_the_four_prices_of_section_5_are_one_imperfect_merger() -> None:
    policy = Merging(threshold=ALL, every=4)  # at the first two, the others would come to what covers them
    link = _link(policy, "price > 150", "price = 145", "price = 147", "price = 148")
    assert _texts(link) == ["price >= 145"]
    assert [parts for parts, _ in link.mergers.values()] == [("S1", "S2", "S3", "S4")]


def test_an_advertisement_makes_a_merger_free() -> None:
    filters = ("price > 150", "price = 130", "price = 120")
    assert len(_texts(_link(Merging(), *filters))) == 3
    advertised = Merging(advertisements=(thatch.parse("price > 150"),))
    link = _link(advertised, *filters)
    assert _texts(link) == ["price >= 120"]
    assert [degree.threshold for _, degree in link.mergers.values()] == [0.0]


def test_figure_9_a_merger_is_made_and_unmade() -> None:
    link = ForwardingSet(Merging())
    assert link.add("S1", "price = 150 and to = 'Ottawa'").forward
    changes = link.add("S2", "price < 150 and to = 'Ottawa'")
    s3 = thatch.parse("price <= 150 and to = 'Ottawa'")
    assert changes == ((("merger 1", s3),), ("S1",))
    assert link.proof("S1") == link.proof("S2") == ("merger 1",)
    assert link.remove("S1") == ((("S2", thatch.parse("price < 150 and to = 'Ottawa'")),), ("merger 1",))
    assert not link.mergers


def test_figure_9_c_a_filter_that_covers_a_merger_takes_its_place_until_it_goes() -> None:
    link = _link(Merging(), "price = 150 and to = 'Ottawa'", "price < 150 and to = 'Ottawa'")
    assert link.add("S4", "to = 'Ottawa'") == ((("S4", thatch.parse("to = 'Ottawa'")),), ("merger 1",))
    assert list(link.active) == ["S4"]
    assert not link.mergers
    assert [str(filter) for _, filter in link.remove("S4").forward] == ["price <= 150 and to = 'Ottawa'"]


# --- beyond it -------------------------------------------------------------------------------------------------------


def test_a_merger_of_mergers_gives_back_what_it_was_made_of() -> None:
    link = _link(Merging(), "x between 0 and 1", "x between 1 and 2", "x between 2 and 3")
    assert _texts(link) == ["x between 0 and 3"]
    assert link.stats()["idle_mergers"] == 1
    changes = link.remove("S3")
    assert [str(filter) for _, filter in changes.forward] == ["x between 0 and 2"]
    assert [parts for parts, _ in link.mergers.values()] == [("S1", "S2")]


def test_many_ranges_that_touch_are_one_and_any_of_them_may_go() -> None:
    link = _link(Merging(), *(f"x between {each} and {each + 1}" for each in range(40)))
    assert _texts(link) == ["x between 0 and 40"]
    assert link.stats()["idle_mergers"] <= 40
    link.remove("S20")
    assert _texts(link) == ["x between 0 and 19", "x between 20 and 40"]


def test_the_budget_of_a_link_holds_all_its_mergers() -> None:
    schema = thatch.Schema({f"x{each}": thatch.Integer(0, 9) for each in range(5)})
    filters = [f"x{each} = {value}" for each in range(5) for value in (1, 3)]
    assert len(_texts(_link(Merging(threshold=0.1), *filters, schema=schema))) == 5
    link = _link(Merging(threshold=0.1, budget=0.2), *filters, schema=schema)
    assert len(_texts(link)) == 8
    assert sum(degree.threshold for _, degree in link.mergers.values()) == pytest.approx(0.2)


def test_a_profile_tells_which_gaps_are_empty() -> None:
    events = [{"x": 1}, {"x": 2}, {"x": 8}, {"x": 9}] * 10
    filters = ("x = 2", "x = 8", "x = 30")
    assert len(_texts(_link(Merging(threshold=0.05), *filters))) == 3
    link = _link(Merging(threshold=0.05, profile=Profile.of(events)), *filters)
    assert len(_texts(link)) < 3


def test_two_attributes_that_differ_get_a_box_around_both() -> None:
    schema = thatch.Schema({"x": thatch.Integer(0, 9), "y": thatch.Integer(0, 9)})
    link = _link(Merging(threshold=0.02), "x = 1 and y = 1", "x = 2 and y = 2", schema=schema)
    ((_, degree),) = link.mergers.values()
    assert degree.threshold == pytest.approx(2 / 100)
    assert degree.imperfect == pytest.approx(2 / 4)


def test_a_predicate_is_dropped_where_no_range_holds_both() -> None:
    link = _link(Merging(threshold=ALL), "x = 1 and y = 1", "x = 'a' and y = 1")
    assert _texts(link) == ["y = 1"]


def test_merging_waits_for_so_many_changes() -> None:
    link = ForwardingSet(Merging(every=3))
    link.add("a", "x < 5")
    link.add("b", "x = 5")
    assert len(link.active) == 2
    link.add("c", "y = 1")
    assert len(link.active) == 2
    assert link.mergers


def test_what_is_wrong_is_refused_and_changes_nothing() -> None:
    for wrong in (
        {"threshold": -0.1},
        {"threshold": 2},
        {"budget": float("nan")},
        {"intervals": 0},
        {"every": 0},
    ):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            Merging(**wrong)
    link = _link(Merging(), "x < 5", "x = 5")
    with pytest.raises(SubscriptionError, match="free"):
        link.add("merger 1", "x = 7")
    assert list(link.active) == ["merger 1"]


@pytest.mark.parametrize("text", ["x < 5 and x > 7", "x = 1 and x = 2"])
def test_an_attribute_twice_is_intersected_or_refused(text: str) -> None:
    link = _link(Merging(), "x < 5 and x < 3", "x = 3 and x <= 9")
    assert _texts(link) == ["x <= 3"]
    with pytest.raises(FilterError):
        link.add("S3", text)
    assert len(link) == 2


def test_unknown_ids_are_refused_and_mergers_cannot_be_removed() -> None:
    link = _link(Merging(), "x < 5", "x = 5")
    for unknown in ("merger 1", "S9", None):
        with pytest.raises(UnknownSubscriptionError):
            link.remove(unknown)  # type: ignore[arg-type] # wrong on purpose
    assert link.merger("merger 9") is None
    assert list(link.active) == ["merger 1"]


def test_a_profile_that_lacks_an_attribute_takes_its_values_as_spread_evenly() -> None:
    profile = Profile.of([{"y": 1}, {"y": 2}] * 10)
    filters = ("x = 0", "x = 9", "x = 3", "x = 5")
    profiled = _link(Merging(threshold=0.2, profile=profile, every=4), *filters)
    assert _texts(profiled) == _texts(_link(Merging(threshold=0.2, every=4), *filters))
    assert profiled.mergers


def test_advertisements_that_contradict_a_filter_make_it_cost_nothing() -> None:
    """No event can satisfy `x > 7`: by what is advertised, whatever is merged with it costs nothing, and all stays known."""
    advertised = (thatch.parse("x < 3"), thatch.parse("x < 1 and y = 1"))
    link = _link(Merging(advertisements=advertised), "x = 8", "x = 10")
    ((_, degree),) = link.mergers.values()
    assert (degree.imperfect, degree.threshold) == (0.0, 0.0)
    assert _texts(link) == ["x between 8 and 10"]


def test_filters_of_other_attributes_or_three_differences_have_no_merger() -> None:
    for one, other in (("x = 1", "y = 1"), ("x = 1 and y = 1 and z = 1", "x = 2 and y = 2 and z = 2")):
        assert not _link(Merging(threshold=1), one, other).mergers


_any_events = st.one_of(
    st.fixed_dictionaries(
        {}, optional={name: st.sampled_from([0, 1, 1.5, 2, 3, "a", "ab", "B"]) for name in "xy"}
    ),
    events,
)
_any_filters = st.one_of(
    combined(conditions(keys=("x", "y"), constants=st.integers(0, 3)), max_leaves=3), expressions
)


@pytest.mark.parametrize(
    "policy", [Merging(intervals=2), Merging(threshold=1.0)], ids=["perfect", "imperfect"]
)
@given(asked=st.lists(_any_filters, max_size=8), some=st.lists(_any_events, max_size=6), data=st.data())
def test_whatever_filters_ask_for_perfect_mergers_add_nothing_and_others_lose_nothing(
    policy: Merging, asked: list[Any], some: list[dict[str, Any]], data: st.DataObject
) -> None:
    link, live = ForwardingSet(policy), {}
    for number, each in enumerate(asked):
        try:
            live[str(number)] = thatch.parse(each)
        except FilterError:
            continue
        link.add(str(number), live[str(number)])
    for name in data.draw(st.sets(st.sampled_from(sorted(live)))) if live else ():
        link.remove(name)
        del live[name]
    for event in some:
        try:
            wanted = any(filter.matches(event) for filter in live.values())
        except EventError:
            continue
        known = any(filter.matches(event) for filter in link.active.values())
        assert known == wanted if policy.threshold == 0 else known >= wanted


# --- what is let through in vain, counted on events that nobody has seen ------------------------------------------------


@pytest.mark.slow
def test_no_more_events_pass_in_vain_than_the_budget_allows_with_95_in_100_certainty() -> None:
    rng = np.random.default_rng(4)
    seen, unseen = (
        [dict(zip("xyz", row, strict=True)) for row in (rng.random((count, 3)) ** 2 * 100).round(1).tolist()]
        for count in (600, 1_500)
    )
    budget = 0.1
    link = ForwardingSet(Merging(threshold=0.03, budget=budget, profile=Profile.of(seen)))
    starts = rng.integers(0, 90, (60, 2)).tolist()
    filters = [
        thatch.parse(f"x between {x} and {x + 9} and y between {y} and {y + 9} and z <= {10 * (x % 4) + 20}")
        for x, y in starts
    ]
    link.extend({f"S{number}": each for number, each in enumerate(filters)})
    recorded = sum(degree.threshold for _, degree in link.mergers.values())
    assert 0.02 < recorded <= budget
    known = list(link.active.values())
    in_vain = sum(
        any(each.matches(event) for each in known) and not any(each.matches(event) for each in filters)
        for event in unseen
    )
    assert _upper_bound(in_vain, len(unseen)) <= budget


def _upper_bound(count: int, of: int, z: float = 1.959964) -> float:
    """The upper end of Wilson's interval of 95 % for a share."""
    share = count / of
    middle, spread = share + z * z / (2 * of), z * ((share * (1 - share) + z * z / (4 * of)) / of) ** 0.5
    return (middle + spread) / (1 + z * z / of)
