"""The order of attributes in diagrams (li2005, section 3.2): what is shared most goes to the bottom.

The paper names three criteria: how often an attribute is constrained, how few distinct predicates it has, and which
attributes occur together. One number covers the first two: with how many others a conjunction shares its predicate on
the attribute, on average. From the bottom up, the attribute with the highest number is taken, weighted by how often it
occurs together with the one below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from thatch.model.filters import Filter
from thatch.model.profile import Profile

__all__ = ["order_from_filters", "order_from_profile"]


def order_from_filters(filters: Iterable[Filter]) -> tuple[str, ...]:
    """An order for these filters, from the top to the bottom.

    Examples
    --------
    >>> import thatch
    >>> order_from_filters(thatch.parse(f"to = 'Ottawa' and price < {price}") for price in (1, 2, 3))
    ('price', 'to')
    """
    uses: dict[str, Counter[object]] = {}
    together: Counter[tuple[str, str]] = Counter()
    for each in filters:
        for conjunction in each.outer_conjunctions:
            for key, constraint in conjunction.constraints:
                uses.setdefault(key, Counter())[constraint] += 1
            together.update(combinations([key for key, _ in conjunction.constraints], 2))
    return _ordered(uses, together)


def order_from_profile(profile: Profile) -> tuple[str, ...]:
    """An order for the subscriptions of a profile; without any, the attributes that occur most go to the bottom.

    Attributes that the profile lacks are not in the order: an index puts them on top.
    """
    uses: dict[str, Counter[object]] = {}
    keys_of: dict[str, tuple[str, ...]] = {}
    for each in profile.predicates:
        keys_of[each.text] = each.attributes
        for key in each.attributes:
            uses.setdefault(key, Counter())[each.text] += each.uses
    if not uses:
        return tuple(each.key for each in reversed(profile.attributes))
    together: Counter[tuple[str, str]] = Counter()
    for pair in profile.predicate_pairs:
        for first in keys_of.get(pair.first, ()):
            for second in keys_of.get(pair.second, ()):
                together[first, second] += pair.uses
    return _ordered(uses, together)


def _ordered(uses: dict[str, Counter[object]], together: Counter[tuple[str, str]]) -> tuple[str, ...]:
    totals = {key: counter.total() for key, counter in uses.items()}
    shared = {
        key: sum(count * count for count in counter.values()) / max(totals[key], 1)
        for key, counter in uses.items()
    }
    bottom_up: list[str] = []

    def weight(key: str) -> tuple[float, str]:
        if not bottom_up:
            return shared[key], key
        common = together[key, bottom_up[-1]] + together[bottom_up[-1], key]
        return shared[key] * (1 + common / max(totals[key], 1)), key

    rest = set(uses)
    while rest:
        best = max(rest, key=weight)
        bottom_up.append(best)
        rest.remove(best)
    return tuple(reversed(bottom_up))
