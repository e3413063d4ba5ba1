from __future__ import annotations

from collections import deque

import hypothesis.strategies as st
from hypothesis import given

from thatch import parse
from thatch.broker.tables import KnownSubscription, LocalClient, SubscriptionMatcher
from thatch.model.events import read_event

NOBODY = LocalClient("nobody")


def subscription(number: int) -> KnownSubscription:
    return KnownSubscription(f"s{number}", parse(f"x = {number % 7}"), NOBODY, number)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 20)), max_size=40))
def test_what_comes_and_goes_is_matched_as_it_is_then(changes: list[tuple[bool, int]]) -> None:
    matcher = SubscriptionMatcher()
    there: dict[int, KnownSubscription] = {}
    for is_coming, number in changes:
        if is_coming and number not in there:
            there[number] = subscription(number)
            matcher.add(there[number])
        elif not is_coming and number in there:
            matcher.remove(there.pop(number))
    record = read_event({"x": 3})
    assert {each.id for each in matcher.match(record)} == {f"s{each}" for each in there if each % 7 == 3}
    assert matcher.any(record) == bool(matcher.match(record))


def test_slots_that_are_no_longer_used_are_given_up() -> None:
    matcher = SubscriptionMatcher()
    there: deque[KnownSubscription] = deque()
    for number in range(10_000):
        there.append(subscription(number))
        matcher.add(there[-1])
        if len(there) > 5:
            matcher.remove(there.popleft())
    assert max(matcher.by_slot) < 5_000
    assert [each.id for each in matcher.match(read_event({"x": 9_999 % 7}))] == ["s9999"]
