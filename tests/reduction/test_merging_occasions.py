"""When filters are merged, many at once, and groups of them."""

from __future__ import annotations

from typing import Any

import pytest

import thatch
from tests.reduction.test_merging import _link, _texts
from thatch.errors import FilterError, ParameterError, SubscriptionError
from thatch.reduction import ForwardingSet, Merging
from thatch.reduction.merging import When

# --- when to merge -----------------------------------------------------------------------------------------------------


def _untimed(when: When, *filters: str) -> ForwardingSet:
    return _link(Merging(every=None, when=when), *filters)


def test_without_an_occasion_nothing_is_merged_until_it_is_asked_for() -> None:
    link = _link(Merging(every=None), "x < 5", "x = 5")
    assert len(link.active) == 2
    assert link.merge_if_due(now=1e9) == ((), ())
    forward, withdraw = link.merge()
    assert [str(filter) for _, filter in forward] == ["x <= 5"]
    assert withdraw == ("S1", "S2")
    assert ForwardingSet().merge() == ForwardingSet().merge_if_due(1.0) == ((), ())


def test_a_period_begins_with_the_first_time_that_is_told_and_with_every_merge() -> None:
    link = _untimed(When(period=60), "x < 5", "x = 5")
    assert not link.merge_if_due(now=1_000).forward
    assert not link.merge_if_due(now=1_059).forward
    assert link.merge_if_due(now=1_060).forward
    link.add("S3", "x > 5 and x < 9")
    assert not link.merge_if_due(now=1_119).forward
    assert link.merge_if_due(now=1_120).forward
    assert not link.merge_if_due(now=9_999).forward  # nothing has come since


def test_a_table_that_has_grown_is_merged() -> None:
    link = _untimed(When(table=3), "x < 5", "x = 5")
    assert len(link.active) == 2
    link.add("S3", "y = 1")
    assert _texts(link) == ["x <= 5", "y = 1"]


def test_a_rate_of_subscriptions_is_counted_since_the_last_merge() -> None:
    link = _untimed(When(rate=1.0))
    link.merge_if_due(now=0)
    link.add("S1", "x < 5")
    link.add("S2", "x = 5")
    assert not link.merge_if_due(now=10).forward
    for number in range(18):
        link.add(f"T{number}", f"y = {number}")
    assert link.mergers  # 20 in the 10 seconds that are known


def test_a_busy_link_is_merged() -> None:
    link = _untimed(When(bandwidth=0.8), "x < 5", "x = 5")
    assert not link.merge_if_due(now=1, bandwidth=0.7).forward
    assert not link.merge_if_due(now=2).forward
    assert link.merge_if_due(now=3, bandwidth=0.9).forward


def test_many_outputs_above_one_tail_are_merged() -> None:
    link = _untimed(When(outputs=3), "x < 5 and t = 1", "x = 5 and t = 1", "x < 5 and t = 2")
    assert not link.mergers
    link.add("S4", "x = 7 and t = 1")
    assert "t = 1 and x <= 5" in _texts(link)


@pytest.mark.parametrize("name", ["period", "table", "rate", "bandwidth", "outputs"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), True, "often"])
def test_occasions_are_numbers_above_0(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        When(**{name: value})


# --- groups ------------------------------------------------------------------------------------------------------------

# Blades of a windmill, and what is between them: no two are a box together, all five are.
_WINDMILL = (
    "x between 0 and 3 and y between 0 and 1",
    "x between 4 and 5 and y between 0 and 3",
    "x between 2 and 5 and y between 4 and 5",
    "x between 0 and 1 and y between 2 and 5",
    "x between 2 and 3 and y between 2 and 3",
)


def test_five_filters_that_fill_a_box_are_one_though_no_two_are() -> None:
    schema = thatch.Schema({"x": thatch.Integer(0, 99), "y": thatch.Integer(0, 99)})
    assert len(_link(Merging(), *_WINDMILL, schema=schema).active) == 5
    link = _link(Merging(groups=True), *_WINDMILL, schema=schema)
    assert _texts(link) == [str(thatch.parse("x <= 5 and y <= 5", schema=schema))]
    ((parts, degree),) = link.mergers.values()
    assert parts == ("S1", "S2", "S3", "S4", "S5")
    assert degree.threshold == 0
    link.remove("S5")
    assert len(link.active) == 4
    assert not link.mergers


def test_four_of_them_are_no_group() -> None:
    schema = thatch.Schema({"x": thatch.Integer(0, 99), "y": thatch.Integer(0, 99)})
    assert not _link(Merging(groups=True), *_WINDMILL[:4], schema=schema).mergers
    assert not _link(Merging(groups=True), *_WINDMILL).mergers  # between whole numbers there are others


# --- many at once ------------------------------------------------------------------------------------------------------


def test_many_filters_at_once_are_merged_as_one_by_one() -> None:
    filters = {f"S{each}": f"x between {each} and {each + 1} and t = {each % 3}" for each in range(60)}
    link = ForwardingSet(Merging())
    changes = link.extend(filters)
    one_by_one = _link(Merging(), *filters.values())
    assert dict(changes.forward) == link.active
    assert not changes.withdraw
    assert _texts(link) == _texts(one_by_one)
    assert link.extend({"all": "exists(t)"}).withdraw
    assert list(link.active) == ["all"]


def test_many_filters_are_taken_in_under_any_policy_or_not_at_all() -> None:
    link = ForwardingSet()
    link.add("a", "x < 5")
    assert link.extend({"b": "x < 3", "c": "x > 7"}).forward == (("c", thatch.parse("x > 7")),)
    for wrong, error in (
        ({"d": "x = 1", "a": "x = 2"}, SubscriptionError),
        ({"d": "x = 1", "e": "x ="}, FilterError),
    ):
        with pytest.raises(error):
            link.extend(wrong)
        assert list(link) == ["a", "b", "c"]
